"""Distributions with constants such as bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, Space, SpaceError


class DistributionWithConstants(Distribution):
    """A distribution with constants derived from `low` and `high`, the bounds of its values.

    Args:
        constants: arrays of one shape: that of an action, or []. They become attributes: numbers if equal
            for all elements, else tensors in variables.

    Raises:
        SpaceError: the shape of the constants is not that of the parameters.
    """

    def __init__(self, constants: Mapping[str, NDArray[np.float64]], scope: str, **kwargs: Any):
        shared = all(np.ptp(constant) == 0.0 for constant in constants.values())
        for name, constant in constants.items():
            setattr(self, name, float(constant.flat[0]) if shared else constant)
            self.shape = constant.shape
        self.constants = () if shared else tuple(constants)
        super().__init__(scope=scope, **kwargs)

    def check_parameters(self, boxes: list[FloatBox]) -> None:
        super().check_parameters(boxes)
        if self.shape and self.shape != boxes[0].shape:
            raise SpaceError(
                f"parameters: expected shape {list(self.shape)}, as low and high have, given {list(boxes[0].shape)}"
            )

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for name in self.constants:
            value = getattr(self, name)
            variable = self.get_variable(
                name, FloatBox(shape=value.shape), initializer=value, trainable=False
            )
            setattr(self, name, variable)


def read_bounds(low: Any, high: Any, scope: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both bounds as arrays of one shape; NaN for None.

    Raises:
        SpecError: they are not numbers, or their shapes differ.
    """
    try:
        lows, highs = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    except (TypeError, ValueError):
        raise SpecError(
            f"expected low and high to be numbers of one shape, given {low!r}, {high!r}", path=scope
        ) from None
    return lows, highs
