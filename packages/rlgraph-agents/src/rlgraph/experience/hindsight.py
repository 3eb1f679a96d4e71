"""Hindsight experience replay: Andrychowicz et al. (2017), https://arxiv.org/abs/1707.01495."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.core import InputError, SpecError
from rlgraph.environments.goals import GoalFunctions, goal_functions
from rlgraph.experience.experience import Writer
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.specs import HindsightSpec, parse_spec
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import Space

PATH = "hindsight_spec"

#: Goals of a step by default; the last goal of an episode is one.
GOALS = {"future": 4, "episode": 4, "final": 1}

#: First episodes whose rewards are compared with those that the environment computes of their goals.
CHECKED = 10


class Hindsight:
    """Draws the goals that the steps of an episode get in place of their own, and judges them.

    Args:
        spec: which goals, and how many.
        n_step: rewards of a record.

    Attributes:
        goals: new goals of each step.
        episodes: episodes that got new goals; the random numbers of each follow from its number.
    """

    def __init__(self, spec: HindsightSpec | Mapping[str, Any], n_step: int = 1):
        checked = parse_spec(HindsightSpec, spec, PATH)
        self.strategy = checked.strategy
        self.goals = GOALS[self.strategy] if checked.goals is None else checked.goals
        if self.strategy == "final" and self.goals > 1:
            raise SpecError(f"expected 1: an episode ends once, given {self.goals}", path=f"{PATH}.goals")
        if n_step > 1:
            raise SpecError(
                f"expected n_step: 1, given {n_step}: with another goal the later of these actions would not have been "
                "taken, and their rewards count for it nevertheless",
                path=PATH,
            )
        self.episodes = 0
        self._seed = 0
        self._states: Space | None = None
        self._functions: GoalFunctions | None = None

    def use_environment(self, env: Any, states: Space, seed: int) -> None:
        """Take its functions of goals, unless another environment gave some; see `Experience.use_environment`."""
        self._states, self._seed = states, seed
        if env is None or self._functions is not None:
            return
        try:
            self._functions = goal_functions(env)
        except SpecError as error:
            raise SpecError(str(error), path=PATH) from error

    def check_suits(self, is_recurrent: bool) -> None:
        """Find out whether a network learns from single steps."""
        if is_recurrent:
            raise SpecError(
                "expected a network_spec without recurrent layers: the internal states of an episode were computed "
                "with its own goal",
                path=PATH,
            )

    def check_seen(self, states: Space) -> None:
        """Find out whether the algorithm sees states as the environment gives them."""
        if states != self._states:
            raise SpecError(
                "expected states as the environment gives them, since it judges goals: leave out preprocessing_spec "
                "and previous_action_and_reward, or wrap the environment",
                path=PATH,
            )

    def relabelled(self, episode: Mapping[str, Any]) -> dict[str, Any]:
        """The records of an episode of T steps with goals that it achieved, ``[T * goals, ...]``.

        Args:
            episode: records ``[T, ...]`` in order.

        Raises:
            InputError: no environment was given, or its rewards are not those of its goals.
        """
        if self._functions is None:
            raise InputError(
                f"{PATH}: expected an environment, whose compute_reward judges other goals: give env= to the agent"
            )
        steps = len(episode["rewards"])
        self._check(episode, steps)
        chosen = self.draw(steps).ravel()
        again = np.repeat(np.arange(steps), self.goals)
        goals = row(episode["next_states"]["achieved_goal"], chosen)
        records: dict[str, Any] = {name: row(values, again) for name, values in episode.items()}
        for name in ("states", "next_states"):
            records[name]["desired_goal"] = goals
        rewards, terminals = self._judged(records, len(again))
        records["rewards"] = rewards.astype(records["rewards"].dtype)
        records["terminals"] = records["terminals"] if terminals is None else terminals
        return records

    def draw(self, steps: int) -> np.ndarray:
        """For each step of an episode, the steps that achieved its new goals, ``[T, goals]``."""
        self.episodes += 1
        if self.strategy == "final":
            return np.full((steps, 1), steps - 1)
        drawn = np.random.default_rng([self._seed, self.episodes]).random((steps, self.goals))
        first = np.arange(steps)[:, None] if self.strategy == "future" else 0
        indices: np.ndarray = first + (drawn * (steps - first)).astype(np.int64)
        return indices

    def _judged(self, records: Mapping[str, Any], number: int) -> tuple[np.ndarray, np.ndarray | None]:
        assert self._functions is not None
        reached = records["next_states"]
        goals = reached["achieved_goal"], reached["desired_goal"]
        return self._functions.rewards(*goals, number), self._functions.terminals(*goals, number)

    def _check(self, episode: Mapping[str, Any], steps: int) -> None:
        """Compare the rewards and ends of an episode with what its environment computes.

        Raises:
            InputError: they differ.
        """
        if self.episodes >= CHECKED:
            return
        rewards, terminals = self._judged(episode, steps)
        self._compare("reward", episode["rewards"], rewards)
        if terminals is not None:
            self._compare("terminated", episode["terminals"], terminals)

    def _compare(self, name: str, given: np.ndarray, computed: np.ndarray) -> None:
        wrong = np.flatnonzero(~np.isclose(given, computed, atol=1e-4))
        if len(wrong):
            first = wrong[0]
            assert self._functions is not None
            raise InputError(
                f"{PATH}: step {first + 1} of an episode of {self._functions.name} has {name} {given[first]}, and "
                f"compute_{name}(achieved_goal, desired_goal, {{}}) of the state it led to is {computed[first]}: steps "
                f"with other goals would be judged wrong. Expected a {name} that depends on these goals alone"
            )


class HindsightWriter:
    """Puts steps into the memory at once, and at the end of each episode again with other goals.

    Args:
        hindsight: gives the goals.
        plain: takes in the steps as they are.
        insert: takes ``records``, a dict of fields ``[B, ...]``.
        longest: steps after which a running episode gets its goals.
    """

    def __init__(self, hindsight: Hindsight, plain: Writer, insert: Callable[..., Any], longest: int):
        self._hindsight, self._plain, self._insert, self._longest = hindsight, plain, insert, max(longest, 1)
        #: Steps of the running episode of each slot, [N].
        self._counts = np.zeros(0, np.int64)
        #: Those steps by field, ``[L, N, ...]``.
        self._steps: Any = None

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step of `slots`, one per row; None: of all in order."""
        slots = np.arange(len(step.rewards)) if slots is None else slots
        if step.valid is not None:
            rows = np.flatnonzero(step.valid)
            step, slots = step.of_rows(rows)._replace(valid=None), slots[rows]
        if not len(slots):
            return
        self._plain.add(step, slots)
        fields = {
            "states": step.states,
            "actions": step.actions,
            "rewards": step.rewards,
            "terminals": step.terminals,
            "next_states": step.next_states,
        }
        self._make_room(fields, int(slots.max()) + 1)
        at = self._counts[slots], slots
        map_arrays(lambda held, given: held.__setitem__(at, given), self._steps, fields)
        self._counts[slots] += 1
        ends = step.terminals | step.truncations | (self._counts[slots] == self._longest)
        if np.count_nonzero(ends):
            self.cut(slots[ends])

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """The episodes of `slots` (None: all) ended after their last step."""
        for slot in self._held(slots):
            count = int(self._counts[slot])
            if count:
                episode = map_arrays(lambda held, n=count, i=slot: held[:n, i], self._steps)
                self._insert(self._hindsight.relabelled(episode))
            self._counts[slot] = 0

    def drop(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """Forget the steps of the running episodes of `slots` (None: all)."""
        self._counts[self._held(slots)] = 0

    def get_state(self) -> Any:
        """Copies of the running episodes; see `set_state`."""
        return map_arrays(np.copy, {"counts": self._counts, "steps": self._steps})

    def set_state(self, state: Mapping[str, Any] | None) -> None:
        """Continue from what `get_state` gave."""
        if state is None:
            self.drop()
            return
        self._counts, self._steps = (map_arrays(np.copy, state.get(name)) for name in ("counts", "steps"))

    def _held(self, slots: Sequence[int] | np.ndarray | None) -> np.ndarray:
        """Those of `slots` that have had a step."""
        chosen = np.arange(len(self._counts)) if slots is None else np.asarray(slots, np.int64)
        return chosen[chosen < len(self._counts)]

    def _make_room(self, fields: Any, number: int) -> None:
        """Room for one more step of `number` slots; what is there stays."""
        slots, count = max(number, len(self._counts)), int(self._counts.max(initial=0))
        length = 0 if self._steps is None else len(self._steps["rewards"])
        if slots == len(self._counts) and count < length:
            return
        wanted = min(max(64, 2 * length), self._longest) if count == length else length
        old, self._counts = self._steps, np.pad(self._counts, (0, slots - len(self._counts)))
        self._steps = map_arrays(
            lambda given: np.zeros((wanted, slots, *np.shape(given)[1:]), np.asarray(given).dtype), fields
        )
        if old is not None:
            map_arrays(
                lambda new, held: new.__setitem__((slice(len(held)), slice(held.shape[1])), held),
                self._steps,
                old,
            )
