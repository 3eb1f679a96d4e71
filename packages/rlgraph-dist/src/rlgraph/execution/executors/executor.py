"""The base of executors: a worker whose steps come from actors in other places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, ClassVar

from rlgraph.core import SpecError
from rlgraph.core.specs.connections import check_network
from rlgraph.core.specs.spec_types import Count, Seconds, Times
from rlgraph.core.specs.specifiable import call_checked, check_arguments, check_values
from rlgraph.environments.vector.process_vector_env import STEP_TIMEOUT
from rlgraph.environments.vector.restarts import MAX_RESTARTS
from rlgraph.execution.engine import Demand, Engine
from rlgraph.execution.executors.live_view import lines_of
from rlgraph.execution.executors.monitor import Monitor
from rlgraph.execution.executors.option_checks import check_is_spec, check_made, given_once
from rlgraph.execution.executors.workload import LoggedReports, Workload
from rlgraph.execution.remote.actors import Actors
from rlgraph.execution.remote.evaluators import Asked, Evaluators, EvaluatorSpec
from rlgraph.execution.remote.host import packed
from rlgraph.execution.remote.requests import Requests
from rlgraph.execution.remote.sampling import Sample, SamplerSpec, fragment_format
from rlgraph.execution.remote.values import knows_values
from rlgraph.learning.actor_spec import check_is_fixed
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.executors import engine_class
from rlgraph.runs.run_spec import Vectorization
from rlgraph.workers.results import TrainingResult
from rlgraph.workers.run_schedule import RunSchedule
from rlgraph.workers.worker import Worker, check_learns_in_environments

#: Steps of a fragment, where the agent's experience does not say how many.
FRAGMENT_LENGTH = 16


class Executor(Worker):
    """Trains an agent with the steps of several actors. Callbacks get all events but ``on_step``.

    A subclass says in `training_step` when actors are asked and when the agent learns.

    Args:
        agent: an agent, or the spec of one.
        env_spec: what each actor makes its environments from: a spec, or an importable function.
        engine: name of an engine, its spec, or an engine.
        actors: how many.
        num_envs: environments of each actor.
        vectorization, validate_states, processes, step_timeout, max_restarts: how these are stepped together (see
            `rlgraph.environments.make_vector_env`).
        fragment_length: steps of each environment in a fragment; None: those of a rollout, else 16.
        evaluation_actors: actors that do the evaluations, for which training does not wait unless each has two to do;
            0: the learner does them.
        evaluation_timeout: seconds until one of these is done.
        max_actor_restarts: how often each actor, replay shard or evaluation actor may be started again.
        start_timeout, sample_timeout: seconds until the first fragment of an actor, and until any other.
        backend, seed: of an agent that is given as a spec.
        agent_config, environment_spec: `agent` and `env_spec` by the names of RLgraph 0.5.
        options: see `rlgraph.workers.Worker`.

    Raises:
        SpecError: an option is wrong, or an actor cannot be made elsewhere.
    """

    #: Engine where none is named.
    default_engine: str | Mapping[str, Any] = "in_process"
    #: Whether fragments may be of weights that are no longer the newest.
    takes_old_weights: ClassVar[bool] = False
    #: Fragments that each actor is asked for ahead.
    requests_per_actor: int = 1
    #: Whether fragments are to have the values that acting knew.
    keeps_values: ClassVar[bool] = False

    def __init__(
        self,
        agent: Any = None,
        env_spec: Any = None,
        *,
        agent_config: Any = None,
        environment_spec: Any = None,
        engine: Any = None,
        actors: Count = 2,
        num_envs: Count = 8,
        vectorization: Vectorization = "auto",
        validate_states: bool = False,
        processes: Count | None = None,
        step_timeout: Seconds | None = STEP_TIMEOUT,
        max_restarts: Times = MAX_RESTARTS,
        fragment_length: Count | None = None,
        evaluation_actors: Times = 0,
        evaluation_timeout: Seconds = 600.0,
        max_actor_restarts: Times = 10,
        start_timeout: Seconds = 120.0,
        sample_timeout: Seconds = 60.0,
        backend: str | None = None,
        seed: int | None = None,
        **options: Any,
    ):
        check_arguments(type(self), options)
        check_values(Executor, {**locals(), **options})
        agent = given_once("agent", agent, "agent_config", agent_config)
        env_spec = given_once("env_spec", env_spec, "environment_spec", environment_spec)
        engine = self.default_engine if engine is None else engine
        if not isinstance(engine, Engine):
            kind, engine_options = engine_class(engine)
            if getattr(kind, "needs_network", False):
                check_network("engine", is_allowed=engine_options.get("allow_network", False))
        check_is_spec(env_spec)
        if isinstance(agent, BaseAgent):
            check_made(agent, env_spec, backend=backend, seed=seed)
        else:
            agent = BaseAgent.from_spec(agent, env=env_spec, backend=backend, seed=seed)
        super().__init__(agent, env_spec, **options)
        self.validate_states = validate_states
        check_learns_in_environments(agent)
        self._check(agent)
        #: Learners of the group, of which each has its share of the actors, and the number of the first of this one's.
        self.learners = agent.group.size
        if self.learners > 1 and self.takes_old_weights:
            raise SpecError(
                f"learners of a group must take in the same steps between two updates, and {type(self).__name__} takes "
                "them whenever they come: use the executor 'sync_batch', or one learner",
                path="execution_spec.learners",
            )
        actors = agent.group.share(actors, "actors")
        self._first_actor = agent.group.rank * actors
        experience = agent.learner.experience
        acts_on = agent.executor.backend.name if agent.acting == "backend" else "numpy"
        self._actor_spec = replace(agent.learner.spec, backend=acts_on)
        self._sampler_spec: dict[str, Any] = {
            "environment": env_spec,
            "length": _fragment_length(agent, fragment_length),
            "internal_state_interval": experience.internal_state_interval,
            "num_envs": num_envs,
            "vectorization": vectorization,
            "options": {
                "validate_states": validate_states,
                "processes": processes,
                "step_timeout": step_timeout,
                "max_restarts": max_restarts,
            },
            "frameskip": self.frameskip,
        }
        self.num_envs, self.envs_per_actor = actors * num_envs, num_envs
        agent.learner.check_environments(self.num_envs)
        self.max_actor_restarts = max_actor_restarts
        self._timeouts = (start_timeout, sample_timeout)
        self.evaluation_actors, self._evaluation_timeout = evaluation_actors, evaluation_timeout
        self._evaluators: Evaluators | None = None
        #: Evaluations that were asked for.
        self._asked_evaluations = 0
        self._engine_spec, self.actors = engine, actors
        #: What `metrics` reports.
        self.monitor = Monitor(engine.now) if isinstance(engine, Engine) else Monitor()
        #: Actor -> its incarnation, environments that it replaced, and steps thrown away with them.
        self._replaced: dict[int, tuple[int, int, int]] = {}
        self._environment_restarts = 0
        #: Updates done when weights were sent last.
        self.sent_version = 0
        self._was_interrupted = False
        self._engine: Engine | None = None
        #: Restarts of actors that were ended, and the fragments lost with them.
        self._earlier_restarts = self._earlier_lost = 0
        self._actors: Actors | None = None
        self._requests: Requests | None = None
        graph, interval = agent.learner.graph, experience.internal_state_interval
        keeps_values = self.keeps_values and knows_values(graph)
        self._sampler_spec["keeps_values"] = keeps_values
        self._fragments = fragment_format(self._actor_spec, interval, keeps_values)
        #: Whether the fragments of samples are read here.
        self.reads_fragments = True

    def _check(self, agent: BaseAgent) -> None:
        """Check that the agent can act elsewhere, and may learn from actors."""
        check_is_fixed(agent.learner.graph)
        experience = agent.learner.experience
        if self.takes_old_weights and experience.max_age == 0 and experience.memory is None:
            raise SpecError(
                f"{type(agent).__name__} learns only from fragments of the newest weights: take 'sync_batch'",
                path="executor_spec.type",
            )

    @property
    def local_agent(self) -> BaseAgent:
        """The agent that learns."""
        return self.agent

    def execute(self, steps: int, **options: Any) -> TrainingResult:
        """`execute_timesteps`, and release everything."""
        try:
            return self.execute_timesteps(steps, **options)
        finally:
            self.terminate()

    def execute_workload(self, workload: Mapping[str, Any]) -> TrainingResult:
        """`execute` by the names of RLgraph 0.5; reports are logged.

        Args:
            workload: see `Workload`.
        """
        if not isinstance(workload, Mapping):
            raise SpecError(f"expected a mapping with 'num_timesteps', given {workload!r}", path="workload")
        given: Workload = call_checked(Workload, (), workload, "workload")
        self.report_interval = given.report_interval or self.report_interval
        log = LoggedReports(given.report_interval_min_seconds)
        return self.execute(given.num_timesteps, callbacks=log)

    @property
    def restarts(self) -> int:
        """Environments that were replaced because they crashed or hung, as far as samples have told."""
        return self._environment_restarts

    @property
    def actor_restarts(self) -> int:
        """How often actors were started again."""
        running = (each for each in (self._actors, self._evaluators) if each is not None)
        return self._earlier_restarts + sum(each.restarts for each in running)

    @property
    def lost_fragments(self) -> int:
        """Fragments that were asked for and did not come, since their actor failed."""
        return self._earlier_lost + (0 if self._requests is None else self._requests.lost)

    def metrics(self) -> dict[str, float]:
        return self.monitor.take(self.actor_restarts, self.lost_fragments)

    def details(self, metrics: Mapping[str, float]) -> list[str]:
        return [] if self._actors is None else lines_of(metrics, self.monitor, self._actors.incarnations)

    def terminate(self) -> None:
        """End the actors, and the engine if it was made here."""
        if self._engine is not None and self._engine is not self._engine_spec:
            self._engine.close()
        elif self._engine is not None and self._actors is not None:
            self._actors.close()
            if self._evaluators is not None:
                self._evaluators.close()
            self._engine.give_back_room()
        self._earlier_restarts, self._earlier_lost = self.actor_restarts, self.lost_fragments
        self._engine = self._actors = self._requests = self._evaluators = None

    # Actors.

    @property
    def is_started(self) -> bool:
        """Whether the actors run."""
        return self._requests is not None

    @property
    def engine(self) -> Engine:
        """Where the actors run, once they are started."""
        assert self._engine is not None
        return self._engine

    def start_actors(self) -> Requests:
        """Start the actors unless they run; returns what asks them for fragments."""
        if self._requests is None:
            begun, limit = self.agent.timesteps, self._limit

            def make(number: int, incarnation: int) -> SamplerSpec:
                return SamplerSpec(
                    actor=self._actor_spec.of_actor(self._first_actor + number, self.actors * self.learners),
                    **self._sampler_spec,
                    max_timesteps_per_episode=limit,
                    number=number,
                    first=self._first_actor,
                    incarnation=incarnation,
                    begun=begun,
                )

            packed(make(0, 0), "executor")  # what cannot be sent is refused before anything starts
            self._engine = engine = make_engine(self._engine_spec)
            try:
                engine.check_room(self._demand())
                self._actors = Actors(
                    engine, make, self.actors, self.max_actor_restarts, folder=self._log_folder
                )
            except BaseException:
                self.terminate()
                raise
            self.agent.learner.expect_new_actors()
            self._replaced = {}
            most_steps = self._sampler_spec["length"] * self.envs_per_actor
            self._requests = Requests(engine, self._actors, self._read, *self._timeouts, most_steps)
        return self._requests

    @property
    def _log_folder(self) -> Path | None:
        """Where the logs of actors that failed are written."""
        return None if self.folder is None else self.folder / "actors"

    def _demand(self) -> Demand:
        """What the engine is going to need."""
        fragment = self._fragments.num_bytes(self._sampler_spec["length"], self.envs_per_actor)
        # A fragment that is read lies there beside those that are under way; so does a message of weights.
        requests, weights = self.requests_per_actor + 1, len(self.agent.learner.weights_message())
        messages = self.actors * requests * fragment + (requests + 1) * weights
        return Demand(self.actors + self.evaluation_actors, messages)

    def _read(self, facts: bytes, body: Any) -> Sample:
        """The sample that an actor returned."""
        sample = Sample.from_facts(facts, body)
        return sample.read(self.engine.fetch(body), self._fragments) if self.reads_fragments else sample

    def send_weights(self) -> None:
        """Give the newest weights to actors that are asked from now on."""
        requests = self.start_actors()
        requests.weights = self.engine.share(self.agent.learner.weights_message())
        self.sent_version = self.agent.updates

    def _limit_episodes(self, limit: int | None) -> None:
        if limit != self._limit:
            self.terminate()
        super()._limit_episodes(limit)

    # Steps.

    def count(self, sample: Sample, schedule: RunSchedule) -> None:
        """Count the steps and episodes of a sample."""
        self.monitor.add(sample, self.agent.updates - sample.version)
        # All learners of a group count alike, rows that are no steps too.
        all_rows = self._sampler_spec["length"] * self.envs_per_actor * self.learners
        steps = sample.steps if self.learners == 1 else all_rows
        schedule.done += steps
        self.timesteps += steps
        self._count_replaced(sample)
        self.report_bounds(sample)
        for episode_return, length in sample.episodes:
            self.episodes.record(episode_return, length)
            schedule.stop_if(self._listeners.tell("on_episode", self, episode_return, length))
        schedule.stop_if(self.episodes_of_run >= schedule.episodes)

    def report_bounds(self, sample: Sample) -> None:
        """Warn of floats of states that were outside their bounds in a sample."""
        name = f"actor {self._first_actor + sample.origin.actor}"
        for bound, message in sample.bounds:
            self.agent.learner.graph.report_bounds(f"{name}: {bound}", f"{name}: {message}")

    def _count_replaced(self, sample: Sample) -> None:
        """Add what is new of an actor's numbers, which begin at 0 in each incarnation."""
        actor, incarnation, _ = astuple(sample.origin)
        before, restarts, dropped = self._replaced.get(actor, (incarnation, 0, 0))
        if before != incarnation:
            restarts = dropped = 0
        self._environment_restarts += sample.restarts - restarts
        self.dropped_steps += sample.dropped_steps - dropped
        self._replaced[actor] = incarnation, sample.restarts, sample.dropped_steps

    def _checkpoint(self, schedule: RunSchedule) -> None:
        """Write a checkpoint. Running episodes are not in it: a resumed run begins new ones."""
        assert self.store_checkpoint is not None
        folder = self.store_checkpoint(self)
        schedule.stop_if(self._listeners.tell("on_checkpoint", self, folder))

    def _run(self, schedule: RunSchedule, use_exploration: bool) -> None:
        if not use_exploration:
            raise SpecError(
                "expected True, since actors explore, given False: evaluate() plays greedily",
                path="use_exploration",
            )
        if self._was_interrupted:  # calls of the interrupted step may be under way
            self.terminate()
        self._was_interrupted = True
        while not schedule.is_over:
            self.training_step(schedule)
            if schedule.done >= schedule.next_event:
                self.do_what_is_due(schedule)
            self._take_evaluations(schedule, 2 * self.evaluation_actors)
        self._take_evaluations(schedule, 0)
        self._was_interrupted = False
        if schedule.report.is_new(schedule.done):
            self._listeners.tell("on_report", self, schedule.report.take(schedule.done))

    def _evaluate(self) -> bool:
        if not self.evaluation_actors:
            return super()._evaluate()
        if self._evaluators is None:
            actor, limit = self._actor_spec, self._limit
            episodes, validate_states = self.evaluation_episodes, self.validate_states
            spec = EvaluatorSpec(actor, self.env_spec, self.frameskip, limit, episodes, validate_states)
            self.start_actors()
            self._evaluators = Evaluators(
                self.engine,
                lambda number, incarnation: spec,
                self.evaluation_actors,
                self.max_actor_restarts,
                self._log_folder,
                self._evaluation_timeout,
                self.agent.learner.graph.report_bounds,
            )
        self._asked_evaluations = max(self._asked_evaluations, len(self.evaluations)) + 1
        weights, seed = self.agent.learner.weights_message(), self._evaluation_seed(self._asked_evaluations)
        self._evaluators.ask(Asked(weights, self.agent.timesteps, seed))
        return False

    def _take_evaluations(self, schedule: RunSchedule, most_open: int) -> None:
        """Tell the callbacks of evaluations that are done; the agent acts on the weights evaluated meanwhile.

        Waits while more than `most_open` are under way.
        """
        for asked, evaluation in [] if self._evaluators is None else self._evaluators.finished(most_open):
            self.evaluations.append(evaluation)
            with self.agent.learner.acting_on(asked.weights):
                schedule.stop_if(self._listeners.tell("on_evaluation", self, evaluation))

    @abstractmethod
    def training_step(self, schedule: RunSchedule) -> None:
        """Take in the next samples and learn from them."""

    def learn_from(self, samples: list[Sample], schedule: RunSchedule) -> None:
        """The updates that the fragments of samples make due."""
        fragments = [sample.fragment for sample in samples if sample.fragment is not None]
        results = self.agent.learner.learn_from(fragments)
        if results is not None:
            schedule.stop_if(self._listeners.tell("on_update", self, results))


def _fragment_length(agent: BaseAgent, given: int | None) -> int:
    """Steps of a fragment.

    Raises:
        SpecError: a number is given that differs from the agent's ``rollout_length``.
    """
    rollout = getattr(agent.learner.experience, "rollout_length", None)
    if rollout is not None and given not in (None, rollout):
        raise SpecError(
            f"expected None: fragments of {type(agent).__name__} have its rollout_length, {rollout}; given {given}",
            path="fragment_length",
        )
    return rollout or given or FRAGMENT_LENGTH


def make_engine(spec: Any) -> Engine:
    """An engine from its name, its spec or itself.

    Raises:
        SpecError: unknown engine or option.
        PluginError: what it needs is not installed.
    """
    if isinstance(spec, Engine):
        return spec
    kind, options = engine_class(spec)
    engine: Engine = call_checked(kind, (), options, "engine")
    return engine
