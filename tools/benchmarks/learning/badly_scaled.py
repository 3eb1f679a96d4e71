"""A wrapper for `document.py`: observations in large units, far from 0."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class BadlyScaled(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Each observation times `factor`, plus `offset`.

    Args:
        env: its observations are floats.
        factor: of all numbers, above 0.
        offset: what is added to them.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], factor: float = 1000.0, offset: float = 500.0) -> None:
        super().__init__(env)
        self._factor, self._offset = factor, offset
        shape = env.observation_space.shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)

    def observation(self, observation: Any) -> Any:
        return (np.asarray(observation, np.float64) * self._factor + self._offset).astype(np.float32)
