"""Hypothesis strategies for Spaces and their samples. Needs `rlgraph-spaces[testing]`.

```python
@given(spaces().flatmap(lambda space: st.tuples(st.just(space), samples(space))))
def test_contains(pair):
    space, sample = pair
    assert space.contains(sample)
```
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from hypothesis import strategies as st
except ImportError as error:
    message = "rlgraph.spaces.testing needs hypothesis: pip install 'rlgraph-spaces[testing]'"
    raise ImportError(message) from error

from rlgraph.spaces.bool_box import BoolBox
from rlgraph.spaces.box_space import BoxSpace
from rlgraph.spaces.containers import Dict, Tuple
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.int_box import IntBox
from rlgraph.spaces.ranks import Rank, is_fixed
from rlgraph.spaces.space import Space
from rlgraph.spaces.text_box import TextBox

__all__ = ["box_spaces", "float_boxes", "int_boxes", "ranks", "samples", "spaces", "text_boxes"]


def _shapes() -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def float_boxes(draw: st.DrawFn) -> FloatBox:
    """FloatBoxes of every dtype; no, one or two bounds per element, shared or not."""
    dtype = draw(st.sampled_from(["float16", "float32", "float64"]))
    width: Any = int(dtype[-2:])
    shape = draw(_shapes())
    finite = st.floats(allow_nan=False, allow_infinity=False, width=width)

    def pair() -> tuple[float, float]:
        low, high = sorted((draw(finite), draw(finite)))
        return (low if draw(st.booleans()) else -np.inf), (high if draw(st.booleans()) else np.inf)

    if draw(st.booleans()):
        return FloatBox(*pair(), shape, dtype=dtype)
    pairs = np.array([pair() for _ in range(int(np.prod(shape)))], np.float64).reshape(*shape, 2)
    return FloatBox(pairs[..., 0], pairs[..., 1], shape, dtype=dtype)


@st.composite
def int_boxes(draw: st.DrawFn) -> IntBox:
    """IntBoxes of every dtype; categories, no, one or two bounds, shared or one per element."""
    dtype = draw(st.sampled_from(["uint8", "int16", "int32", "int64"]))
    info = np.iinfo(dtype)
    shape = draw(_shapes())
    if draw(st.booleans()):
        return IntBox(draw(st.integers(1, 100)), shape=shape, dtype=dtype)
    values = st.integers(int(info.min), int(info.max))

    def pair() -> tuple[int, int]:
        low, high = sorted((draw(values), draw(values)))
        return low, high + 1 if high < info.max or low == high else high

    if draw(st.booleans()):
        low, high = pair()
        return IntBox(
            low if draw(st.booleans()) else None, high if draw(st.booleans()) else None, shape, dtype
        )
    pairs = [pair() for _ in range(int(np.prod(shape)))]
    if dtype == "int64":  # bounds that differ must fit int64 themselves
        pairs = [(min(low, info.max - 1), min(high, info.max)) for low, high in pairs]
    array = np.array(pairs, np.int64).reshape(*shape, 2)
    return IntBox(array[..., 0], array[..., 1], shape, dtype=dtype)


@st.composite
def text_boxes(draw: st.DrawFn) -> TextBox:
    """TextBoxes with and without longest length and character set."""
    charset = draw(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
    return TextBox(draw(_shapes()), draw(st.none() | st.integers(0, 8)), charset)


def ranks() -> st.SearchStrategy[Rank]:
    """Batch and time ranks: none, unknown, fixed, named."""
    return st.sampled_from([False, True, 1, 3, "demo"])


def _with_ranks(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda space, batch, time, major: space.with_extra_ranks(batch, time, major),
        leaves,
        ranks(),
        ranks(),
        st.booleans(),
    )


def _leaves(text: bool) -> st.SearchStrategy[BoxSpace]:
    leaves = float_boxes() | int_boxes() | st.builds(BoolBox, _shapes())
    return leaves | text_boxes() if text else leaves


def box_spaces(*, with_ranks: bool = True, text: bool = True) -> st.SearchStrategy[BoxSpace]:
    """FloatBox, IntBox, BoolBox and TextBox (if `text`), with ranks of all kinds or without any."""
    return _with_ranks(_leaves(text)) if with_ranks else _leaves(text)


def spaces(*, with_ranks: bool = True, text: bool = True, max_leaves: int = 6) -> st.SearchStrategy[Space]:
    """Leaves, Dicts and Tuples of any nesting."""

    def containers(children: st.SearchStrategy[Space]) -> st.SearchStrategy[Space]:
        # "type" and "shape" are also names of arguments and of spec keys: they must work as keys.
        keys = st.sampled_from(["a", "b", "a_b", "type", "spaces", "shape", "time_major"])
        return st.dictionaries(keys, children, max_size=3).map(Dict) | st.lists(children, max_size=3).map(
            Tuple
        )

    base: st.SearchStrategy[Space] = st.recursive(_leaves(text), containers, max_leaves=max_leaves)
    return _with_ranks(base) if with_ranks else base


@st.composite
def samples(draw: st.DrawFn, space: Space) -> Any:
    """Samples of a Space: random ones and, now and then, its bounds; unknown ranks have 0 to 3 entries."""
    axes = space.ranks.ordered()
    size = tuple(int(rank) if is_fixed(rank) else draw(st.integers(0, 3)) for rank in axes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sample = space.sample(size or None, rng=rng)
    edge = draw(st.sampled_from(["none", "low", "high"]))
    if edge == "none":
        return sample
    flat, leaves = space.flatten_sample(sample), space.flatten()
    return space.unflatten_sample({path: _at_bound(leaves[path], flat[path], edge) for path in flat})


def _at_bound(leaf: BoxSpace, value: Any, edge: str) -> Any:
    if not isinstance(leaf, (FloatBox, IntBox)):
        return value
    bound = np.broadcast_to(
        np.asarray(leaf._limits()[0 if edge == "low" else 1], leaf.dtype), np.shape(value)
    )
    return np.where(np.isfinite(bound), bound, value).astype(leaf.dtype)[()]
