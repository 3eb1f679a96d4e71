"""Epsilon-greedy exploration."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.schedules import Schedule
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import IntBox


class EpsilonGreedy(Component):
    """With probability epsilon an action drawn uniformly, else the greedy one.

    The draws come from the component's host stream whichever backend computes the greedy actions, so a run explores
    alike on all backends.

    Args:
        num_actions: number of actions.
        epsilon_spec: epsilon over training (see `Schedule.from_spec`).
        scope: name among its siblings.
    """

    def __init__(
        self,
        num_actions: int,
        epsilon_spec: Any = (1.0, 0.05),
        scope: str = "exploration",
        **kwargs: Any,
    ):
        self.num_actions = num_actions
        self.epsilon = Schedule.from_spec(epsilon_spec, path=f"{scope}.epsilon_spec")
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def get_action(self, actions: Any, time_percentage: Any) -> Any:
        """``actions [B]`` (greedy), ``time_percentage []`` (fraction of training done) ``-> [B]``."""
        return self._explore(actions, time_percentage)

    @graph_fn(host=True, spaces=lambda self, *_: IntBox(self.num_actions, add_batch_rank=True))
    def _explore(self, actions: np.ndarray, time_percentage: np.ndarray) -> np.ndarray:
        epsilon = self.epsilon.value(float(time_percentage))
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        if len(actions) == 1:
            # One environment: scalars are several times faster than arrays of one.
            if rng.random() < epsilon:
                return np.array([int(rng.random() * self.num_actions)])
            return actions
        explore = rng.random(len(actions)) < epsilon
        if not explore.any():
            return actions
        return np.where(explore, (rng.random(len(actions)) * self.num_actions).astype(np.int64), actions)
