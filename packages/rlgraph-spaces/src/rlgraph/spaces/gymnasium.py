"""Converts Spaces from and to gymnasium's. Importing this module does not import gymnasium.

* Box of floats <-> FloatBox. Box of integers -> IntBox (its high is inclusive there, exclusive here).
* Discrete <-> IntBox of shape (). MultiDiscrete <-> IntBox of another shape (uint8 goes to a Box: an image).
* MultiBinary <-> BoolBox with a shape; its 0/1 samples are bools here. BoolBox of shape () -> Discrete(2).
* Text <-> TextBox; the minimum length of a Text is lost.
* Dict <-> Dict, Tuple <-> Tuple, nested to any depth.

A uint8 Box cannot be unbounded: such an IntBox gets the range of its dtype. Integer dtypes that IntBox lacks
(int8, uint16, uint32, uint64) become the next wider one.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from rlgraph.spaces.bool_box import BoolBox
from rlgraph.spaces.containers import Dict, Tuple
from rlgraph.spaces.errors import SpaceError, join, mismatch
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.int_box import IntBox
from rlgraph.spaces.space import Space, read_spec
from rlgraph.spaces.text_box import TextBox

__all__ = ["from_gymnasium", "to_gymnasium"]

_KINDS = "Box, Discrete, MultiDiscrete, MultiBinary, Text, Dict and Tuple"
_WIDER = {"int8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
# Kind of a gymnasium space without a counterpart -> why, and what to do in a wrapper of the environment.
_HINTS = {
    "Graph": "its shape differs from value to value: wrap the environment and give a Dict of padded Boxes",
    "Sequence": "its length differs from value to value: wrap the environment and pad to a Box",
    "OneOf": "its structure differs from value to value: wrap the environment and give a Dict of all "
    "alternatives and a Discrete that selects one",
}
_HINT = "wrap the environment and give one of these"


def _spaces() -> Any:
    try:
        from gymnasium import spaces
    except ImportError as error:
        message = "converting spaces needs gymnasium: pip install 'rlgraph-spaces[gymnasium]'"
        raise ImportError(message) from error
    return spaces


def from_gymnasium(space: Any) -> Space:
    """Converts a gymnasium space to a Space without batch and time rank.

    Raises:
        SpaceError: for a space without a counterpart, with its path, the reason and what to do.
    """
    return _from(space, "", _spaces())


def _from(space: Any, path: str, spaces: Any) -> Space:
    try:
        if isinstance(space, spaces.Dict):
            return Dict({key: _from(child, str(key), spaces) for key, child in space.spaces.items()})
        if isinstance(space, spaces.Tuple):
            return Tuple([_from(child, str(index), spaces) for index, child in enumerate(space.spaces)])
        if isinstance(space, spaces.Box):
            return _from_box(space)
        if isinstance(space, spaces.Discrete):
            return IntBox(int(space.start), int(space.start) + int(space.n), dtype=_dtype(space))
        if isinstance(space, spaces.MultiDiscrete):
            # int64: the exclusive high may not fit a small dtype.
            start = np.asarray(space.start, np.int64)
            return IntBox(start, start + space.nvec.astype(np.int64), space.shape, _dtype(space))
        if isinstance(space, spaces.MultiBinary):
            return BoolBox(space.shape)
        if isinstance(space, spaces.Text):
            return TextBox(max_length=space.max_length, charset=space.characters)
    except SpaceError as error:
        raise error.under(path) from None
    kind = type(space).__name__
    expected = f"a gymnasium space with a counterpart ({_KINDS})"
    is_old = type(space).__module__.partition(".")[0] == "gym"
    hint = (
        "take it from gymnasium.spaces, not from the old package gym" if is_old else _HINTS.get(kind, _HINT)
    )
    raise mismatch(path, expected, f"{space!r} (a {kind})", hint)


def _dtype(space: Any) -> str:
    return _WIDER.get(str(space.dtype), str(space.dtype))


def _from_box(space: Any) -> Space:
    if space.dtype.kind == "f":
        return FloatBox(space.low, space.high, space.shape, dtype=space.dtype)
    if space.dtype.kind == "b":
        return BoolBox(space.shape)
    low, high, dtype = space.low, space.high, _dtype(space)
    # gymnasium turns an infinite side into the range of the dtype; a wider dtype keeps this range as bounds.
    info = np.iinfo(dtype)
    low = None if np.all(low == info.min) and not np.all(space.bounded_below) else low
    if np.all(high == info.max) and not np.all(space.bounded_above):
        return IntBox(low, None, space.shape, dtype)
    if np.all(high == high.flat[:1]):
        # As a Python int: the largest int64 plus one does not fit an int64.
        return IntBox(low, int(high.flat[0]) + 1, space.shape, dtype)
    if np.any(high >= np.iinfo(np.int64).max):
        raise mismatch("high", "a high below 2**63 - 1 where it differs between elements", high.tolist())
    return IntBox(low, high.astype(np.int64) + 1, space.shape, dtype)


def to_gymnasium(space: Any) -> Any:
    """Converts a Space (or a spec) without batch and time rank to a gymnasium space.

    Raises:
        SpaceError: for a Space with ranks, or a TextBox that gymnasium cannot describe, with its path.
    """
    space = read_spec(space)
    if space.has_batch_rank or space.has_time_rank:
        hint = "gymnasium has no ranks: use space.without_ranks()"
        raise mismatch("", "a Space without batch and time rank", repr(space), hint)
    return _to(space, "", _spaces())


def _to(space: Space, path: str, spaces: Any) -> Any:
    if isinstance(space, Dict):
        return spaces.Dict({key: _to(child, join(path, key), spaces) for key, child in space.items()})
    if isinstance(space, Tuple):
        return spaces.Tuple([_to(child, join(path, str(at)), spaces) for at, child in enumerate(space)])
    if isinstance(space, FloatBox):
        low, high = (np.broadcast_to(limit, space.shape) for limit in space._limits())
        return spaces.Box(low, high, space.shape, space.numpy_dtype.type)
    if isinstance(space, IntBox):
        return _to_integers(space, spaces)
    if isinstance(space, BoolBox):
        return _to_bools(space, spaces)
    if isinstance(space, TextBox):
        if space.shape or space.max_length is None or space.charset is None:
            hint = "gymnasium's Text is one string: give max_length and charset, and a Tuple for several"
            raise mismatch(path, "a TextBox of shape () with max_length and charset", repr(space), hint)
        return spaces.Text(space.max_length, min_length=0, charset=space.charset)
    raise mismatch(path, f"a Space with a gymnasium counterpart ({_KINDS})", repr(space))


def _to_bools(space: BoolBox, spaces: Any) -> Any:
    if not space.shape:
        return spaces.Discrete(2)
    if not space.flat_dim:
        return spaces.Box(0, 1, space.shape, np.bool_)  # a MultiBinary cannot be empty
    # An int for one axis: MultiBinary(4) is not equal to MultiBinary((4,)).
    return spaces.MultiBinary(space.shape[0] if space.rank == 1 else space.shape)


def _to_integers(space: IntBox, spaces: Any) -> Any:
    dtype = space.numpy_dtype.type
    low, high = space._limits()
    counts = np.asarray(high, object) - np.asarray(low, object) + 1
    info = np.iinfo(dtype)
    # gymnasium adds start and count up in the dtype itself.
    fits = space.bounded and space.flat_dim > 0 and np.max(counts) <= info.max and np.max(high) < info.max
    # In older versions of gymnasium Discrete is always int64; a Box keeps the dtype.
    any_dtype = "dtype" in inspect.signature(spaces.Discrete.__init__).parameters
    if fits and not space.shape and (any_dtype or space.dtype == "int64"):
        options = {"dtype": dtype} if any_dtype else {}
        return spaces.Discrete(int(counts), start=int(low), **options)
    low, high = (np.broadcast_to(np.asarray(limit, dtype), space.shape) for limit in (low, high))
    if fits and space.shape and space.dtype != "uint8":
        nvec = np.broadcast_to(np.asarray(counts, dtype), space.shape)
        return spaces.MultiDiscrete(nvec, dtype=dtype, start=low)
    # An infinite side differs from the range of the dtype, except for uint8: such a Box must be bounded.
    if space.dtype != "uint8":
        low = -np.inf if space.low is None else low
        high = np.inf if space.high is None else high
    return spaces.Box(low, high, space.shape, dtype)
