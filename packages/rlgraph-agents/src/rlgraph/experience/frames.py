"""Stacks of frames in messages: each frame is sent once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.spaces import FloatBox, IntBox, Space

#: Channels of one coloured picture.
_COLOURS = 3


def frames_of(states: Space) -> dict[str, int]:
    """Path of each part of the states that may be a stack of frames -> how many channels are one frame.

    These are pictures ``[height, width, channels]`` with several channels, but not those of one coloured picture. A
    part that is not a stack is sent whole, since its pictures do not continue each other.
    """
    found: dict[str, int] = {}
    for path, box in states.flatten().items():
        if isinstance(box, FloatBox | IntBox) and len(box.shape) == 3 and box.shape[-1] not in (1, _COLOURS):
            found[path] = 1 if box.shape[-1] % _COLOURS else _COLOURS
    return found


def stacks_to_frames(
    states: str, reached: str, arrays: dict[str, np.ndarray], width: int, ended: Any
) -> dict[str, np.ndarray]:
    """The newest frame of each stack, and whole stacks where one does not continue the stack before it.

    Nothing, if that is not less.

    Args:
        states, reached: names of the stacks ``[T + 1, N, ...]`` and of those at the ends.
        arrays: has them.
        width: entries of the last axis that are one frame.
        ended: step and slot of each end, as of ``np.nonzero``.
    """
    stacks, ends = arrays[states], arrays[reached]
    fresh = np.ones(stacks.shape[:2], bool)
    fresh[1:] = _differ(stacks[1:], stacks[:-1], width, 2)
    if np.count_nonzero(fresh) * stacks.shape[-1] > fresh.size * (stacks.shape[-1] - width):
        return {}
    fresh_ends = _differ(ends, stacks[:-1][ended], width, 1)
    return {
        states: stacks[..., -width:],
        reached: ends[..., -width:],
        f"{states}.fresh": fresh,
        f"{states}.stacks": stacks[fresh],
        f"{reached}.fresh": fresh_ends,
        f"{reached}.stacks": ends[fresh_ends],
    }


def _differ(stacks: np.ndarray, before: np.ndarray, width: int, ranks: int) -> np.ndarray:
    """Where stacks, with this number of leading ranks, do not continue those before them."""
    now, earlier = _words(stacks), _words(before)
    if now is None or earlier is None:
        different = stacks[..., :-width] != before[..., width:]
    else:
        shift = now.dtype.type(8 * stacks.dtype.itemsize * width)
        different = (now ^ (earlier >> shift)) << shift
    return different.any(axis=tuple(range(ranks, different.ndim)))


def _words(stacks: np.ndarray) -> np.ndarray | None:
    """Pixels of all frames as one number, the oldest frame in its lowest bits; None: they do not fit into one."""
    size = stacks.dtype.itemsize * stacks.shape[-1]
    fits = size in (2, 4, 8) and stacks.flags.c_contiguous and sys.byteorder == "little"
    return stacks.view(f"u{size}")[..., 0] if fits else None


def frames_to_stacks(
    states: str,
    reached: str,
    arrays: dict[str, np.ndarray],
    width: int,
    shape: tuple[int, int],
    element: tuple[int, ...],
    ended: Any,
) -> dict[str, np.ndarray]:
    """The inverse of `stacks_to_frames`.

    Args:
        states, reached, arrays, width, ended: see there.
        shape: T and N.
        element: shape of one stack.

    Raises:
        InputError: the arrays do not fit.
    """
    if f"{states}.fresh" not in arrays:
        return {}
    try:
        frames, ends = arrays[states], arrays[reached]
        fresh, fresh_ends = arrays[f"{states}.fresh"], arrays[f"{reached}.fresh"]
        rows = {
            states: (shape[0] + 1, shape[1]),
            f"{states}.fresh": (shape[0] + 1, shape[1]),
            f"{states}.stacks": (fresh.sum(),),
            f"{reached}.stacks": (fresh_ends.sum(),),
        }
        for name, expected in rows.items():
            if arrays[name].shape[: len(expected)] != expected:
                raise ValueError(f"{name} has shape {arrays[name].shape}")
        stacks = np.empty((shape[0] + 1, shape[1], *element), frames.dtype)
        whole = arrays[f"{states}.stacks"]
        given = 0
        add = _adding(stacks, frames, width)
        for t in range(shape[0] + 1):
            add(t)
            if number := int(np.count_nonzero(fresh[t])):
                stacks[t][fresh[t]] = whole[given : given + number]
                given += number
        last = np.concatenate([stacks[:-1][ended][..., width:], ends], axis=-1)
        last[fresh_ends] = arrays[f"{reached}.stacks"]
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"fragment: {states}: expected frames of stacks ({error})") from None
    return {states: stacks, reached: last}


def _adding(stacks: np.ndarray, frames: np.ndarray, width: int) -> Callable[[int], None]:
    """``add(t)`` makes the stacks at `t` of those before them and the frames there."""
    words = _words(stacks)
    if words is None or width > 1:

        def add(t: int) -> None:
            if t:
                stacks[t, ..., :-width] = stacks[t - 1, ..., width:]
            stacks[t, ..., -width:] = frames[t]

        return add
    bits = 8 * frames.dtype.itemsize
    shift, top = words.dtype.type(bits), words.dtype.type(8 * words.dtype.itemsize - bits)
    newest = frames[..., 0].view(f"u{frames.dtype.itemsize}").astype(words.dtype) << top

    def add_words(t: int) -> None:
        np.bitwise_or(words[t - 1] >> shift if t else 0, newest[t], words[t])

    return add_words
