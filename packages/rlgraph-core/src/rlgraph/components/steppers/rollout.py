"""Records the steps of environments in arrays."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.components.steppers.environment_list import name_of
from rlgraph.core import InputError
from rlgraph.core.protocols import Environment
from rlgraph.spaces import BoxSpace, Space

#: Leaf of a Space -> its rows.
Arrays = dict[str, np.ndarray]


class Rollout:
    """The last steps of N environments, and their present states.

    An environment that ends is reset in the same step; its final state is kept. States are checked
    against the state Space until an environment has ended its first episode.

    Args:
        environments: environments of equal Spaces.
        internal_states_space: Space of the actor's internal states; None: none.
        added: further inputs of the actor, ``"previous_action"`` and ``"previous_reward"``.
        where: the caller; named in errors.
    """

    def __init__(
        self,
        environments: Sequence[Environment],
        internal_states_space: Space | None,
        added: Sequence[str],
        where: str,
    ):
        self.environments, self.added, self.where = list(environments), added, where
        self.number = len(self.environments)
        self.state_space = environments[0].state_space.without_ranks()
        self.action_space = environments[0].action_space.without_ranks()
        self.internal_space = internal_states_space
        #: Present states of the environments and their episodes: rows by leaf; None: not started.
        self.present: dict[str, Arrays] | None = None
        #: Whether the next steps begin new episodes in all environments.
        self.begins_anew = False
        self.unproven = set(range(self.number))
        #: Steps of each environment in earlier calls, and the step at which its episode began.
        self.clock, self.began = 0, [0] * self.number
        self.rewards: list[float] = []
        self.numbers: list[Any] = []

    def begin(self, num_steps: int, dtype: str, rng: np.random.Generator) -> Any:
        """Allocate arrays for `num_steps` steps; begin episodes where none are under way.

        Returns:
            The actor's inputs, a dict of rows ``[N, ...]``: ``states``, and if used ``internal_states``,
            ``previous_action`` and ``previous_reward``. ``turns.send((actions, internal_states))`` does a step and
            returns the next inputs.
        """
        rows = (num_steps + 1, self.number)
        self.states, self.internals = (
            zeros(space, rows, dtype) for space in (self.state_space, self.internal_space)
        )
        self.actions = zeros(self.action_space, (num_steps, self.number), dtype)
        self.clock, self.dtype = self._now(), dtype
        # Numbers are cheapest to keep in lists: rewards, and actions that are numbers.
        self.rewards, self.numbers = [], []
        self.terminated, self.truncated = np.zeros((2, num_steps, self.number), bool)
        self.final_states: list[tuple[int, int, Arrays]] = []
        previous = {
            "previous_action": zeros(self.action_space, (self.number,), dtype),
            "previous_reward": {"": np.zeros(self.number, dtype)},
        }
        if self.present is None or self.begins_anew:
            self.begins_anew = False
            for index, seed in enumerate(rng.integers(2**31, size=self.number).tolist()):
                self._reset(index, 0, seed)
        else:
            for arrays, name in ((self.states, "states"), (self.internals, "internal_states")):
                for path, row in self.present[name].items():
                    arrays[path][0] = row
            previous = {name: self.present[name] for name in self.added}
        self.turns = self._run_alone(num_steps) if self._is_simple() else self._run(num_steps, previous)
        return next(self.turns)

    def results(self) -> dict[str, Any]:
        """All arrays of the call, ``[T, N, ...]``; states and internal states ``[T + 1, N, ...]``."""
        next_states = {path: rows[1:].copy() for path, rows in self.states.items()}
        for t, index, leaves in self.final_states:
            for path, value in leaves.items():
                next_states[path][t, index] = value
        if self.numbers:
            self.actions[""].reshape(-1)[...] = self.numbers
        found = {
            "states": self.state_space.unflatten_sample(self.states),
            "actions": self.action_space.unflatten_sample(self.actions),
            "rewards": np.array(self.rewards, self.dtype).reshape(self.terminated.shape),
            "terminated": self.terminated,
            "truncated": self.truncated,
            "next_states": self.state_space.unflatten_sample(next_states),
        }
        if self.internal_space is not None:
            found["internal_states"] = self.internal_space.unflatten_sample(self.internals)
        return found

    # The loops; they yield to the actor.

    def _run(self, num_steps: int, previous: dict[str, Arrays]) -> Generator[Any, Any, None]:
        self.present = None  # until all steps are through
        steps = [environment.step for environment in self.environments]
        states, split = self.states.get(""), self._splitter()
        keep_reward, unproven = self.rewards.append, self.unproven
        for t in range(num_steps):
            actions, internal_states = yield self._given(t, previous)
            ended, index, action = [], 0, None
            try:
                for index, action in enumerate(split(t, actions)):
                    state, reward, terminated, truncated, _ = steps[index](action)
                    if not isfinite(reward):
                        raise InputError(f"the reward is {reward}; it must be finite")
                    if index in unproven:
                        self._check(state)
                    if terminated or truncated:
                        self._end(t, index, state, terminated, truncated)
                        ended.append(index)
                    elif states is not None:
                        states[t + 1, index] = state
                    else:
                        self._write(t + 1, index, state)
                    keep_reward(reward)
            except Exception as error:
                error.add_note(f"{self._place(index)}, action {action!r}")
                raise
            for index in ended:
                self._reset(index, t + 1)
            if self.internal_space is not None:
                self._keep(t + 1, internal_states, ended)
            if self.added:
                previous = self._previous(t, ended)
        yield self._leave(num_steps, previous)

    def _run_alone(self, num_steps: int) -> Generator[Any, Any, None]:
        """The same for the case `_is_simple`, where lookups outside the environment would take noticeable time.

        All lists that a step writes are looked up in advance.
        """
        self.present, step, unproven = None, self.environments[0].step, self.unproven
        keep_action, keep_reward, states = self.numbers.append, self.rewards.append, self.states[""]
        places = states[1:].reshape(num_steps, *(states.shape[2:] or (1,)))
        for t, (row, place) in enumerate(zip(states[:-1], places, strict=True)):
            actions, _ = yield {"states": row}
            action = actions.item()
            try:
                state, reward, terminated, truncated, _ = step(action)
                if not isfinite(reward):
                    raise InputError(f"the reward is {reward}; it must be finite")
                if unproven:
                    self._check(state)
                if terminated or truncated:
                    self._end(t, 0, state, terminated, truncated)
                else:
                    place[...] = state
            except Exception as error:
                error.add_note(f"{self._place(0)}, action {action!r}")
                raise
            keep_action(action)
            keep_reward(reward)
            if terminated or truncated:
                self._reset(0, t + 1)
        yield self._leave(num_steps, {})

    def _is_simple(self) -> bool:
        """One environment, numbers as actions, states without parts, an actor without memory."""
        is_number = isinstance(self.action_space, BoxSpace) and self.action_space.shape == ()
        remembers = self.internal_space is not None or self.added
        return self.number == 1 and is_number and "" in self.states and not remembers

    def _leave(self, num_steps: int, previous: dict[str, Arrays]) -> dict[str, Any]:
        """Keep the present states for the next call; return the actor's next inputs."""
        following = {"states": self.states, "internal_states": self.internals}
        last = {n: {path: rows[-1].copy() for path, rows in each.items()} for n, each in following.items()}
        self.present = {**last, **previous}
        return self._given(num_steps, previous)

    def _given(self, t: int, previous: Mapping[str, Arrays]) -> dict[str, Any]:
        """The actor's inputs at t."""
        given = {"states": row_of(self.state_space, self.states, t)}
        for name in self.added:
            space = self.action_space if name == "previous_action" else None
            given[name] = space.unflatten_sample(previous[name]) if space else previous[name][""]
        if self.internal_space is not None:
            given["internal_states"] = row_of(self.internal_space, self.internals, t)
        return given

    def _splitter(self) -> Callable[[int, Any], Sequence[Any]]:
        """Records the actions of a step and returns that of each environment.

        Numbers are Python's, with which environments are fastest.
        """
        if isinstance(self.action_space, BoxSpace):
            rows, keep = self.actions[""], self.numbers.extend

            def split_numbers(_: int, actions: Any) -> Sequence[Any]:
                numbers: list[Any] = actions.tolist()
                keep(numbers)
                return numbers

            def split(t: int, actions: Any) -> Sequence[Any]:
                rows[t] = actions
                return actions

            return split_numbers if self.action_space.shape == () else split

        def split_parts(t: int, actions: Any) -> Sequence[Any]:
            leaves = self.action_space.flatten_sample(actions)
            for path, values in leaves.items():
                self.actions[path][t] = values
            unflatten = self.action_space.unflatten_sample
            return [
                unflatten({path: values[i] for path, values in leaves.items()}) for i in range(self.number)
            ]

        return split_parts

    # The state of an episode ends with it.

    def _keep(self, t: int, internal_states: Any, ended: list[int]) -> None:
        assert self.internal_space is not None
        for path, values in self.internal_space.flatten_sample(internal_states).items():
            self.internals[path][t] = values
            self.internals[path][t, ended] = 0

    def _previous(self, t: int, ended: list[int]) -> dict[str, Arrays]:
        if self.numbers:
            self.actions[""][t] = self.numbers[-self.number :]
        previous = {
            "previous_action": {path: rows[t].copy() for path, rows in self.actions.items()},
            "previous_reward": {"": np.array(self.rewards[-self.number :], self.dtype)},
        }
        for arrays in previous.values():
            for rows in arrays.values():
                rows[ended] = 0
        return previous

    # One environment.

    def _end(self, t: int, index: int, state: Any, terminated: bool, truncated: bool) -> None:
        """Record an end, and keep the last state of the episode, which the environment may overwrite."""
        self.terminated[t, index], self.truncated[t, index] = terminated, truncated
        leaves = self.state_space.flatten_sample(state)
        self.final_states.append((t, index, {path: np.array(value) for path, value in leaves.items()}))
        self.unproven.discard(index)

    def _reset(self, index: int, t: int, seed: int | None = None) -> None:
        self.began[index] = self._now()
        try:
            state = self.environments[index].reset(seed=seed)
            if index in self.unproven:
                self._check(state)
        except Exception as error:
            error.add_note(f"{self._place(index)}, reset")
            raise
        self._write(t, index, state)

    def _check(self, state: Any) -> None:
        if not self.state_space.contains(state):
            raise InputError(f"the state {state!r} is not in the state Space {self.state_space!r}")

    def _write(self, t: int, index: int, state: Any) -> None:
        for path, value in self.state_space.flatten_sample(state).items():
            self.states[path][t, index] = value

    def _now(self) -> int:
        """The steps of each environment so far."""
        return self.clock + len(self.rewards) // self.number

    def _place(self, index: int) -> str:
        """Environment and step of the episode, for messages."""
        step = self._now() - self.began[index]
        return f"{self.where}: environment {index}, {name_of(self.environments[index])}, step {step} of its episode"


def zeros(space: Space | None, ranks: tuple[int, ...], dtype: str) -> Arrays:
    """Rows for a Space, by leaf; floats are of `dtype`."""
    return {
        path: np.zeros((*ranks, *box.shape), dtype if box.dtype.startswith("float") else box.dtype)
        for path, box in ({} if space is None else space.flatten()).items()
    }


def row_of(space: Space, arrays: Arrays, t: int) -> Any:
    """The element of a Space at t."""
    if "" in arrays:
        return arrays[""][t]
    return space.unflatten_sample({path: rows[t] for path, rows in arrays.items()})
