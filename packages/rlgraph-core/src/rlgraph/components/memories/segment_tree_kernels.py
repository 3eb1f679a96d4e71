"""Numba kernels of the segment tree (an extra of rlgraph-core).

All indices move one level up or down before any moves on. With the loops swapped, every step would wait for the memory
access of the step before, and branch prediction would fail.

Operations and their order are those of `rlgraph.components.memories.segment_tree`: the numbers are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def set_priorities(nodes: Any, top: int, indices: Any, priorities: Any, is_minimum: bool) -> None:
    """See `SegmentTree.set`; `top` nodes have no node above them."""
    number, first = len(indices), len(nodes) // 2
    places = np.empty(number, np.int64)
    for i in range(number):
        places[i] = indices[i] + first
        nodes[places[i]] = priorities[i]
    while first > top:
        first >>= 1
        for i in range(number):
            place = places[i] >> 1
            left, right = nodes[2 * place], nodes[2 * place + 1]
            nodes[place] = min(left, right) if is_minimum else left + right
            places[i] = place


@njit(cache=True)
def find(nodes: Any, top: int, shares: Any) -> Any:
    """See `SumTree.find`."""
    number, first = len(shares), len(nodes) // 2
    ends = np.empty(top)
    total = 0.0
    for i in range(top):
        total += nodes[top + i]
        ends[i] = total
    places, masses = np.zeros(number, np.int64), np.empty(number)
    for i in range(number):
        masses[i] = shares[i] * total
    # The first of the top nodes that ends after the mass, or the last one.
    step = top
    while step > 1:
        step >>= 1
        for i in range(number):
            if ends[places[i] + step - 1] <= masses[i]:
                places[i] += step
    for i in range(number):
        masses[i] -= ends[places[i]]
        places[i] += top
        masses[i] += nodes[places[i]]
    while top < first:
        top <<= 1
        for i in range(number):
            place = 2 * places[i]
            left = nodes[place]
            turns_right = masses[i] >= left
            masses[i] -= left * turns_right
            places[i] = place + turns_right
    for i in range(number):
        places[i] -= first
    return places
