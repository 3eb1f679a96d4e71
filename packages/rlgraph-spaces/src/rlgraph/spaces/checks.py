"""Checks of Spaces: equivalence, bounds, and requirements of components."""

from __future__ import annotations

from typing import Any

from rlgraph.spaces.container_space import ContainerSpace
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.space import BoxSpace, Space
from rlgraph.spaces.spec import from_spec

__all__ = ["check_space_equivalence", "is_bounded_space", "sanity_check_space"]


def check_space_equivalence(a: Any, b: Any) -> Space | None:
    """The more general one of two Spaces (or specs) that describe the same arrays, else None.

    Class, dtype and full shape must agree; a dimension of unknown size agrees with any, so that
    FloatBox(add_batch_rank=True) is equivalent to FloatBox(shape=(64,)) and the first is returned. Bounds
    and names of ranks are not compared. If both are as general, `a` is returned.
    """
    a, b = from_spec(a), from_spec(b)
    if _covers(a, b):
        return a
    return b if _covers(b, a) else None


def _covers(general: Space, special: Space) -> bool:
    """True if `general` describes every array that `special` describes."""
    if type(general) is not type(special):
        return False
    if isinstance(general, ContainerSpace) and isinstance(special, ContainerSpace):
        pairs = zip(general._spaces, special._spaces, strict=False)
        return general._names == special._names and all(_covers(one, other) for one, other in pairs)
    assert isinstance(general, BoxSpace)
    assert isinstance(special, BoxSpace)
    both = (general.has_batch_rank, general.has_time_rank) == (special.has_batch_rank, special.has_time_rank)
    if general.dtype != special.dtype or (both and general.time_major != special.time_major):
        return False
    shape, other_shape = general.get_shape(True, True), special.get_shape(True, True)
    return len(shape) == len(other_shape) and all(
        dim is None or dim == other for dim, other in zip(shape, other_shape, strict=True)
    )


def is_bounded_space(space: BoxSpace) -> bool:
    """Whether a leaf has both bounds in every element (True) or no bound at all (False).

    Raises SpaceError for anything between.
    """
    if not isinstance(space, BoxSpace):
        raise mismatch("", "a BoxSpace", repr(space), "ask for each leaf of space.flatten()")
    if not space.bounded and not space.unbounded:
        hint = "give both bounds in every element, or none"
        raise mismatch("", "a Space that is bounded on both sides or on none", repr(space), hint)
    return space.bounded


def sanity_check_space(
    space: Any,
    *,
    allowed_types: Any = None,
    non_allowed_types: Any = None,
    allowed_sub_types: Any = None,
    non_allowed_sub_types: Any = None,
    must_have_batch_rank: bool | None = None,
    must_have_time_rank: bool | None = None,
    must_have_batch_or_time_rank: bool | None = None,
    must_have_categories: bool | None = None,
    num_categories: int | tuple[int, int] | None = None,
    must_have_lower_limit: bool | None = None,
    must_have_upper_limit: bool | None = None,
    rank: int | tuple[int, int] | None = None,
    shape: tuple[int, ...] | None = None,
) -> None:
    """Raises SpaceError (path, expected, given) if a Space does not meet the requirements.

    Args:
        space: a leaf or a container, or its spec; types and ranks are checked on the Space, the rest on every leaf.
        allowed_types, non_allowed_types: one class or several, for the Space itself.
        allowed_sub_types, non_allowed_sub_types: the same for every leaf.
        must_have_batch_rank, must_have_time_rank: True or False; None: either.
        must_have_batch_or_time_rank: at least one of them (True) or neither (False); None: either.
        must_have_categories: whether leaves have a number of categories.
        num_categories, rank: a number, or a (least, most) pair.
        must_have_lower_limit, must_have_upper_limit: whether every element of the leaves has this bound.
        shape: without batch and time rank.
    """
    space = from_spec(space)
    _check_type("", space, allowed_types, non_allowed_types)
    for word, has, must in (
        ("batch", space.has_batch_rank, must_have_batch_rank),
        ("time", space.has_time_rank, must_have_time_rank),
        ("batch or time", space.has_batch_rank or space.has_time_rank, must_have_batch_or_time_rank),
    ):
        if must is not None and has != must:
            raise mismatch("", f"a Space with{'' if must else 'out'} {word} rank", repr(space))
    for path, leaf in space.flatten().items():
        _check_type(path, leaf, allowed_sub_types, non_allowed_sub_types)
        for words, has, must in (
            ("a number of categories", leaf.num_categories is not None, must_have_categories),
            ("a lower limit in every element", leaf.bounded_below, must_have_lower_limit),
            ("an upper limit in every element", leaf.bounded_above, must_have_upper_limit),
        ):
            if must is not None and has != must:
                raise mismatch(path, f"a Space with{'' if must else 'out'} {words}", repr(leaf))
        _check_number(path, leaf, "num_categories", leaf.num_categories, num_categories)
        _check_number(path, leaf, "rank", leaf.rank, rank)
        if shape is not None and leaf.shape != tuple(shape):
            raise mismatch(path, f"a Space with shape {tuple(shape)}", repr(leaf))


def _check_type(path: str, space: Space, allowed: Any, not_allowed: Any) -> None:
    if allowed is not None and not isinstance(space, _classes(allowed)):
        raise mismatch(path, " or ".join(cls.__name__ for cls in _classes(allowed)), repr(space))
    if not_allowed is not None and isinstance(space, _classes(not_allowed)):
        raise mismatch(
            path, "no " + " and no ".join(cls.__name__ for cls in _classes(not_allowed)), repr(space)
        )


def _classes(types: Any) -> tuple[type, ...]:
    classes = (types,) if isinstance(types, (type, str)) else tuple(types)
    if not all(isinstance(cls, type) for cls in classes):
        raise mismatch("", "classes to check for, such as FloatBox", repr(types))
    return classes


def _check_number(path: str, leaf: BoxSpace, name: str, value: int | None, wanted: Any) -> None:
    if wanted is None:
        return
    least, most = wanted if isinstance(wanted, (tuple, list)) else (wanted, wanted)
    if value is None or not least <= value <= most:
        words = f"{least}" if least == most else f"from {least} to {most}"
        raise mismatch(path, f"a Space with {name} {words}", f"{value} in {leaf!r}")
