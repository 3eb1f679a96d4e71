"""Hypothesis strategies for Spaces and their samples. Needs `rlgraph-spaces[testing]`.

```python
@given(spaces_and_samples(containers=(Dict,), max_depth=1))
def test_contains(pair):
    space, sample = pair
    assert space.contains(sample)
```

Options restrict the leaves (`dtypes`, `shapes`, `batch_ranks`, `time_ranks`) and the containers (`containers`,
`max_depth`, `max_children`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np

try:
    from hypothesis import strategies as st
except ImportError as error:
    message = "rlgraph.spaces.testing needs hypothesis: pip install 'rlgraph-spaces[testing]'"
    raise ImportError(message) from error

from rlgraph.spaces.bool_box import BoolBox
from rlgraph.spaces.container_space import ContainerSpace
from rlgraph.spaces.containers import Dict, Tuple
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.int_box import IntBox
from rlgraph.spaces.ranks import Rank, is_fixed
from rlgraph.spaces.space import BoxSpace, Space
from rlgraph.spaces.text_box import TextBox

__all__ = [
    "DTYPES",
    "FLOATS",
    "INTS",
    "RANKS",
    "bool_boxes",
    "box_spaces",
    "float_boxes",
    "int_boxes",
    "samples",
    "shapes",
    "spaces",
    "spaces_and_samples",
    "text_boxes",
]

Shapes: TypeAlias = st.SearchStrategy[tuple[int, ...]]

FLOATS = ("float16", "float32", "float64")
INTS = ("uint8", "int16", "int32", "int64")
DTYPES = (*FLOATS, *INTS, "bool", "str")
"""All dtypes of leaves."""
RANKS: tuple[Rank, ...] = (False, True, 1, 3, "demo")
"""Batch and time ranks: absent, unknown, fixed, named."""


def shapes(*, max_rank: int = 3, max_side: int = 3) -> Shapes:
    """Shapes without batch and time rank, including empty ones (a side of 0)."""
    return st.lists(st.integers(0, max_side), max_size=max_rank).map(tuple)


_ANY_SHAPE = shapes()


@st.composite
def float_boxes(
    draw: st.DrawFn, *, dtypes: Collection[str] = FLOATS, shapes: Shapes = _ANY_SHAPE
) -> FloatBox:
    """FloatBoxes with no, one or two bounds per element, shared or not."""
    dtype = draw(st.sampled_from(sorted(dtypes)))
    width: Any = int(dtype[-2:])
    shape = draw(shapes)
    finite = st.floats(allow_nan=False, allow_infinity=False, width=width)

    def pair() -> tuple[float, float]:
        low, high = sorted((draw(finite), draw(finite)))
        return (low if draw(st.booleans()) else -np.inf), (high if draw(st.booleans()) else np.inf)

    if draw(st.booleans()):
        return FloatBox(*pair(), shape, dtype=dtype)
    pairs = np.array([pair() for _ in range(int(np.prod(shape)))], np.float64).reshape(*shape, 2)
    return FloatBox(pairs[..., 0], pairs[..., 1], shape, dtype=dtype)


@st.composite
def int_boxes(draw: st.DrawFn, *, dtypes: Collection[str] = INTS, shapes: Shapes = _ANY_SHAPE) -> IntBox:
    """IntBoxes with categories or with no, one or two bounds, shared or per element."""
    dtype = draw(st.sampled_from(sorted(dtypes)))
    info = np.iinfo(dtype)
    shape = draw(shapes)
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


def bool_boxes(*, shapes: Shapes = _ANY_SHAPE) -> st.SearchStrategy[BoolBox]:
    """BoolBoxes."""
    return st.builds(BoolBox, shapes)


@st.composite
def text_boxes(draw: st.DrawFn, *, shapes: Shapes = _ANY_SHAPE) -> TextBox:
    """TextBoxes with and without maximum length and character set."""
    charset = draw(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
    return TextBox(draw(shapes), draw(st.none() | st.integers(0, 8)), charset)


def _leaves(dtypes: Collection[str], shapes: Shapes) -> st.SearchStrategy[BoxSpace]:
    unknown = sorted(set(dtypes) - set(DTYPES))
    if unknown or not dtypes:
        raise mismatch("dtypes", f"some of {', '.join(DTYPES)}", repr(unknown))
    floats, ints = [[each for each in kind if each in dtypes] for kind in (FLOATS, INTS)]
    kinds: list[st.SearchStrategy[Any]] = [
        *([float_boxes(dtypes=floats, shapes=shapes)] if floats else []),
        *([int_boxes(dtypes=ints, shapes=shapes)] if ints else []),
        *([bool_boxes(shapes=shapes)] if "bool" in dtypes else []),
        *([text_boxes(shapes=shapes)] if "str" in dtypes else []),
    ]
    return st.one_of(kinds)


def _ranked(
    plain: st.SearchStrategy[Any], batch_ranks: Collection[Rank], time_ranks: Collection[Rank]
) -> st.SearchStrategy[Any]:
    ranks = (st.sampled_from(list(batch_ranks)), st.sampled_from(list(time_ranks)), st.booleans())
    return st.builds(lambda space, *given: space.with_extra_ranks(*given), plain, *ranks)


def box_spaces(
    *,
    dtypes: Collection[str] = DTYPES,
    shapes: Shapes = _ANY_SHAPE,
    batch_ranks: Collection[Rank] = RANKS,
    time_ranks: Collection[Rank] = RANKS,
) -> st.SearchStrategy[BoxSpace]:
    """FloatBoxes, IntBoxes, BoolBoxes and TextBoxes.

    Args:
        dtypes: some of `DTYPES`; "str" means TextBox.
        shapes: a strategy for shapes without ranks.
        batch_ranks, time_ranks: the ranks to choose from, e.g. `[True]`; `[False]` for none at all.
    """
    return _ranked(_leaves(dtypes, shapes), batch_ranks, time_ranks)


def spaces(
    *,
    dtypes: Collection[str] = DTYPES,
    shapes: Shapes = _ANY_SHAPE,
    batch_ranks: Collection[Rank] = RANKS,
    time_ranks: Collection[Rank] = RANKS,
    containers: Collection[type[ContainerSpace]] = (Dict, Tuple),
    max_depth: int = 2,
    max_children: int = 3,
) -> st.SearchStrategy[Space]:
    """Leaves and containers of leaves. All leaves of a container have its ranks.

    Args:
        dtypes, shapes, batch_ranks, time_ranks: see `box_spaces`.
        containers: `Dict`, `Tuple` or both.
        max_depth: maximum nesting of containers; 0: only leaves.
        max_children: maximum number of children of a container, which may be empty.
    """
    # "type" and "shape" also name arguments and spec keys, and must work as keys.
    keys = st.sampled_from(["a", "b", "a_b", "type", "spaces", "shape", "time_major"])
    leaves = _leaves(dtypes, shapes)
    nested: st.SearchStrategy[Any] = leaves
    order = sorted(containers, key=lambda container: container.__name__)  # the order of a set varies
    for _ in range(max_depth):
        makers: dict[type[ContainerSpace], st.SearchStrategy[Any]] = {
            Dict: st.dictionaries(keys, nested, max_size=max_children).map(Dict),
            Tuple: st.lists(nested, max_size=max_children).map(Tuple),
        }
        nested = st.one_of(leaves, *(makers[container] for container in order))
    return _ranked(nested, batch_ranks, time_ranks)


@st.composite
def samples(draw: st.DrawFn, space: Space, *, min_size: int = 0, max_size: int = 3) -> Any:
    """Samples of a Space: random ones and sometimes its bounds.

    Args:
        space: the Space.
        min_size, max_size: the limits for each unknown rank.
    """
    sizes = st.integers(min_size, max_size)
    size = tuple(int(rank) if is_fixed(rank) else draw(sizes) for rank in space.ranks.ordered())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sample = space.sample(size or None, rng=rng)
    edge = draw(st.sampled_from(["none", "low", "high"]))
    if edge == "none":
        return sample
    flat, leaves = space.flatten_sample(sample), space.flatten()
    return space.unflatten_sample({path: _at_bound(leaves[path], flat[path], edge) for path in flat})


def spaces_and_samples(**options: Any) -> st.SearchStrategy[tuple[Space, Any]]:
    """Pairs of a Space and one of its samples; options as in `spaces`."""
    return spaces(**options).flatmap(lambda space: st.tuples(st.just(space), samples(space)))


def _at_bound(leaf: BoxSpace, value: Any, edge: str) -> Any:
    if not isinstance(leaf, (FloatBox, IntBox)):
        return value
    bound = np.broadcast_to(
        np.asarray(leaf._limits()[0 if edge == "low" else 1], leaf.dtype), np.shape(value)
    )
    return np.where(np.isfinite(bound), bound, value).astype(leaf.dtype)[()]
