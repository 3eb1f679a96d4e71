"""The training loop in one thread: act, step, observe, update."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError
from rlgraph.environments import SequentialVectorEnv, check_finite, environment_seed, make_environments
from rlgraph.environments.factory import is_instance
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation, evaluate

#: Episodes the reported mean return is taken over.
WINDOW = 100


@dataclass(frozen=True)
class TrainingResult:
    """What a training run did.

    Attributes:
        timesteps: environment steps done in this run.
        episodes: episodes that ended.
        updates: updates done.
        seconds: wall-clock time, evaluations left out.
        returns: return of each episode, in the order they ended.
        evaluations: what was evaluated beside the training.
        interrupted: it was ended by Ctrl-C.
    """

    timesteps: int
    episodes: int
    updates: int
    seconds: float
    returns: tuple[float, ...]
    evaluations: tuple[Evaluation, ...]
    interrupted: bool

    @property
    def steps_per_second(self) -> float:
        return self.timesteps / self.seconds if self.seconds else 0.0

    @property
    def mean_return(self) -> float:
        """Mean return of the last 100 episodes; NaN before the first ended."""
        return float(np.mean(self.returns[-WINDOW:])) if self.returns else float("nan")


class SingleThreadedWorker:
    """Trains an agent in environments stepped in turn.

    Args:
        agent: the agent.
        env: environment spec (see `rlgraph.environments.make_environment`).
        num_envs: how many of them.
        validate: hold every state and action against its Space, not only those of the first episodes.
        report_interval: environment steps between two reports to the callbacks.
        evaluation_interval: environment steps between two evaluations; None: none.
        evaluation_episodes: episodes of one evaluation.
    """

    def __init__(
        self,
        agent: Agent,
        env: Any,
        *,
        num_envs: int = 1,
        validate: bool = False,
        report_interval: int = 1000,
        evaluation_interval: int | None = None,
        evaluation_episodes: int = 10,
    ):
        for name, value in (
            ("report_interval", report_interval),
            ("evaluation_episodes", evaluation_episodes),
        ):
            if value < 1:
                raise SpecError(f"{name}: expected an integer >= 1, given {value!r}")
        if evaluation_interval is not None and evaluation_interval < 1:
            raise SpecError(
                f"evaluation_interval: expected an integer >= 1 or None, given {evaluation_interval!r}"
            )
        if evaluation_interval is not None and is_instance(env):
            raise SpecError(
                "evaluation_interval: evaluations need environments of their own: give a spec or a function that "
                "makes environments, not one instance"
            )
        self.agent = agent
        self.env_spec = env
        self.vector_env = SequentialVectorEnv(make_environments(env, num_envs), validate=validate)
        self.num_envs = num_envs
        self.report_interval = report_interval
        self.evaluation_interval = evaluation_interval
        self.evaluation_episodes = evaluation_episodes
        self.callbacks: list[Callback] = []
        self.returns: list[float] = []
        self.evaluations: list[Evaluation] = []
        self.timesteps = 0
        self._recent: deque[float] = deque(maxlen=WINDOW)
        self._recent_lengths: deque[int] = deque(maxlen=WINDOW)
        self._evaluation_seconds = 0.0

    def execute_timesteps(
        self, timesteps: int, *, callbacks: Callback | Sequence[Callback] | None = None
    ) -> TrainingResult:
        """Train for `timesteps` environment steps, all environments together.

        Ctrl-C ends the training in good order; the result says so.

        Raises:
            EnvironmentFault: an environment breaks its contract; names it and the step.
            NumericalError: a loss is not finite.
        """
        self.callbacks = (
            list(callbacks) if isinstance(callbacks, Sequence) else [callbacks] if callbacks else []
        )
        timesteps_before, updates_before, interrupted = self.timesteps, self.agent.updates, False
        episodes_before, evaluations_before = len(self.returns), len(self.evaluations)
        started, self._evaluation_seconds = time.perf_counter(), 0.0
        self._tell("on_start", timesteps)
        try:
            self._run(timesteps)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            seconds = time.perf_counter() - started - self._evaluation_seconds
            # One that fails keeps none of the others from ending well.
            with ExitStack() as ends:
                for callback in reversed(self.callbacks):
                    ends.callback(callback.on_end, self)
        return TrainingResult(
            self.timesteps - timesteps_before,
            len(self.returns) - episodes_before,
            self.agent.updates - updates_before,
            seconds,
            tuple(self.returns[episodes_before:]),
            tuple(self.evaluations[evaluations_before:]),
            interrupted,
        )

    def terminate(self) -> None:
        """Release the environments; one given as an instance belongs to whoever gave it."""
        if not is_instance(self.env_spec):
            self.vector_env.terminate()

    def _tell(self, event: str, *arguments: Any) -> bool:
        """Tell all callbacks; whether one of them wants the training to end."""
        answers = [getattr(callback, event)(self, *arguments) for callback in self.callbacks]
        return any(answer is True for answer in answers)

    def _run(self, timesteps: int) -> None:
        agent, vector, number = self.agent, self.vector_env, self.num_envs
        get_actions, observe, update, step = (
            agent.get_actions,
            agent.observe,
            agent.update_if_due,
            vector.step,
        )
        running_return, running_length = np.zeros(number), np.zeros(number, np.int64)
        report = _Report(self)
        next_evaluation = self.evaluation_interval or inf
        # A run that goes on with a trained agent must not see the episodes of the first one again.
        seed = environment_seed(agent.seed, 0, agent.timesteps) if agent.timesteps else agent.seed
        states = vector.reset(seed=seed)
        done = 0
        while done < timesteps:
            agent.set_progress(done / timesteps)
            actions = get_actions(states)
            next_states, rewards, terminated, truncated, _ = step(actions)
            running_return += rewards
            running_length += 1
            final_states = vector.final_states
            self._check_finite(final_states, running_length)
            observe(states, actions, rewards, terminated, final_states, truncated, batched=True)
            states = next_states
            done += number
            self.timesteps += number
            for i in vector.finished:
                self._finish_episode(float(running_return[i]), int(running_length[i]))
                running_return[i] = running_length[i] = 0
            if vector.finished:
                self._check_finite(states, running_length)
            report.add_update(update())
            if done >= report.due:
                self._tell("on_report", report.take(done))
            if done >= next_evaluation:
                next_evaluation += self.evaluation_interval or inf
                if self._evaluate():
                    return

    def _check_finite(self, states: Any, steps: np.ndarray, name: str = "state") -> None:
        """One cheap look at the whole batch; only if it is suspicious the search for the place.

        Args:
            states: ``[N, ...]``.
            steps: the step of its episode each row belongs to [N].
            name: of the leaf.
        """
        if isinstance(states, np.ndarray):
            if states.dtype.kind == "f" and not isfinite(np.vdot(states, states)):
                check_finite(states, lambda row: f"{self.vector_env.describe(row)}, step {steps[row]}", name)
        else:
            for key, part in states.items() if isinstance(states, dict) else enumerate(states):
                self._check_finite(part, steps, f"{name}/{key}")

    def _finish_episode(self, episode_return: float, length: int) -> None:
        self.returns.append(episode_return)
        self._recent.append(episode_return)
        self._recent_lengths.append(length)
        self._tell("on_episode", episode_return, length)

    def _evaluate(self) -> bool:
        started = time.perf_counter()
        seed = self.agent.seed + 1_000_003 * (len(self.evaluations) + 1)
        evaluation = evaluate(self.agent, self.env_spec, self.evaluation_episodes, seed)
        self.evaluations.append(evaluation)
        stop = self._tell("on_evaluation", evaluation)
        self._evaluation_seconds += time.perf_counter() - started
        return stop

    @property
    def recent_returns(self) -> tuple[float, ...]:
        """Returns of the last 100 episodes."""
        return tuple(self._recent)

    @property
    def recent_lengths(self) -> tuple[int, ...]:
        """Lengths of the last 100 episodes."""
        return tuple(self._recent_lengths)


class _Report:
    """Collects what happens between two reports."""

    def __init__(self, worker: SingleThreadedWorker):
        self.worker = worker
        self.due = worker.report_interval
        self._loss, self._count = 0.0, 0
        self._since, self._steps = time.perf_counter(), 0
        self._evaluated = 0.0

    def add_update(self, results: dict[str, Any] | None) -> None:
        if results is not None:
            self._loss += results["loss"]
            self._count += 1

    def take(self, done: int) -> dict[str, float]:
        """The metrics since the last report."""
        worker, now = self.worker, time.perf_counter()
        evaluating = worker._evaluation_seconds - self._evaluated
        metrics = {
            "timesteps": float(worker.timesteps),
            "episodes": float(len(worker.returns)),
            "updates": float(worker.agent.updates),
            "steps_per_second": (done - self._steps) / max(now - self._since - evaluating, 1e-9),
            **worker.agent.metrics(),
        }
        if self._count:
            metrics["loss"] = self._loss / self._count
        if worker.recent_returns:
            metrics["mean_return"] = float(np.mean(worker.recent_returns))
            metrics["mean_length"] = float(np.mean(worker.recent_lengths))
        self._loss, self._count, self._since, self._steps = 0.0, 0, now, done
        self._evaluated = worker._evaluation_seconds
        self.due += worker.report_interval
        return metrics
