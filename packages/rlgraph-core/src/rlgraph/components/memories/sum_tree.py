"""A sum tree: drawing an index with a probability proportional to its priority, in logarithmic time."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The tree's upper levels are not kept: one cumulative sum over this many nodes is cheaper than to go down ten levels.
TOP = 1024


class SumTree:
    """A binary heap in one array, every node the sum of its two children; whole batches go up and down level by level.

    Schaul et al. (2016), appendix B.2.1, https://arxiv.org/abs/1511.05952. A sum is computed anew from its children, so
    no rounding error builds up.

    Args:
        nodes: float64 zeros of `size_for(capacity)`, kept by the owner: a checkpoint of it is one of the tree.
    """

    def __init__(self, nodes: np.ndarray):
        self.nodes = nodes
        self.first_leaf = len(nodes) // 2
        self.top = min(TOP, self.first_leaf)
        # Two siblings are one complex number, so that one gather fetches both.
        self._siblings = nodes.view(np.complex128)
        # Single numbers are read and written several times faster through a memoryview.
        self._numbers: Any = nodes.data

    @staticmethod
    def size_for(capacity: int) -> int:
        """The number of nodes of a tree with `capacity` leaves."""
        return int(2 << (capacity - 1).bit_length())

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(self.nodes[self.top : 2 * self.top].sum())

    def get(self, indices: np.ndarray) -> np.ndarray:
        """The priorities ``[N]`` of ``indices [N]``."""
        return self.nodes.take(indices + self.first_leaf)

    def set(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        """Set ``priorities [N]`` of ``indices [N]``; of an index that is there twice, the last counts."""
        node = indices + self.first_leaf
        self.nodes[node] = priorities
        for _ in range((self.first_leaf // self.top).bit_length() - 1):
            node >>= 1
            children = self._siblings.take(node)
            self.nodes[node] = children.real + children.imag

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
            self.nodes[first:last] = children.real + children.imag

    def _set_one(self, node: int, priority: float) -> None:
        numbers = self._numbers
        numbers[node] = priority
        while node >= 2 * self.top:
            node >>= 1
            numbers[node] = numbers[2 * node] + numbers[2 * node + 1]

    def find(self, shares: np.ndarray) -> np.ndarray:
        """The indices ``[N]`` in whose part of the whole ``shares [N]``, each in [0, 1), lie."""
        top = self.nodes[self.top : 2 * self.top]
        ends = top.cumsum()
        mass = shares * ends[-1]
        node = ends.searchsorted(mass, side="right")
        np.minimum(node, self.top - 1, out=node)  # a share that rounding made the whole
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
