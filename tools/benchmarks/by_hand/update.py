"""What the updates written by hand have in common, on both frameworks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class UpdateByHand:
    """The weights and moments that an update changes.

    Args:
        parts: the `Parameters` that it changes.
        moments: the `Moments` that it keeps.
    """

    def __init__(self, parts: Sequence[Any], moments: Sequence[Any]):
        self._parts, self._moments = parts, moments

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        for part in (*self._parts, *self._moments):
            part.restart()

    def weights(self) -> dict[str, np.ndarray]:
        return {name: value for part in self._parts for name, value in part.as_numpy().items()}
