"""Small tasks of which everything is known, for any action Space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.environments.environment import Environment, StepResult, environment_seed
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult
from rlgraph.experience.data_sets import RecordedEpisode, write_data_set
from rlgraph.experience.nested_arrays import row, stack
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space


class CueTask(Environment):
    """The state shows a cue, 0 or 1, that the action has to answer; each step has a reward from 0 to 1.

    Integers and bools answer by being the cue, floats by lying near -0.5 or 0.5; a step's reward is the mean over all
    numbers of an action. Episodes have 3 to 6 steps; odd lengths are truncated, even ones terminated.

    States are ``FloatBox(shape=(4,))``: the cue as -1 or 1, its reverse, the step of the episode divided by 6, and the
    number of the episode; of another Space samples, which show no cue.

    Args:
        action_space: of one action.
        state_space: another Space of states.
        reward: of the right answer.
    """

    STATES = FloatBox(shape=(4,))

    def __init__(self, action_space: Any, state_space: Any = None, reward: float = 1.0) -> None:
        super().__init__(Space.from_spec(state_space or self.STATES), Space.from_spec(action_space))
        self._reward = reward
        self._shows_cues = self.state_space == self.STATES
        self._rng = np.random.default_rng()
        self._cue = self._time = self._length = self._episode = 0
        self._state: Any = None

    def reset(self, seed: int | None = None) -> Any:
        """An episode of another length begins."""
        if seed is not None:
            self._rng, self._episode = np.random.default_rng(seed), 0
        self._episode, self._time = self._episode + 1, 0
        self._length = int(self._rng.integers(3, 7))
        return self._next_state()

    def step(self, action: Any) -> StepResult:
        """The reward of the answer, and the next cue."""
        leaves = self.action_space.flatten()
        scores = [
            self._score(leaves[path], np.asarray(part))
            for path, part in self.action_space.flatten_sample(action).items()
        ]
        self._time += 1
        ended, odd = self._time == self._length, self._length % 2 == 1
        return self._next_state(), self._reward * float(np.mean(scores)), ended and not odd, ended and odd, {}

    def _score(self, box: Any, given: np.ndarray) -> float:
        if isinstance(box, IntBox | BoolBox):
            return float(np.mean(given == self._cue))
        return float(np.mean(np.maximum(1.0 - np.abs(given - (self._cue - 0.5)), 0.0)))

    def right_action(self) -> Any:
        """The action with the reward 1 in the current state."""

        def right(_: str, box: Any) -> Any:
            return np.full(box.shape, self._cue - 0.5 * isinstance(box, FloatBox), box.dtype)

        leaves = self.action_space.flatten()
        return self.action_space.unflatten_sample({path: right(path, box) for path, box in leaves.items()})

    def _next_state(self) -> Any:
        self._cue = int(self._rng.integers(2))
        if self._shows_cues:
            sign = 2.0 * self._cue - 1.0
            self._state = np.array([sign, -sign, self._time / 6, self._episode], np.float32)
        else:
            self._state = self.state_space.sample(rng=self._rng)
        return self._state

    def get_state(self) -> dict[str, Any]:
        """Everything that changes."""
        numbers = [self._cue, self._time, self._length, self._episode]
        return {"random": self._rng.bit_generator.state, "numbers": numbers, "state": self._state}

    def set_state(self, state: Any) -> Any:
        """Continues from what `get_state` gave."""
        self._rng.bit_generator.state = state["random"]
        self._cue, self._time, self._length, self._episode = map(int, state["numbers"])
        self._state = state["state"]
        return self._state


class CueVectorEnv(VectorEnv):
    """Environments that reset in the step after an end, as Gymnasium's ``AutoresetMode.NEXT_STEP`` does, or get lost.

    Rows that are no transitions have `garbage` as their reward, and as the states that are seen and reached there.

    Args:
        make: makes a `CueTask`.
        number: of environments.
        lost: ``(step, environment)`` of environments that crash and are replaced.
        garbage: the number in rows that are no transitions.
        dead_from: from this step on no environment acts any more: every row is garbage; None: never.
    """

    def __init__(
        self,
        make: Callable[[], CueTask],
        number: int = 2,
        lost: Sequence[tuple[int, int]] = (),
        garbage: float = 0.0,
        dead_from: int | None = None,
    ) -> None:
        self.environments = [make() for _ in range(number)]
        self.num_environments, self.finished, self.dropped, self.idle = number, [], (), ()
        self.state_space, self.action_space = (
            self.environments[0].state_space,
            self.environments[0].action_space,
        )
        self._lost, self._garbage, self._dead_from = set(lost), garbage, dead_from
        self._clock, self._waiting = 0, [False] * number
        self._states: Any = None
        self.final_states: Any = None

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode in every environment."""
        seeds = [None if seed is None else environment_seed(seed, i) for i in range(self.num_environments)]
        self._waiting, self.finished, self.dropped, self.idle = [False] * self.num_environments, [], (), ()
        self._states = np.stack([env.reset(s) for env, s in zip(self.environments, seeds, strict=True)])
        self.final_states = self._states
        return self._states

    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment."""
        number, dropped, idle = self.num_environments, [], []
        states, reached = np.empty_like(self._states), np.full_like(self._states, self._garbage)
        rewards = np.full(number, self._garbage, np.float32)
        terminals, truncations = np.zeros(number, bool), np.zeros(number, bool)
        self._clock += 1
        for i, environment in enumerate(self.environments):
            is_dead = self._dead_from is not None and self._clock >= self._dead_from
            if is_dead or self._waiting[i] or (self._clock, i) in self._lost:
                dropped.append(i)
                if self._waiting[i]:
                    idle.append(i)
                states[i], self._waiting[i] = environment.reset(), False
                if is_dead:
                    states[i] = self._garbage
                continue
            action = row(actions, i)
            reached[i], rewards[i], terminals[i], truncations[i], _ = environment.step(action)
            self._waiting[i] = bool(terminals[i] or truncations[i])
            states[i] = self._garbage if self._waiting[i] else reached[i]
        self.finished = np.flatnonzero(terminals | truncations).tolist()
        self.dropped, self.idle = tuple(dropped), tuple(idle)
        self._states, self.final_states = states, reached
        return states, rewards, terminals, truncations, [{} for _ in range(number)]

    def describe(self, index: int) -> str:
        """The name of an environment in messages."""
        return f"environment {index}"

    def get_states(self) -> list[Any]:
        """The states of the environments, and what waits."""
        return [
            {
                "environment": env.get_state(),
                "waiting": waiting,
                "clock": self._clock,
                "state": state.tolist(),
            }
            for env, waiting, state in zip(self.environments, self._waiting, self._states, strict=True)
        ]

    def set_states(self, states: Sequence[Any]) -> Any:
        """Continues from what `get_states` gave."""
        for environment, state in zip(self.environments, states, strict=True):
            environment.set_state(state["environment"])
        self._waiting, self._clock = [bool(state["waiting"]) for state in states], int(states[0]["clock"])
        self._states = np.array([state["state"] for state in states], np.float32)
        self.final_states = self._states
        return self._states

    def terminate(self) -> None:
        """Nothing is held."""


def right_answers(task: CueTask, file: Path, episodes: int = 60, reward: float = 1.0) -> Path:
    """A data set of right answers, each with this reward."""
    recorded = []
    for episode in range(episodes):
        states, actions, ends = [task.reset(seed=0 if episode == 0 else None)], [], [(False, False)]
        while not any(ends[-1]):
            actions.append(task.right_action())
            state, _, terminal, truncated, _ = task.step(actions[-1])
            states.append(state)
            ends.append((terminal, truncated))
        flags = np.array(ends[1:])
        rewards = np.full(len(actions), reward, np.float32)
        recorded.append(RecordedEpisode(stack(states), stack(actions), rewards, flags[:, 0], flags[:, 1]))
    return write_data_set(file, recorded, task.state_space, task.action_space)


def random_reward(action_space: Space, steps: int = 400) -> float:
    """The mean reward of a step of actions that are drawn from their Space, without bounds from a standard normal."""
    task, rng = CueTask(action_space), np.random.default_rng(0)
    task.reset(seed=0)
    rewards = [float(task.step(action_space.sample(rng=rng))[1]) for _ in range(steps)]
    return float(np.mean(rewards))
