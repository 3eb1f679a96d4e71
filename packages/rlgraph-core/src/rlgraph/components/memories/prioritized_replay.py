"""Prioritized experience replay, proportional variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.memories.argument_checks import (
    check_fraction,
    check_indices,
    check_numbers,
    number_of,
)
from rlgraph.components.memories.frame_stack import FrameStack
from rlgraph.components.memories.memory import Memory, record_space
from rlgraph.components.memories.segment_tree import MinTree, SumTree
from rlgraph.core import InputError, NumericalError, RLGraphError, SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.functional.prioritized_replay import importance_weights
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import FloatBox, IntBox, Space

#: The sets whose largest importance weight is scaled to 1.
MAX_WEIGHT_OF = ("batch", "memory")


def _drawn(memory: PrioritizedReplay, num_records: Any, progress: Any) -> tuple[Space, Space, Space]:
    """The Spaces of records, indices and weights."""
    if progress is not None:
        check_fraction(progress, "progress")
    weights = FloatBox(0.0, 1.0, add_batch_rank=True)
    return record_space(memory, num_records), IntBox(memory.capacity, add_batch_rank=True), weights


def _updated(_: PrioritizedReplay, indices: Any, errors: Any) -> tuple[()]:
    check_indices(indices, "indices")
    check_numbers(errors, "errors")
    return ()


class PrioritizedReplay(Memory):
    """A memory whose records are drawn with probability ``p_i / sum(p)``, ``p_i = (|error_i| + epsilon) ** alpha``.

    Schaul et al. (2016), section 3.3 and Algorithm 1, https://arxiv.org/abs/1511.05952. A new record gets the largest
    priority so far, so that it is drawn soon. Sampling is stratified: the total priority is split into equal parts, and
    each part yields one record. Importance weights are divided by the largest of the batch.

    Args:
        capacity: number of records kept.
        alpha: exponent of the priorities; 0 draws uniformly.
        beta: exponent of the importance weights, 1 for full correction; a number, or a schedule over the fraction of
            training done (see `Schedule.from_spec`), in the paper ``[0.4, 1.0]``.
        epsilon: added to the errors, so that every record can be drawn.
        max_weight_of: importance weights are divided by the largest of ``"batch"``, or of all records in the
            ``"memory"`` (the ``max_i w_i`` of Algorithm 1 may mean either), which takes a second tree.
        frame_stack: observations are stacks of frames, see `ReplayMemory`.

    Raises:
        SpecError: capacity below 1, alpha, beta or epsilon below 0 or not finite, or an invalid schedule,
            frame stack or `max_weight_of`.
        SpaceError: the records are not a `Dict` of numbers with batch rank, or have no stacks of frames; or another
            argument has the wrong Space.
    """

    def __init__(
        self,
        capacity: int = 1000,
        alpha: float = 0.6,
        beta: ScheduleSpec = 0.4,
        epsilon: float = 1e-6,
        max_weight_of: str = "batch",
        frame_stack: Any = None,
        scope: str = "memory",
        **kwargs: Any,
    ):
        self.alpha = check_number(alpha, f"{scope}.alpha", least=0)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        self.beta = Schedule.from_spec(beta, path=f"{scope}.beta")
        self.beta.check_values(0.0, float("inf"), f"{scope}.beta")
        if max_weight_of not in MAX_WEIGHT_OF:
            raise SpecError(
                f"given {max_weight_of!r}. {nearest(str(max_weight_of), MAX_WEIGHT_OF)}",
                path=f"{scope}.max_weight_of",
            )
        self.max_weight_of = max_weight_of
        self.frame_stack = FrameStack.from_spec(frame_stack, f"{scope}.frame_stack")
        super().__init__(capacity, scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        nodes = FloatBox(shape=(SumTree.size_for(self.capacity),), dtype="float64")
        self.nodes = self.get_variable("priorities", nodes, host=True)
        if self.max_weight_of == "memory":
            #: Without priorities of 0, which are never drawn.
            self.smallest = self.get_variable(
                "smallest_priorities", nodes, initializer=MinTree.neutral, host=True
            )
        #: The largest priority so far, with alpha applied; [1].
        self.largest = self.get_variable(
            "largest_priority", FloatBox(shape=(1,), dtype="float64"), initializer=1.0, host=True
        )

    def check_stored(self, stored: Callable[[str], np.ndarray]) -> None:
        super().check_stored(stored)
        for name in ("priorities", "largest_priority"):
            self.check_range(name, stored(name), 0.0, np.inf)

    @rlgraph_api(returns=3)
    def get_records(self, num_records: Any, progress: Any = None) -> Any:
        """Draw ``num_records`` [] records.

        Args:
            num_records: number of records to draw.
            progress: the fraction of training done []; only needed if `beta` is a schedule.

        Returns:
            A dict of fields [N, ...], their indices in the memory [N], and their importance weights [N] in (0, 1].

        Raises:
            RLGraphError: the memory is empty, or all priorities are 0.
            InputError: a number below 0.
        """
        self.beta.need_time(progress, f"{self.scope_path}.get_records")
        return self._sample_prioritized(num_records, progress)

    # In an update the errors depend on drawn records, so the build does not wait for their Spaces.
    @rlgraph_api(must_be_complete=False)
    def update_records(self, indices: Any, errors: Any) -> Any:
        """Set the priorities of the records at ``indices [N]`` from their ``errors [N]`` (of either sign).

        Raises:
            NumericalError: an error is not finite; then nothing changes.
            InputError: an index without a record; then nothing changes.
        """
        return self._update(indices, errors)

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        index, count = self.write(records)
        self._fill(index, count, float(self.largest[0]))  # type: ignore[index]

    @_insert.fast_path
    def _insert_one(self) -> Callable[..., bool] | None:
        write = self.writer_of_one()
        if write is None:
            return None
        cursor: Any = self.cursor
        largest: Any = self.largest

        def insert(*fields: Any) -> bool:
            index = int(cursor[0])
            if not write(*fields):
                return False
            self._fill_range(index, index + 1, float(largest[0]))
            return True

        return insert

    def forget(self, index: int, count: int) -> None:
        self._fill(index, count, 0.0)

    def _fill(self, index: int, count: int, priority: float) -> None:
        """Set this priority for `count` records starting at `index`."""
        self._fill_range(index, min(index + count, self.capacity), priority)
        if index + count > self.capacity:
            self._fill_range(0, min(index + count - self.capacity, self.capacity), priority)

    @graph_fn(returns=3, host=True, spaces=_drawn, shares=())
    def _sample_prioritized(self, num_records: np.ndarray, progress: np.ndarray | None) -> Any:
        size, number = self.filled(), number_of(num_records, self.scope_path)
        shares = self.rng.random(number)
        shares += np.arange(number)
        shares /= number
        # Rounding may put a share beyond the last record.
        indices = np.minimum(self.tree.find(shares), min(self.oldest() + size, self.capacity) - 1)
        priorities = self.tree.get(indices)
        lowest = priorities.min(initial=np.inf)
        if lowest == 0.0:
            indices, priorities, lowest = self._without_zeros(indices, priorities)
        if self.max_weight_of == "memory":
            lowest = self.minima.minimum
        beta = self.beta.value(0.0 if progress is None else float(progress))
        weights = importance_weights(priorities, beta, lowest)
        return self.read(indices), indices, weights

    def _without_zeros(self, indices: np.ndarray, priorities: np.ndarray) -> tuple[Any, Any, Any]:
        """`indices`, with records of priority 0, found by rounding, replaced.

        Raises:
            RLGraphError: all priorities are 0.
        """
        if self.tree.total == 0.0:
            raise RLGraphError(
                f"{self.scope_path}: all priorities are 0, so no record can be drawn: set epsilon above 0"
            )
        held = self.tree.get(np.arange(self.capacity))
        indices = np.where(priorities > 0.0, indices, held.argmax())
        priorities = held[indices]
        return indices, priorities, priorities.min()

    @graph_fn(returns=0, host=True, spaces=_updated)
    def _update(self, indices: np.ndarray, errors: np.ndarray) -> None:
        priorities = np.abs(errors, dtype=np.float64)
        priorities += self.epsilon_of(indices)
        priorities **= self.alpha
        largest: Any = self.largest
        highest = float(priorities.max(initial=0.0))
        if not highest < np.inf:
            raise NumericalError(
                f"{self.scope_path}: expected finite errors for priorities: lower "
                "optimizer_spec.learning_rate, set clip_grad_norm, or look for rewards and states that are very large"
            )
        indices = self._checked(indices)
        if self.stacks:  # a record may have been removed early since it was drawn
            size = int(self.cursor[1])  # type: ignore[index]
            priorities[(indices - self.oldest()) % self.capacity >= size] = 0.0
        self.set_priorities(indices, priorities)
        largest[0] = max(float(largest[0]), highest)

    def epsilon_of(self, indices: np.ndarray) -> Any:
        """What is added to the errors of the records at ``indices [N]``: a number, or ``[N]``."""
        return self.epsilon

    def set_priorities(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        """Set the priorities, with alpha applied, of the records at ``indices [N]``; for host functions only."""
        self.tree.set(indices, priorities)
        if self.max_weight_of == "memory":
            self.minima.set(indices, np.where(priorities > 0.0, priorities, np.inf))

    def _checked(self, indices: np.ndarray) -> np.ndarray:
        """``indices [N]`` as int64, checked to be of present or former records."""
        indices = np.asarray(indices, np.int64)
        places = self.capacity if self.stacks else int(self.cursor[1])  # type: ignore[index]
        # As unsigned numbers, negative ones are very large.
        if len(indices) and indices.view(np.uint64).max() >= places:
            held = f"0 to {places - 1}" if places else "none yet"
            raise InputError(
                f"{self.scope_path}: expected indices of records from get_records, {held}, given "
                f"{indices.min()} to {indices.max()}"
            )
        return indices

    def _fill_range(self, start: int, stop: int, priority: float) -> None:
        self.tree.fill(start, stop, priority)
        if self.max_weight_of == "memory":
            self.minima.fill(start, stop, priority or np.inf)

    # For host functions only.

    @cached_property
    def tree(self) -> SumTree:
        """The priorities."""
        return SumTree(self.nodes, self.use_kernels)  # type: ignore[arg-type, attr-defined]

    @cached_property
    def minima(self) -> MinTree:
        """The priorities above 0; with ``max_weight_of="memory"`` only."""
        return MinTree(self.smallest, self.use_kernels)  # type: ignore[arg-type, attr-defined]
