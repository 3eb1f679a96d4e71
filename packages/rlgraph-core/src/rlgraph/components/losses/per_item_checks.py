"""Checks of arguments with one number per item of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlgraph.spaces import BoolBox, BoxSpace, IntBox, SpaceError
from rlgraph.spaces.errors import join, mismatch

#: Boolean arguments.
BOOLS = ("terminals", "truncations", "apply_demo_loss")


def time_axis_of(space: Any) -> int | None:
    """The axis of the time rank, 0 or 1; None without one.

    Two fixed sizes without known ranks are time and batch.
    """
    if space.has_time_rank:
        return 0 if space.time_major or not space.has_batch_rank else 1
    return 0 if not space.has_batch_rank and len(space.shape) == 2 else None


def check_items(spaces: Mapping[str, Any]) -> None:
    """Raise `SpaceError` unless all are batches of one number per item, with the same ranks and fixed sizes.

    The arguments in `BOOLS` must be bool.
    """
    first = ""
    for name, space in spaces.items():
        if not isinstance(space, BoxSpace) or not _is_item(space):
            raise SpaceError(
                f"{name}: expected one number per item, [B], [T, B] or [B, T], given {space!r}{_help(space)}"
            )
        if name in BOOLS and not isinstance(space, BoolBox):
            raise SpaceError(
                f"{name}: expected a BoolBox, given {space!r}; put in front: "
                '{"type": "convert_type", "to_dtype": "bool"}'
            )
        if first and (_ranks(spaces[first]) != _ranks(space) or _sizes_differ(spaces[first], space)):
            raise SpaceError(
                f"{name}: expected the ranks of {first}, {spaces[first]!r}, given {space!r}; another shape would "
                "silently broadcast over all pairs of items"
            )
        first = first or name


def check_lengths(spaces: Mapping[str, Any]) -> None:
    """Raise `SpaceError` unless ``sequence_length``, if it is given, is one integer for each sequence."""
    space = spaces.get("sequence_length")
    if space is None:
        return
    if not isinstance(space, IntBox) or space.has_time_rank or len(space.get_shape(True, True)) != 1:
        raise SpaceError(
            f"sequence_length: expected IntBox(add_batch_rank=True), one length per sequence, given {space!r}"
        )


def check_parts(spaces: Mapping[str, Any], names: Iterable[str], item: str) -> None:
    """Raise `SpaceError` unless all hold, for each part of an action, numbers of the same items as `item`.

    Args:
        spaces: by argument.
        names: the arguments to check, tensors ``[B, ...]`` (or of sequences), or containers of these.
        item: an argument with one number per item.
    """
    for name in names:
        for path, box in spaces[name].flatten().items():
            if not _holds_items(box, spaces[item]):
                raise SpaceError(
                    f"{name}{f'/{path}' if path else ''}: expected the ranks of {item}, {spaces[item]!r}, given "
                    f"{box!r}; another shape would silently broadcast over all pairs of items"
                )


def check_log_probs(spaces: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise `SpaceError` unless the log-probabilities have the same parts of the same shapes, those of an action."""
    for name in names:
        given, wanted = (spaces[argument].flatten() for argument in (name, names[0]))
        if "nn_outputs" in given:
            raise SpaceError(
                f"{name}: expected log-probabilities only, given all outputs of a policy, {list(given)}; pass "
                'its ["log_likelihood"]'
            )
        if sorted(given) != sorted(wanted):
            raise SpaceError(
                f"{name}: expected the parts of {names[0]}, {spaces[names[0]]!r}, given {spaces[name]!r}"
            )
        for path, box in given.items():
            if box.shape != wanted[path].shape:
                raise mismatch(join(name, path), f"the shape of {names[0]}, {wanted[path]!r}", repr(box))


def sizes_fit(sizes: Sequence[int | None], others: Sequence[int | None]) -> bool:
    """Whether shapes may be equal; None is an unknown size."""
    pairs = zip(sizes, others, strict=False)
    return len(sizes) == len(others) and all(None in pair or pair[0] == pair[1] for pair in pairs)


def _holds_items(box: BoxSpace, item: BoxSpace) -> bool:
    """Whether the first axes are those of the items."""
    wanted = item.get_shape(True, True)
    time_axis = time_axis_of(box) if box.has_time_rank else None
    if not box.has_batch_rank and not box.has_time_rank and len(wanted) == 2:
        time_axis = 0
    return sizes_fit(box.get_shape(True, True)[: len(wanted)], wanted) and time_axis == time_axis_of(item)


def _is_item(space: BoxSpace) -> bool:
    ranks = space.has_batch_rank + space.has_time_rank
    if not ranks:  # fixed sizes, as those of a minibatch
        return 1 <= len(space.shape) <= 2
    return not space.shape or (not space.has_batch_rank and len(space.shape) == 1)


def _ranks(space: BoxSpace) -> tuple[int, int | None]:
    """The number of axes, and the index of the time axis."""
    return len(space.get_shape(True, True)), time_axis_of(space)


def _sizes_differ(space: BoxSpace, other: BoxSpace) -> bool:
    """Whether fixed sizes differ, or one of 1 is beside an unknown one."""
    pairs = zip(space.get_shape(True, True), other.get_shape(True, True), strict=True)
    return any(one != two and (None not in (one, two) or 1 in (one, two)) for one, two in pairs)


def _help(space: Any) -> str:
    if isinstance(space, BoxSpace) and space.shape == (1,):
        return '; {"type": "reshape", "new_shape": []} removes the last axis, as ops.squeeze(x, axis=-1) does'
    return ""
