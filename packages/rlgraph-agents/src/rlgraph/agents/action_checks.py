"""Which actions algorithms take."""

from __future__ import annotations

from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, Space


def check_bounded_floats(action_space: Space, or_else: str = "") -> None:
    """Check that actions are floats with both bounds, or a container of them.

    Args:
        action_space: of one action.
        or_else: what the algorithm takes besides, for the message.

    Raises:
        SpecError: they are others.
    """
    for path, box in action_space.flatten().items():
        if not isinstance(box, FloatBox) or not box.bounded:
            expected = f"floats with both bounds, a Dict or Tuple of them{or_else}"
            given = f"{box!r}{f' in part {path!r}' if path else ''}; PPO takes other actions"
            raise SpecError(f"expected {expected}, given {given}", path="action_space")
