"""Masks of possible categorical actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.core.errors import nearest
from rlgraph.spaces import BoolBox, BoxSpace, IntBox, Space, SpaceError
from rlgraph.spaces.errors import mismatch

NAME = "action_mask"


def mask_shape(box: BoxSpace) -> tuple[int, ...] | None:
    """The shape ``[..., A]`` of masks of a part of an action; None if it has no categories.

    If elements differ, as in ``IntBox([3, 5])``, A is the largest number of categories.
    """
    if not isinstance(box, IntBox) or box.low is None or box.high is None:
        return None
    return (*box.shape, int(np.max(np.asarray(box.high) - np.asarray(box.low))))


def flat_columns(box: BoxSpace) -> tuple[np.ndarray, int]:
    """How masks with one element of an action after the other, ``[..., sum of A]``, are read.

    Returns:
        The column that is about each action of each element, ``[..., A]``; for an action that an element does not have
        the number of columns. And this number.
    """
    numbers = np.broadcast_to(np.asarray(box.high) - np.asarray(box.low), box.shape)
    exists = np.arange(numbers.max()) < numbers[..., np.newaxis]
    size = int(exists.sum())
    columns = np.full(exists.shape, size)
    columns[exists] = np.arange(size)
    return columns, size


def spread(mask: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Masks ``[B, sum of A]`` as ``[B, ..., A]``, by the `flat_columns`; an action that does not exist is illegal."""
    return np.concatenate([mask, np.zeros_like(mask[..., :1])], axis=-1)[..., columns]


def check_mask(space: Space, shape: tuple[int, ...], where: str = NAME) -> None:
    """Check that masks of one part of an action, ``[..., A]``, are bools of this shape.

    Raises:
        SpaceError: they are not.
    """
    if not isinstance(space, BoolBox) or space.shape != shape:
        raise mismatch(where, f"a BoolBox of shape {list(shape)}", repr(space))


def check_ranks(mask: Any, values: Any, shape: tuple[int, ...], where: str = NAME) -> None:
    """Check that masks have the batch and time ranks of the action values ``[..., *shape]``, or none: one for all.

    Raises:
        SpaceError: it has others.
    """
    if len(mask.shape) not in (len(values.shape), len(shape)):
        raise mismatch(
            where, f"the batch and time ranks of the action values, {values!r}, or none", repr(mask)
        )


def check_masks(space: Space, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check the masks of an action whose parts have masks of these shapes; a container may omit parts.

    Raises:
        SpaceError: a mask has the wrong shape or belongs to an unknown part, or a container is expected.
    """
    if "" in shapes:
        check_mask(space, shapes[""])
        return
    masks = space.flatten()
    message = unknown_part(masks, list(shapes))
    if message:
        raise SpaceError(message)
    for path, mask in masks.items():
        check_mask(mask, shapes[path], f"{NAME}/{path}")


def unknown_part(given: Iterable[str], known: Sequence[str]) -> str:
    """The fault in the paths of masks of an action with the parts `known`; "" for none."""
    for path in given:
        if not path:
            return f"{NAME}: expected a container of masks by parts of the action, {', '.join(known)}, given one mask"
        if path not in known:
            return f"{NAME} has a part {path!r}, which the action does not have. {nearest(path, known)}"
    return ""


def possible(mask: np.ndarray, existing: np.ndarray) -> np.ndarray:
    """The part of ``existing [..., A]`` that ``mask [..., A]`` allows; an element with nothing allowed has all."""
    allowed = mask & existing
    return np.where(allowed.any(axis=-1, keepdims=True), allowed, existing)
