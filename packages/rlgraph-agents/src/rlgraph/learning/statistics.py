"""Running statistics of what a learner observes: moments of states, and the deviation of returns."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components.common.running_moments import Part, deviation_of, merged
from rlgraph.core import Collective, GraphExecutor
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.step import VectorStep
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.spaces import Dict, Space

#: What versions up to 0.2 added to variances, and to those of their checkpoints ever since.
OLD_EPSILON = 1e-8


def pooled(parts: Sequence[Part], collective: Collective) -> list[Part]:
    """The parts of all learners together, equal on all of them."""
    shapes = [np.shape(mean) for _, mean, _ in parts]
    sums = _added(collective, [np.append(number * mean, number).ravel() for number, mean, _ in parts])
    means = [
        total[:-1].reshape(shape) / max(total[-1], 1.0) for total, shape in zip(sums, shapes, strict=True)
    ]
    squares = [
        (number * (variance + np.square(own - mean))).ravel()
        for (number, own, variance), mean in zip(parts, means, strict=True)
    ]
    return [
        (int(total[-1]), mean, square.reshape(shape) / max(total[-1], 1.0))
        for total, mean, square, shape in zip(sums, means, _added(collective, squares), shapes, strict=True)
    ]


def _added(collective: Collective, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The sums of flat arrays over all learners."""
    ends = np.cumsum([array.size for array in arrays])[:-1]
    return np.split(collective.all_reduce(np.concatenate(arrays)), ends)


class Moments:
    """Mean and variance of all rows so far, in double precision.

    Rows wait until `merge`.

    Args:
        shape: of one row.
    """

    def __init__(self, shape: tuple[int, ...] = ()):
        self.count, self.mean, self.variance = 0, np.zeros(shape), np.zeros(shape)
        #: Added to the variance.
        self.epsilon = 0.0
        #: Number of rows that wait, the sum of their differences from `origin`, and that of the squares.
        self.waiting, self.sum, self.squares = 0, np.zeros(shape), np.zeros(shape)
        #: Near the rows, so that no digits are lost where the mean is large; None: there are no rows.
        self.origin: np.ndarray | None = None

    def add(self, rows: np.ndarray) -> None:
        """Take in rows ``[B, ...]``."""
        if not len(rows):
            return
        if self.origin is None:
            self.origin = rows[0].astype(np.float64)
        difference = rows - self.origin
        self.waiting += len(rows)
        self.sum += difference.sum(axis=0)
        self.squares += np.square(difference).sum(axis=0)

    def part(self) -> Part:
        """The number of rows that wait, their mean and their variance."""
        if not self.waiting:
            return 0, np.zeros_like(self.mean), np.zeros_like(self.mean)
        assert self.origin is not None
        average = self.sum / self.waiting
        variance = np.maximum(self.squares / self.waiting - np.square(average), 0.0)
        return self.waiting, self.origin + average, variance

    def merge(self, part: Part | None = None) -> None:
        """Merge the rows that wait, or those of all learners together."""
        part = self.part() if part is None else part
        if not part[0]:
            return
        self.count, self.mean, self.variance = merged(self.count, self.mean, self.variance, part)
        self.waiting, self.sum, self.squares = 0, np.zeros_like(self.sum), np.zeros_like(self.squares)

    @property
    def scale(self) -> np.ndarray:
        """One over the deviation ``[...]``, however small that is; 1 for what has never changed."""
        return 1.0 / deviation_of(self.mean, self.variance, self.epsilon)

    def get_totals(self) -> dict[str, Any]:
        """The moments without what waits; JSON-able."""
        moments = {"mean": self.mean.tolist(), "variance": self.variance.tolist()}
        return {"count": self.count, **moments, "epsilon": self.epsilon}

    def set_totals(self, totals: Mapping[str, Any]) -> None:
        """Take over what `get_totals` gave."""
        self.count, self.epsilon = int(totals["count"]), float(totals.get("epsilon", OLD_EPSILON))
        self.mean, self.variance = np.asarray(totals["mean"]), np.asarray(totals["variance"])

    def get_waiting(self) -> dict[str, Any]:
        """Copies of what waits; see `set_waiting`."""
        held = {"waiting": self.waiting, "sum": self.sum, "squares": self.squares, "origin": self.origin}
        return map_arrays(np.array, held)

    def set_waiting(self, state: Mapping[str, Any]) -> None:
        """Take over what `get_waiting` gave."""
        self.waiting = int(state["waiting"])
        self.sum, self.squares = np.array(state["sum"]), np.array(state["squares"])
        self.origin = np.array(state["origin"]) if state.get("origin") is not None else None


class Statistics:
    """Sets the constants of `Normalizer` parts of a learner's graph, after an update, whenever the rows have doubled.

    Actors between two updates, and the next update, see the same constants; evaluations change none. A policy has as
    many steps to learn with constants as it took to observe them. With new constants after every update, a policy that
    moves to one side shifts the mean with it, and never sees that it has moved.

    Args:
        graph: the root component, built.
        seen: one state as steps have it.
        discount: of the returns whose deviation scales rewards.
        collective: of a group of learners, whose constants are those of the rows of all; None: there is no group.
    """

    def __init__(self, graph: AgentGraph, seen: Space, discount: float, collective: Collective | None = None):
        self._collective = collective
        states, rewards = graph.normalize, graph.scale_rewards
        self._graph, self._states, self._rewards, self._discount = graph, states, rewards, discount
        bare = graph.policy_input.without_mask(seen)
        self._space = space = Dict(bare) if isinstance(bare, dict) else bare
        paths = [] if states is None else list(states.scale)
        self._moments = {path: Moments(space.flatten()[path].shape) for path in paths}
        self._returns_moments = Moments() if rewards is not None else None
        #: Actor -> the discounted sum of rewards of each slot's episode so far, [N].
        self._returns: dict[str, np.ndarray] = {}
        #: Steps may be taken in while another thread updates.
        self._lock = threading.Lock()

    def add(self, step: VectorStep, actor: int, slots: np.ndarray | None = None) -> None:
        """Take in a step.

        Args:
            step: the step.
            actor: its number.
            slots: the slot of each row; None: all in order.
        """
        valid = slice(None) if step.valid is None else step.valid
        slots = np.arange(len(step.rewards)) if slots is None else slots
        with self._lock:
            if self._moments:
                leaves = self._space.flatten_sample(self._graph.policy_input.without_mask(step.states))
                for path, moments in self._moments.items():
                    moments.add(leaves[path][valid])
            if self._returns_moments is not None:
                self._add_rewards(step, valid, str(actor), slots)

    def add_steps(self, seen: Mapping[str, Any], actor: int) -> None:
        """Take in T steps of all slots: ``states``, ``rewards``, ``begins`` and ``ends`` ``[T, N, ...]``."""
        for t, ends in enumerate(seen["ends"]):
            states, rewards, begins = (row(seen[name], t) for name in ("states", "rewards", "begins"))
            self.add(VectorStep(states, None, rewards, ends, ends, None, begins), actor)

    def _add_rewards(self, step: VectorStep, valid: Any, actor: str, slots: np.ndarray) -> None:
        assert self._returns_moments is not None
        returns, needed = self._returns.get(actor, np.zeros(0)), int(slots.max(initial=-1)) + 1
        if len(returns) < needed:
            returns = self._returns[actor] = np.append(returns, np.zeros(needed - len(returns)))
        now = np.where(step.begins, 0.0, returns[slots]) * self._discount + step.rewards
        self._returns_moments.add(now[valid])
        returns[slots] = np.where(step.terminals | step.truncations, 0.0, now)

    def cut(self, actor: int, slots: Any = None) -> None:
        """The episodes of `slots` (None: all) were cut after their last step."""
        if (returns := self._returns.get(str(actor))) is not None:
            returns[slice(None) if slots is None else slots] = 0.0

    def publish(self, executor: GraphExecutor) -> None:
        """Merge the rows that wait and set the constants, if at least as many rows wait as were merged before."""
        values: dict[str, np.ndarray] = {}
        with self._lock:
            found = self._all().values()
            parts = [moments.part() for moments in found]
            if self._collective is not None:
                parts = pooled(parts, self._collective)
            if any(part[0] < max(moments.count, 1) for moments, part in zip(found, parts, strict=True)):
                return
            for moments, part in zip(found, parts, strict=True):
                moments.merge(part)
        for path, moments in self._moments.items():
            assert self._states is not None
            values[self._states.mean[path].name] = moments.mean
            values[self._states.scale[path].name] = moments.scale
        if self._returns_moments is not None:
            assert self._rewards is not None
            values[self._rewards.scale[""].name] = self._returns_moments.scale
        executor.set_weights(values)

    # Checkpoints.

    def _all(self) -> dict[str, Moments]:
        returns = {} if self._returns_moments is None else {"returns": self._returns_moments}
        return {**{f"states/{path}": moments for path, moments in self._moments.items()}, **returns}

    def counters(self) -> dict[str, Any]:
        """The moments; JSON-able."""
        return {name: moments.get_totals() for name, moments in self._all().items()}

    def set_counters(self, counters: Mapping[str, Any]) -> None:
        """Take over what `counters` gave."""
        for name, moments in self._all().items():
            moments.set_totals(counters[name])

    def take_over(self, counters: Mapping[str, Any], names: Sequence[str]) -> None:
        """Continue from another learner's `counters`, for constants that are among the variables `names`."""
        for name, moments in self._all().items():
            part = self._rewards if name == "returns" else self._states
            assert part is not None
            if part.scale[name.removeprefix("states/") if part is self._states else ""].name in names:
                moments.set_totals(counters[name])

    def get_state(self) -> dict[str, Any]:
        """Copies of what waits; see `set_state`."""
        waiting = {name.replace("/", "."): moments.get_waiting() for name, moments in self._all().items()}
        return {"waiting": waiting, "returns": {actor: x.copy() for actor, x in self._returns.items()}}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        waiting = state.get("waiting", {})
        for name, moments in self._all().items():
            moments.set_waiting(
                waiting.get(name.replace("/", "."), Moments(moments.mean.shape).get_waiting())
            )
        self._returns = {actor: np.array(x) for actor, x in state.get("returns", {}).items()}
