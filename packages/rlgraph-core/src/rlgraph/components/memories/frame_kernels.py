"""Inserts stacks of four frames of bytes, compiled by Numba (an extra of rlgraph-core).

A pixel of all frames is one word, with the oldest frame in the lowest byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def follows(tail: Any, state: Any, before: Any, next_state: Any, frame: Any) -> Any:
    """Whether `state` is a tail and `next_state` one frame ahead of another one; all are words ``[pixels]``.

    Always writes the newest frame of `next_state` into the bytes `frame`.
    """
    differ, eight, rest = np.uint32(0), np.uint32(8), np.uint32(24)
    three = np.uint32(0xFFFFFF)
    # Loops without an early exit are vectorized.
    for i in range(len(tail)):
        differ |= tail[i] ^ state[i]
    for i in range(len(before)):
        word = next_state[i]
        differ |= (before[i] >> eight) ^ (word & three)
        frame[i] = np.uint8(word >> rest)
    return differ == 0


@njit(cache=True)
def add_next(
    tails: Any,
    tail_pointers: Any,
    tail_users: Any,
    frames: Any,
    free: Any,
    pointers: Any,
    users: Any,
    counts: Any,
    state: Any,
    next_state: Any,
    record: int,
    oldest: int,
) -> Any:
    """See `FrameStore.add_next`; `counts` is its ``state``."""
    count, left, lag, next_lag = counts[0], counts[1], counts[2], counts[4]
    if counts[3] != 0 or counts[5] != 1 or left == 0:
        return False
    if not 0 < lag <= count or not 0 < next_lag <= count:
        return False
    tail, before, last = (count - lag) % len(tails), (count - next_lag) % len(tails), count % len(tails)
    if tail_users[tail] <= oldest or tail_users[before] <= oldest:
        return False
    words, next_words = state.ravel().view(np.uint32), next_state.ravel().view(np.uint32)
    slot = free[left - 1]
    before_words = tails[before].ravel().view(np.uint32)
    if not follows(
        tails[tail].ravel().view(np.uint32), words, before_words, next_words, frames[slot].ravel()
    ):
        return False
    place = record % pointers.shape[1]
    for j in range(4):
        pointers[0, place, j] = tail_pointers[tail, j]
        pointers[1, place, j] = tail_pointers[before, j + 1] if j < 3 else slot
    for j in range(4):
        users[pointers[0, place, j]] = users[pointers[1, place, j]] = record + 1
        tail_pointers[last, j] = pointers[1, place, j]
    tails[last].ravel().view(np.uint32)[:] = next_words
    tail_users[tail] = tail_users[last] = record + 1
    counts[0], counts[1] = count + 1, left - 1
    return True
