"""Distributions over values between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, Space, SpaceError


class BoundedDistribution(Distribution):
    """A distribution over values between `low` and `high`.

    Args:
        low, high: a number, or one for each element of an action.
        scope: name among its siblings.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: there is a bound for each element, and not as many as the parameters have.
    """

    def __init__(self, low: Any, high: Any, scope: str, **kwargs: Any):
        try:
            lows, highs = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
        except ValueError:
            raise SpecError(
                f"{scope}: expected low and high to be numbers, given {low!r}, {high!r}"
            ) from None
        if not (np.isfinite(lows).all() and np.isfinite(highs).all() and (lows < highs).all()):
            raise SpecError(f"{scope}: expected finite bounds low < high, given {low!r}, {high!r}")
        # Bounds that all elements share are numbers in the graph; others are constants kept in variables.
        shared = np.ptp(lows) == np.ptp(highs) == 0.0
        self.low: Any = float(lows.flat[0]) if shared else lows
        self.high: Any = float(highs.flat[0]) if shared else highs
        self.shape = lows.shape
        super().__init__(scope=scope, **kwargs)

    def check_parameters(self, boxes: list[FloatBox]) -> None:
        super().check_parameters(boxes)
        if self.shape and self.shape != boxes[0].shape:
            raise SpaceError(
                f"parameters: expected shape {list(self.shape)}, as low and high have, given {list(boxes[0].shape)}"
            )

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if isinstance(self.low, np.ndarray):
            for name in ("low", "high"):
                bound = getattr(self, name)
                variable = self.get_variable(
                    name, FloatBox(shape=bound.shape), initializer=bound, trainable=False
                )
                setattr(self, name, variable)
