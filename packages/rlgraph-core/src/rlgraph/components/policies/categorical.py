"""Actions of which every part is one of several."""

from __future__ import annotations

from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, IntBox, Space


def categories(action_space: Space, where: str) -> dict[str, int]:
    """Path of every leaf of an action Space -> the number of actions each of its elements is chosen from.

    Raises:
        SpecError: a leaf is no `IntBox` with categories and no `BoolBox`; names it.
    """
    found = {}
    leaves = action_space.flatten() if isinstance(action_space, Space) else {"": action_space}
    for path, box in leaves.items():
        number = box.num_categories if isinstance(box, IntBox | BoolBox) else None
        if not number:
            part = f", part {path!r} of {action_space!r}" if path else ""
            raise SpecError(
                f"{where}: Q-learning needs categorical actions, an IntBox(n), a BoolBox or a Dict or Tuple of them; "
                f"given {box!r}{part}"
            )
        found[path] = int(number)
    return found


def is_one_integer(action_space: Space) -> bool:
    """Whether an action is one number of type int64."""
    return isinstance(action_space, IntBox) and action_space.shape == () and action_space.dtype == "int64"
