"""The base of workers: one run of an agent, with its schedule, callbacks, evaluations and checkpoints."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from pathlib import Path
from typing import Any, Self

from rlgraph.components.common.argument_checks import check_flag
from rlgraph.core import SpecError
from rlgraph.environments.factory import is_instance
from rlgraph.environments.interrupts import interruptible
from rlgraph.environments.stepped_env import stepped
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.group import Alone
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.episodes import Episodes
from rlgraph.workers.evaluation import Evaluation, evaluate
from rlgraph.workers.group_training import train_together
from rlgraph.workers.hints import SHARE, constant_returns
from rlgraph.workers.listeners import Listeners, as_list
from rlgraph.workers.results import TrainingResult
from rlgraph.workers.run_schedule import RunSchedule

_log = logging.getLogger(__name__)


def check_learns_in_environments(agent: BaseAgent) -> None:
    """Raise `SpecError` if an agent learns from data sets only, or demonstrations leave own steps no place."""
    if agent.algorithm_class.experience.kind.is_recorded:
        raise SpecError(
            f"{type(agent).__name__} learns from a data set, not in an environment: give learn(updates=N, "
            "data=FILE), with a file that rlgraph.workers.record_data_set wrote",
            path="agent",
        )
    room, held = agent.learner.experience.room, agent.learner.demonstrations or 0
    if held >= room > 0:
        raise SpecError(
            f"expected more than {held}, the number of demonstrations, which are never overwritten, given {room}: the "
            "agent's own steps have no place",
            path="memory_spec.capacity",
        )


class Worker(ABC):
    """Trains an agent. A subclass says where the steps come from: `_run`.

    Args:
        agent: the agent.
        env_spec: what its environments are made from.
        num_envs: how many environments there are, all together.
        frameskip: how often an action is done in an environment; the rewards are summed, and all of it is one step.
        max_timesteps_per_episode: steps after which an episode is truncated; None: the environment's own limit only.
        report_interval: environment steps between two reports to the callbacks; what is left is reported at the end.
        evaluation_interval: environment steps between two evaluations; None: none.
        evaluation_episodes: episodes of one evaluation.
        checkpoint_interval: environment steps between two checkpoints; None: none. Each is a reset point: see
            `rlgraph.workers.run_schedule`.
        schedule_timesteps: steps of the agent, over all calls, in which its schedules run from beginning to end; None:
            they run from beginning to end in every call.
        store_checkpoint: writes a checkpoint, given the worker, and returns its folder.

    Raises:
        SpecError: an option is wrong.
    """

    #: Arguments that the worker was made with; learners that are started elsewhere have workers like it.
    made_from: tuple[tuple[Any, ...], dict[str, Any]]
    #: Whether floats of states outside their bounds are errors, not warnings.
    validate_states = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        worker = super().__new__(cls)
        worker.made_from = args, kwargs
        return worker

    def __init__(
        self,
        agent: BaseAgent,
        env_spec: Any,
        *,
        frameskip: int = 1,
        max_timesteps_per_episode: int | None = None,
        report_interval: int = 1000,
        evaluation_interval: int | None = None,
        evaluation_episodes: int = 10,
        checkpoint_interval: int | None = None,
        schedule_timesteps: int | None = None,
        store_checkpoint: Callable[[Worker], Path] | None = None,
    ):
        if not isinstance(agent, BaseAgent):
            raise SpecError(
                f"expected an agent, as Agent.from_spec(...) makes them, given {agent!r}", path="agent"
            )
        if agent.learner.demonstrations == 0:
            _log.warning(
                "%s has no demonstrations, and learns from its own steps only: give learn(updates=N, data=FILE) first",
                type(agent).__name__,
            )
        for name, value in (
            ("report_interval", report_interval),
            ("evaluation_episodes", evaluation_episodes),
            ("frameskip", frameskip),
        ):
            check_count(name, value)
        for name, optional in (
            ("evaluation_interval", evaluation_interval),
            ("checkpoint_interval", checkpoint_interval),
            ("schedule_timesteps", schedule_timesteps),
            ("max_timesteps_per_episode", max_timesteps_per_episode),
        ):
            if optional is not None:
                check_count(name, optional, " or None")
        if evaluation_interval is not None and is_instance(env_spec):
            raise SpecError(
                "evaluations need environments of their own: give a spec or a function that "
                "makes environments, not one instance",
                path="evaluation_interval",
            )
        if checkpoint_interval is not None and store_checkpoint is None:
            raise SpecError(
                "expected store_checkpoint= beside it, which writes a checkpoint", path="checkpoint_interval"
            )
        self.agent, self.env_spec = agent, env_spec
        agent.learner.experience.use_environment(env_spec, agent.state_space, agent.seed)
        self.frameskip, self.max_timesteps_per_episode = frameskip, max_timesteps_per_episode
        self.report_interval = report_interval
        self.evaluation_interval = evaluation_interval
        self.evaluation_episodes = evaluation_episodes
        self.checkpoint_interval = checkpoint_interval
        self.schedule_timesteps = schedule_timesteps
        self.store_checkpoint = store_checkpoint
        #: Of the run that is recorded, None: none is; and whether it keeps the replay memory.
        self.folder: Path | None = None
        self.keeps_memory = True
        self.callbacks: list[Callback] = []
        self.evaluations: list[Evaluation] = []
        #: Environments, all together.
        self.num_envs = 0
        self.episodes = Episodes(0)
        #: Steps that the agent has observed, those before this worker included.
        self.timesteps = agent.timesteps
        #: Steps thrown away because their environment was restarted.
        self.dropped_steps = 0
        self._limit = max_timesteps_per_episode
        self._listeners = Listeners([])
        self._schedule = RunSchedule(self)
        self._goes_on = self._hinted = False

    # Training.

    def execute_timesteps(
        self,
        timesteps: int,
        max_timesteps_per_episode: int | None = None,
        use_exploration: bool = True,
        *,
        callbacks: Callback | Callable[..., Any] | Sequence[Any] | None = None,
        stop: Callback | Sequence[Callback] | None = None,
    ) -> TrainingResult:
        """Train for `timesteps` environment steps, all environments together.

        N environments step together, so that up to N - 1 steps more are done and counted: 1001 steps of 8 environments
        are 1008. In one program with the environment up to one call more is done: a rollout, or with a memory up to 256
        steps of each environment, or one update interval if that is more. Rows that are not transitions
        (`VectorEnv.dropped`) are not counted.

        Every call begins new episodes; those of the call before are cut as a truncation cuts them. Ctrl-C or SIGTERM
        stops the training cleanly; the result says so.

        Args:
            timesteps: how many; after `set_state` those that were done before are among them.
            max_timesteps_per_episode: for this call; None: what the constructor was given.
            use_exploration: explore; else act greedily.
            callbacks: objects whose methods are called at events; functions of ``(worker, metrics)`` are called at
                every report, and stop training by returning False.
            stop: conditions that end it earlier (see `rlgraph.workers.stopping`).

        Raises:
            SpecError: `timesteps` is not a number >= 0.
            EnvironmentFault: an environment breaks its contract; names it and the step.
            NumericalError: a loss is not finite.
        """
        if not isinstance(timesteps, Real) or not timesteps >= 0:  # NaN is neither
            raise SpecError(f"expected a number of steps >= 0, given {timesteps!r}", path="timesteps")
        return self._execute(timesteps, None, max_timesteps_per_episode, use_exploration, callbacks, stop)

    def execute_episodes(
        self,
        episodes: int,
        max_timesteps_per_episode: int | None = None,
        use_exploration: bool = True,
        *,
        callbacks: Callback | Callable[..., Any] | Sequence[Any] | None = None,
        stop: Callback | Sequence[Callback] | None = None,
    ) -> TrainingResult:
        """Train until `episodes` episodes ended; otherwise as `execute_timesteps`.

        Several environments may end more of them in the last step.
        """
        check_count("episodes", episodes)
        return self._execute(None, episodes, max_timesteps_per_episode, use_exploration, callbacks, stop)

    @abstractmethod
    def terminate(self) -> None:
        """Release what steps come from."""

    @property
    @abstractmethod
    def restarts(self) -> int:
        """What was replaced because it crashed or hung."""

    def save_elsewhere(self, patience: float = 0.0) -> None:
        """Have what other places keep written down there, beside a checkpoint of the run.

        Args:
            patience: seconds to wait until it is done.
        """
        return None

    def metrics(self) -> dict[str, float]:
        """Further metrics of a report, by the names of the glossary (`rlgraph.workers.metrics`)."""
        return {}

    def details(self, metrics: Mapping[str, float]) -> Sequence[str]:
        """Lines for the live view of a run, besides the metrics of a report."""
        return ()

    @abstractmethod
    def _run(self, schedule: RunSchedule, use_exploration: bool) -> None:
        """Train until the schedule is over."""

    @abstractmethod
    def _checkpoint(self, schedule: RunSchedule) -> None:
        """Write a checkpoint."""

    def _limit_episodes(self, limit: int | None) -> None:
        """Truncate episodes after `limit` steps in the next call."""
        self._limit = limit

    # What it did.

    @property
    def seconds(self) -> float:
        """Time of training in the current run, without evaluations and checkpoints."""
        return self._schedule.seconds

    @property
    def returns(self) -> Sequence[float]:
        """Return of each episode, in the order they ended."""
        return self.episodes.returns

    @property
    def recent_returns(self) -> tuple[float, ...]:
        """Returns of the last 100 episodes."""
        return self.episodes.recent_returns

    @property
    def recent_lengths(self) -> tuple[int, ...]:
        """Lengths of the last 100 episodes."""
        return tuple(self.episodes.recent_lengths)

    @property
    def episodes_of_run(self) -> int:
        """Episodes that ended in the current run."""
        return len(self.returns) - self._schedule.episodes_before

    @property
    def timesteps_of_run(self) -> int:
        """Steps done in the current run, including those before it was resumed."""
        return self._schedule.done

    # Resuming a run.

    def get_state(self) -> dict[str, Any]:
        """The progress of the current run; see `set_state`. JSON-able, except for the states of environments.

        Finished episodes and evaluations are not in it.
        """
        return {
            **self._schedule.get_state(),
            "timesteps": self.timesteps,
            "dropped_steps": self.dropped_steps,
            # Episodes that are cut here count nowhere.
            "running": None if self._schedule.environments is None else self.episodes.running(),
        }

    def set_state(
        self,
        state: Mapping[str, Any],
        returns: Sequence[float],
        lengths: Sequence[int],
        evaluations: Sequence[Evaluation],
    ) -> None:
        """Make the next `execute_timesteps` resume the run of `state`.

        Args:
            state: what `get_state` gave. It does not contain the agent: restore that as well.
            returns, lengths: of the episodes that had ended.
            evaluations: those that were done.
        """
        self.timesteps, self.dropped_steps = int(state["timesteps"]), int(state["dropped_steps"])
        self.episodes.restore(returns, lengths)
        if state["environments"] is None:
            self.episodes.forget_all()
        else:
            self.episodes.restore_running(state["running"])
        self.evaluations = list(evaluations)
        self._schedule.set_state(state)
        self._goes_on = True

    def _execute(
        self,
        timesteps: int | None,
        episodes: int | None,
        limit: int | None,
        use_exploration: bool,
        callbacks: Callback | Callable[..., Any] | Sequence[Any] | None,
        stop: Callback | Sequence[Callback] | None,
    ) -> TrainingResult:
        self.agent.check_not_terminated("learn")
        if timesteps != 0:
            check_learns_in_environments(self.agent)
        use_exploration = check_flag(use_exploration, "use_exploration")
        self._limit_episodes(self.max_timesteps_per_episode if limit is None else limit)
        self.callbacks = [*as_list(callbacks), *as_list(stop, "stop")]
        self._listeners = Listeners(self.callbacks)
        if not self._goes_on:
            self._schedule = RunSchedule(self)
            self.episodes.forget_all()
        self._goes_on, interrupted, schedule = False, False, self._schedule
        if self.agent.group.rank:
            schedule.follow()
        stops = self._listeners.tell("on_start", self, 0 if timesteps is None else timesteps - schedule.done)
        schedule.stop_if(stops and self.agent.group.size == 1)  # the other learners would wait
        schedule.start(timesteps, episodes)
        self.agent.training_env = self.env_spec
        try:
            with interruptible():
                if schedule.is_over:  # a resumed run may be; its agent stays as it was stored
                    schedule.environments = None
                else:
                    with self._together(timesteps, limit, use_exploration):
                        self._run(schedule, use_exploration)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.agent.training_env = None
            schedule.stop_clock()
            self._listeners.tell_end(self)
        return TrainingResult(
            schedule.done,
            self.episodes_of_run,
            self.agent.updates - schedule.updates_before,
            self.seconds,
            tuple(self.returns[schedule.episodes_before :]),
            tuple(self.evaluations[schedule.evaluations_before :]),
            interrupted,
            self.num_envs,
            self.frameskip,
            self._hint(schedule),
        )

    def _together(
        self, timesteps: int | None, limit: int | None, use_exploration: bool
    ) -> AbstractContextManager[None]:
        """What training runs in: the session of a group of learners, if there is one."""
        if isinstance(self.agent.group, Alone):
            return nullcontext()
        if timesteps is None:
            raise SpecError(
                "the learners of a group end at the same step: give timesteps, and StopAfterEpisodes as stop=",
                path="episodes",
            )
        return train_together(self, timesteps, limit, use_exploration)

    def continue_at(self, done: int) -> None:
        """The next `execute_timesteps` continues a run of which `done` steps are done."""
        self._schedule.done, self._goes_on = done, done > 0

    def do_what_is_due(self, schedule: RunSchedule) -> None:
        """Report, evaluate, write a checkpoint."""
        if schedule.take_due("report"):
            schedule.stop_if(self._listeners.tell("on_report", self, schedule.report.take(schedule.done)))
            if not self._hinted and schedule.fraction >= SHARE and (hint := self._hint(schedule)):
                self._hinted = True
                _log.warning(hint)
        if schedule.take_due("evaluation"):
            with schedule.pause():
                schedule.stop_if(self._evaluate())
        if schedule.take_due("checkpoint"):
            with schedule.pause():
                self._checkpoint(schedule)

    def _hint(self, schedule: RunSchedule) -> str:
        """A hint if all returns are equal; none for an agent that learned before, which may be perfect."""
        return constant_returns(self.returns) if self.timesteps == schedule.done else ""

    def _evaluate(self) -> bool:
        """Evaluate the present policy; whether a callback ends training."""
        env = stepped(self.env_spec, self.frameskip, self._limit)
        seed = self._evaluation_seed(len(self.evaluations) + 1)
        validate = self.validate_states
        evaluation = evaluate(self.agent, env, self.evaluation_episodes, seed, validate_states=validate)
        self.evaluations.append(evaluation)
        return self._listeners.tell("on_evaluation", self, evaluation)

    def _evaluation_seed(self, number: int) -> int:
        """The seed of the n-th evaluation."""
        return self.agent.seed + 1_000_003 * number


def check_count(name: str, value: Any, more: str = "") -> None:
    """Raise `SpecError` unless `value` is an integer >= 1."""
    if not isinstance(value, int) or value < 1:
        raise SpecError(f"expected an integer >= 1{more}, given {value!r}", path=name)
