"""Which actions algorithms take."""

from __future__ import annotations

import numpy as np

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


def check_action_sizes(action_space: Space, dtype: str, power: int) -> None:
    """Check that what acting and learning compute of the bounds of floats is finite.

    Args:
        action_space: of one action.
        dtype: of all floating tensors.
        power: of actions that has to be finite, with room for sums; 0: only actions themselves.

    Raises:
        SpecError: a bound is too large, and so means no bound.
    """
    largest = float(np.finfo(dtype).max)
    limit = (largest / 4) ** (1 / power) if power else largest
    for path, box in action_space.flatten().items():
        for bound in (box.low, box.high) if isinstance(box, FloatBox) else ():
            sizes = np.abs(np.asarray(0.0 if bound is None else bound, np.float64))
            with np.errstate(over="ignore"):
                too_large = np.isfinite(sizes) & (sizes.astype(dtype) > limit)
            if too_large.any():
                part = f" in part {path!r}" if path else ""
                raise SpecError(
                    f"expected bounds between -{limit:.2g} and {limit:.2g}, given {box!r}{part}: what is computed of "
                    f"larger actions overflows {dtype}. Wrap the environment so that actions have the bounds that they "
                    "need",
                    path="action_space",
                )
