"""Segment trees: sum or minimum of all priorities, and sampling in proportion to priorities.

Setting priorities, and searching, take logarithmic time; batches are processed level by level.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from rlgraph.core.name_hints import NameHints

#: Nodes above these are not stored: one cumulative sum over these is cheaper than descending nine levels.
TOP = 512


class SegmentTree(NameHints):
    """A binary heap in one array, where every node combines its two children.

    A node is recomputed from its children, so rounding errors do not accumulate.

    Args:
        nodes: float64 [`size_for` (capacity)], full of `neutral` at first; held by the owner, so that its
            checkpoint includes the tree.
        use_kernels: compute with Numba if it is installed, with bit-identical results. Its functions are compiled when
            the first tree needs them, and cached on this machine.
    """

    #: Combines two nodes: arrays, and single numbers.
    combine: ClassVar[Any]
    combine_two: ClassVar[Any]
    #: The value of an index that was never set.
    neutral: ClassVar[float]

    def __init__(self, nodes: np.ndarray, use_kernels: bool = False):
        self.nodes = nodes
        self.first_leaf = len(nodes) // 2
        self.top = min(TOP, self.first_leaf)
        self._kernels = numba_kernels() if use_kernels else None
        # Two siblings are one complex number, so that one gather fetches both.
        self._siblings = nodes.view(np.complex128)
        # Single numbers are read and written several times faster through a memoryview.
        self._numbers: Any = nodes.data

    @classmethod
    def of(cls, capacity: int, use_kernels: bool = False) -> Self:
        """A tree with room for `capacity` priorities, of which none is set."""
        return cls(np.full(cls.size_for(capacity), cls.neutral), use_kernels)

    @staticmethod
    def size_for(capacity: int) -> int:
        """The number of nodes of a tree with `capacity` leaves."""
        return int(2 << (capacity - 1).bit_length())

    def get(self, indices: np.ndarray) -> np.ndarray:
        """The priorities ``[N]`` of ``indices [N]``."""
        return self.nodes.take(indices + self.first_leaf)

    def set(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        """Set ``priorities [N]`` float64 of ``indices [N]`` int64; for a duplicate index the last one counts."""
        if self._kernels is not None:
            self._kernels.set_priorities(
                self.nodes, self.top, indices, priorities, self.combine is np.minimum
            )
            return
        node = indices + self.first_leaf
        self.nodes[node] = priorities
        for _ in range((self.first_leaf // self.top).bit_length() - 1):
            node >>= 1
            children = self._siblings.take(node)
            self.nodes[node] = self.combine(children.real, children.imag)

    def insert(self, index: int, priority: float) -> None:
        """Set the priority of one index.

        Raises:
            IndexError: there is no such index.
        """
        if not 0 <= index < self.first_leaf:
            raise IndexError(f"index: expected 0 to {self.first_leaf - 1}, given {index}")
        self._set_one(index + self.first_leaf, priority)

    def reduce(self, start: int = 0, stop: int | None = None) -> float:
        """What the priorities of the indices from `start` to `stop` (exclusive; None: the end) combine to."""
        leaves = self.nodes[self.first_leaf :][start:stop]
        return float(self.combine.reduce(leaves, initial=self.neutral))

    def fill(self, start: int, stop: int, priority: float) -> None:
        """Set the priority of all indices from `start` to `stop` (exclusive)."""
        if stop - start == 1:
            self._set_one(start + self.first_leaf, priority)
            return
        first, last = start + self.first_leaf, stop + self.first_leaf
        self.nodes[first:last] = priority
        while first >= 2 * self.top:
            first, last = first >> 1, (last + 1) >> 1
            children = self._siblings[first:last]
            self.nodes[first:last] = self.combine(children.real, children.imag)

    def _set_one(self, node: int, priority: float) -> None:
        numbers, combine = self._numbers, self.combine_two
        numbers[node] = priority
        while node >= 2 * self.top:
            node >>= 1
            numbers[node] = combine(numbers[2 * node], numbers[2 * node + 1])


class SumTree(SegmentTree):
    """A segment tree of sums (Schaul et al., 2016, appendix B.2.1, https://arxiv.org/abs/1511.05952)."""

    combine = np.add
    combine_two = staticmethod(operator.add)
    neutral = 0.0

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(self.nodes[self.top : 2 * self.top].sum())

    def find(self, shares: np.ndarray) -> np.ndarray:
        """The indices ``[N]`` whose parts of the total contain ``shares [N]``, each in [0, 1)."""
        if self._kernels is not None:
            found: np.ndarray = self._kernels.find(self.nodes, self.top, shares)
            return found
        top = self.nodes[self.top : 2 * self.top]
        ends = top.cumsum()
        mass = shares * ends[-1]
        node = ends.searchsorted(mass, side="right")
        np.minimum(node, self.top - 1, out=node)  # a share that was rounded to 1
        mass -= ends.take(node)
        node += self.top
        mass += self.nodes.take(node)
        for _ in range((self.first_leaf // self.top).bit_length() - 1):
            node += node
            left = self.nodes.take(node)
            right = mass >= left
            left *= right
            mass -= left
            node += right
        node -= self.first_leaf
        return node

    def index_of_prefix_sum(self, prefix_sum: float) -> int:
        """The first index at which the sum of the priorities up to it, it included, exceeds `prefix_sum`.

        Raises:
            ValueError: `prefix_sum` is negative, or not below the total.
        """
        sums = self.nodes[self.first_leaf :].cumsum()
        if not 0 <= prefix_sum < sums[-1]:
            raise ValueError(f"prefix_sum: expected a number in [0, {sums[-1]}), given {prefix_sum}")
        return int(sums.searchsorted(prefix_sum, side="right"))


class MinTree(SegmentTree):
    """A segment tree of minima."""

    combine = np.minimum
    combine_two = staticmethod(min)
    neutral = np.inf

    @property
    def minimum(self) -> float:
        """The smallest of all priorities; infinite if none was set."""
        return float(self.nodes[self.top : 2 * self.top].min())


@cache
def numba_kernels() -> Any:
    """The module of functions that Numba compiles; None if it is not installed, or has no writable cache folder."""
    try:
        from rlgraph.components.memories import segment_tree_kernels
    except (ImportError, RuntimeError):
        return None
    return segment_tree_kernels
