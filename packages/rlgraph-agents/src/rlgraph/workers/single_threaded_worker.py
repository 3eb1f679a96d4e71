"""The training loop in one thread: act, step, observe, update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_flag
from rlgraph.core import SpecError
from rlgraph.environments import environment_seed
from rlgraph.environments.factory import is_instance, make_vector_env
from rlgraph.environments.state_bounds import answers_validate
from rlgraph.environments.stepped_env import stepped
from rlgraph.environments.vector.process_vector_env import STEP_TIMEOUT
from rlgraph.environments.vector.restarts import MAX_RESTARTS
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.callbacks import Step
from rlgraph.workers.compatibility import check_fits
from rlgraph.workers.episodes import Episodes
from rlgraph.workers.in_graph_training import InGraphTraining, in_graph_training
from rlgraph.workers.run_schedule import RunSchedule
from rlgraph.workers.worker import Worker, check_count


class SingleThreadedWorker(Worker):
    """Trains an agent in environments stepped together.

    Args:
        agent: the agent.
        env_spec: environment spec, environment or vector environment (see `rlgraph.environments.make_vector_env`).
        num_envs: how many of them (alias `num_environments`); None: that of a vector environment, else 1.
        vectorization: how they are stepped together (see `rlgraph.environments.make_vector_env`).
        validate_states: floats of states outside their bounds are errors, not warnings.
        processes: how many processes, where environments are in processes; None: as many as there are cores, less one.
        step_timeout: seconds after which an environment in a process hangs; None: any time.
        max_restarts: how often each environment may be replaced after a crash; 0: never.
        in_graph: whether an environment component is in one program with the agent, a rollout and its update in a
            call; None: if all of it can be.
        options: see `Worker`.

    Raises:
        SpecError: an option is wrong, or the agent was made for other states or actions.
    """

    @answers_validate
    def __init__(
        self,
        agent: BaseAgent,
        env_spec: Any,
        *,
        num_envs: int | None = None,
        num_environments: int | None = None,
        vectorization: str = "auto",
        validate_states: bool = False,
        processes: int | None = None,
        step_timeout: float | None = STEP_TIMEOUT,
        max_restarts: int = MAX_RESTARTS,
        in_graph: bool | None = None,
        **options: Any,
    ):
        super().__init__(agent, env_spec, **options)
        num_envs = num_envs if num_environments is None else num_environments
        if num_envs is not None:
            check_count("num_envs", num_envs, " or None")
        #: Steps that all learners do together with one of this worker's vector environment.
        self._counted: int | None = None
        if agent.group.size > 1:
            if is_instance(env_spec):
                raise SpecError(
                    "each learner makes its own environments: give a spec or a function, not one instance",
                    path="env",
                )
            self._counted = 1 if num_envs is None else num_envs
            num_envs = agent.group.share(self._counted, "num_envs")
        self.vectorization, self.validate_states, self.processes = vectorization, validate_states, processes
        self.step_timeout, self.max_restarts = step_timeout, max_restarts
        of_vectors = {
            "vectorization": (vectorization, "auto"),
            "validate_states": (validate_states, False),
            "frameskip": (self.frameskip, 1),
            "max_timesteps_per_episode": (self.max_timesteps_per_episode, None),
        }
        given = {name: value for name, (value, usual) in of_vectors.items() if value != usual}
        self._sampler: Any = None
        in_graph = None if in_graph is None else check_flag(in_graph, "in_graph")
        #: Trains in place of the loop; None: the environments are stepped from outside of programs.
        self.in_graph: InGraphTraining | None = in_graph_training(
            agent, env_spec, num_envs or 1, in_graph, given
        )
        if self.in_graph is not None:
            self.num_envs = num_envs or 1
            self.episodes = Episodes(self.num_envs)
            return
        self.vector_env = self._make_environments(num_envs, self.max_timesteps_per_episode)
        self.num_envs = self.vector_env.num_environments
        try:
            check_fits(agent, self.vector_env)
            agent.learner.check_environments(self.num_envs)
        except SpecError:
            self.terminate()
            raise
        self.episodes = Episodes(self.num_envs)

    def terminate(self) -> None:
        """Release the environments; one given as an instance belongs to whoever gave it."""
        if self.in_graph is None and not is_instance(self.env_spec):
            self.vector_env.terminate()

    @property
    def restarts(self) -> int:
        """Environments that were replaced because they crashed or hung."""
        return 0 if self.in_graph is not None else self.vector_env.restarts

    def _run(self, schedule: RunSchedule, use_exploration: bool) -> None:
        if self.in_graph is None:
            self._run_from_outside(schedule, use_exploration)
        elif use_exploration:
            self.in_graph.run(self, schedule, self._listeners)
        else:
            raise SpecError(
                "expected True: a program draws its actions; give in_graph=False", path="use_exploration"
            )
        if schedule.report.is_new(schedule.done):
            self._listeners.tell("on_report", self, schedule.report.take(schedule.done))

    def _run_from_outside(self, schedule: RunSchedule, use_exploration: bool) -> None:
        agent, episodes, listeners = self.agent, self.episodes, self._listeners
        vector = self.vector_env
        self._sampler = sampler = agent.make_sampler(vector)
        set_progress, fraction_at, update = agent.set_progress, schedule.fraction_at, agent.update_if_due
        act, add, observe = sampler.step, episodes.add, agent.observe_step
        on_step, on_update, number = listeners.to("on_step"), listeners.to("on_update"), self.num_envs
        counted = self._counted
        self._begin(sampler, schedule)
        while not schedule.is_over:
            set_progress(fraction_at(schedule.done))
            step = act(use_exploration)
            add(step.rewards)
            done = number if counted is None else counted
            if vector.dropped:
                if counted is None:
                    done -= len(vector.dropped)
                self._forget_dropped(vector)
            observe(step)
            schedule.done += done
            self.timesteps += done
            if on_step:
                values = Step(
                    step.states,
                    step.actions,
                    step.rewards,
                    step.terminals,
                    step.truncations,
                    step.next_states,
                    sampler.infos,
                    tuple(vector.dropped),
                )
                schedule.stop_if(listeners.tell("on_step", self, values))
            if vector.finished:
                self._finish_episodes(schedule, vector.finished, sampler.infos)
            if (results := update()) is not None and on_update:
                schedule.stop_if(listeners.tell("on_update", self, results))
            if schedule.done >= schedule.next_event:
                self.do_what_is_due(schedule)

    def _begin(self, sampler: Any, schedule: RunSchedule) -> None:
        """Go to the first states to act on."""
        environments, schedule.environments = schedule.environments, None
        if environments is not None:
            sampler.restore(environments)
            return
        agent = self.agent
        if agent.group.rank:
            return sampler.reset(environment_seed(agent.seed, agent.group.rank, agent.timesteps))
        # A run that goes on with a trained agent must not see the episodes of the first one again.
        sampler.reset(environment_seed(agent.seed, 0, agent.timesteps) if agent.timesteps else agent.seed)

    def _forget_dropped(self, vector: VectorEnv) -> None:
        for i in vector.dropped:
            self.episodes.forget(i)
        self.dropped_steps += len(vector.dropped) - len(vector.idle)

    def _finish_episodes(
        self, schedule: RunSchedule, finished: Sequence[int], infos: Sequence[Mapping[str, Any]]
    ) -> None:
        for i in finished:
            ended = self.episodes.end(i, infos[i])
            if ended is not None:
                schedule.stop_if(self._listeners.tell("on_episode", self, *ended))
        schedule.stop_if(self.episodes_of_run >= schedule.episodes)

    def _checkpoint(self, schedule: RunSchedule) -> None:
        """Write a checkpoint; where environments cannot go on exactly from it, they begin anew here too."""
        assert self.store_checkpoint is not None
        sampler = self._sampler if self.in_graph is None else self.in_graph.program
        schedule.environments = sampler.get_states()
        if schedule.environments is None:
            self.agent.flush_buffers()
            self.episodes.forget_all()
        folder = self.store_checkpoint(self)
        schedule.stop_if(self._listeners.tell("on_checkpoint", self, folder))
        exactly, schedule.environments = schedule.environments is not None, None
        if not exactly:
            self._begin(sampler, schedule)

    def _make_environments(self, number: int | None, limit: int | None) -> VectorEnv:
        spec = stepped(self.env_spec, self.frameskip, limit)
        return make_vector_env(
            spec,
            number,
            self.vectorization,
            validate_states=self.validate_states,
            processes=self.processes,
            step_timeout=self.step_timeout,
            max_restarts=self.max_restarts,
        )

    def _limit_episodes(self, limit: int | None) -> None:
        """Environments whose episodes are truncated after `limit` steps, made anew if they are others."""
        if limit != self._limit:
            if self.in_graph is not None:
                raise SpecError(
                    "expected none, since the environment is in the program: give in_graph=False",
                    path="max_timesteps_per_episode",
                )
            if limit is not None:
                check_count("max_timesteps_per_episode", limit, " or None")
            self.terminate()
            self.vector_env, self._limit = self._make_environments(self.num_envs, limit), limit
