"""Categorical actions: numbers of categories, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, IntBox, Space


def categories(action_space: Space, where: str) -> dict[str, int]:
    """Path of every leaf of an action Space -> the number of actions of each of its elements.

    If elements differ, as in ``IntBox([3, 5])``, it is the largest number (see `choices`).

    Raises:
        SpecError: a leaf, named in the message, is neither an `IntBox` with categories nor a `BoolBox`.
    """
    found = {}
    for path, box in action_space.flatten().items():
        number = int(np.max(choices(box))) if _is_categorical(box) else None
        if not number:
            part = f", part {path!r} of {action_space!r}" if path else ""
            raise SpecError(
                "Q-learning needs categorical actions, an IntBox(n), a BoolBox or a Dict or Tuple of them; "
                f"given {box!r}{part}",
                path=where,
            )
        found[path] = int(number)
    return found


def choices(box: Any) -> Any:
    """The number of actions of each element of a leaf: one for all, or an array of its shape if they differ."""
    return 2 if isinstance(box, BoolBox) else box.high - box.low


def mask_shapes(action_space: Space, where: str) -> dict[str, tuple[int, ...]]:
    """Path of every leaf of an action Space -> the shape of its masks, ``[..., A]``.

    Raises:
        SpecError: as `categories`.
    """
    numbers = categories(action_space, where)
    return {path: (*box.shape, numbers[path]) for path, box in action_space.flatten().items()}


def existing_actions(box: Any) -> np.ndarray:
    """Which actions the elements of a leaf have, bool ``[A]``, or ``[..., A]`` where they differ."""
    numbers = np.asarray(choices(box))
    return np.arange(numbers.max()) < numbers[..., np.newaxis]


def _is_categorical(box: Any) -> bool:
    if isinstance(box, BoolBox):
        return True
    return isinstance(box, IntBox) and box.high is not None and isinstance(box.low, int) and box.low == 0


def is_one_integer(action_space: Space) -> bool:
    """Whether an action is one number of type int64."""
    return isinstance(action_space, IntBox) and action_space.shape == () and action_space.dtype == "int64"
