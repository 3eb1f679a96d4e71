"""Prioritized experience replay, proportional variant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from rlgraph.components.common.schedules import Schedule
from rlgraph.components.memories.frame_stack import FrameStack
from rlgraph.components.memories.memory import Memory
from rlgraph.components.memories.sum_tree import SumTree
from rlgraph.core import NumericalError, SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.prioritized_replay import importance_weights
from rlgraph.spaces import FloatBox, IntBox, Space


class PrioritizedReplay(Memory):
    """A ring of records, drawn with probability ``p_i / sum(p)``, ``p_i = (|error_i| + epsilon) ** alpha``.

    Schaul et al. (2016), section 3.3 and Algorithm 1, https://arxiv.org/abs/1511.05952. A new record has the largest
    priority so far, so that it is drawn soon. A batch is stratified: the whole is cut into as many equal parts as
    records are wanted, and each part gives one. Importance weights are divided by the largest of the batch.

    Args:
        capacity: number of records kept.
        alpha: how much priorities count; 0 draws uniformly.
        beta: how much the importance weights correct, 1 for all of it; a number, or a schedule over the fraction of
            training done (see `Schedule.from_spec`), in the paper ``[0.4, 1.0]``.
        epsilon: added to the errors, so that every record may be drawn.
        frame_stack: observations are stacks of so many frames, see `ReplayMemory`.
        scope: name among its siblings.

    Raises:
        SpecError: capacity below 1, alpha, beta or epsilon below 0 or not finite, no schedule, or no frame stack.
        SpaceError: the records are no `Dict` with batch rank, or have no stacks of frames.
    """

    def __init__(
        self,
        capacity: int = 1000,
        alpha: float = 0.6,
        beta: Any = 0.4,
        epsilon: float = 1e-6,
        frame_stack: Any = None,
        scope: str = "memory",
        **kwargs: Any,
    ):
        for name, value in (("alpha", alpha), ("epsilon", epsilon)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise SpecError(f"{scope}.{name}: expected a number >= 0, given {value!r}")
        self.alpha, self.epsilon = float(alpha), float(epsilon)
        self.beta = Schedule.from_spec(beta, path=f"{scope}.beta")
        # Schedules go from one end to the other without a turn.
        if min(self.beta.value(0.0), self.beta.value(1.0)) < 0.0:
            raise SpecError(f"{scope}.beta: expected values >= 0, given {beta!r}")
        self.frame_stack = FrameStack.from_spec(frame_stack, f"{scope}.frame_stack")
        super().__init__(capacity, scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        nodes = FloatBox(shape=(SumTree.size_for(self.capacity),), dtype="float64")
        self.nodes = self.get_variable("priorities", nodes, host=True)
        #: The largest priority so far, with alpha applied; [1].
        self.largest = self.get_variable(
            "largest_priority", FloatBox(shape=(1,), dtype="float64"), initializer=1.0, host=True
        )

    @rlgraph_api(returns=3)
    def get_records(self, num_records: Any, time_percentage: Any) -> Any:
        """Draw ``num_records`` [] records.

        Args:
            num_records: how many.
            time_percentage: the fraction of training done [], for the schedule of beta.

        Returns:
            A dict of fields [N, ...], their places in the memory [N], and their importance weights [N] in (0, 1].

        Raises:
            RLGraphError: the memory is empty.
        """
        return self._sample_prioritized(num_records, time_percentage)

    # In an update the errors come from what was drawn: their Spaces are not waited for.
    @rlgraph_api(must_be_complete=False)
    def update_records(self, indices: Any, errors: Any) -> Any:
        """Give the records at ``indices [N]`` priorities by their ``errors [N]`` (of either sign).

        Raises:
            NumericalError: an error is not finite; then nothing changes.
        """
        return self._update(indices, errors)

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        index, count = self.write(records)
        self._fill(index, count, float(self.largest[0]))  # type: ignore[index]

    def forget(self, index: int, count: int) -> None:
        self._fill(index, count, 0.0)

    def _fill(self, index: int, count: int, priority: float) -> None:
        """Give `count` records from `index` on this priority."""
        self.tree.fill(index, min(index + count, self.capacity), priority)
        if index + count > self.capacity:
            self.tree.fill(0, min(index + count - self.capacity, self.capacity), priority)

    @graph_fn(
        returns=3,
        host=True,
        spaces=lambda self, *_: (
            self.record_space,
            IntBox(self.capacity, add_batch_rank=True),
            FloatBox(0.0, 1.0, add_batch_rank=True),
        ),
        shares=(),
    )
    def _sample_prioritized(self, num_records: np.ndarray, time_percentage: np.ndarray) -> Any:
        size, number = self.filled(), int(num_records)
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        shares = rng.random(number)
        shares += np.arange(number)
        shares /= number
        # A share that rounding put beyond the last record is the last one's.
        indices = np.minimum(self.tree.find(shares), min(self.oldest() + size, self.capacity) - 1)
        weights = importance_weights(self.tree.get(indices), self.beta.value(float(time_percentage)))
        return self.read(indices), indices, weights

    @graph_fn(returns=0, host=True, spaces=())
    def _update(self, indices: np.ndarray, errors: np.ndarray) -> None:
        priorities = np.abs(errors, dtype=np.float64)
        priorities += self.epsilon
        priorities **= self.alpha
        largest: Any = self.largest
        highest = float(priorities.max(initial=0.0))
        if not highest < np.inf:
            raise NumericalError(
                f"{self.scope_path}: an error that a priority is made of is not finite: lower "
                "optimizer_spec.learning_rate, set clip_grad_norm, or look for rewards and states that are very large"
            )
        self.tree.set(indices, priorities)
        largest[0] = max(float(largest[0]), highest)

    @cached_property
    def tree(self) -> SumTree:
        """The priorities as a tree; for host functions only."""
        return SumTree(self.nodes)  # type: ignore[arg-type]
