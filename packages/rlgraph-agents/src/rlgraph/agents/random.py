"""Random actions: the baseline that a learning agent has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.experience.nothing import Nothing
from rlgraph.components.common.action_masks import possible
from rlgraph.components.policies.categorical_actions import existing_actions
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import Space


class Random(Algorithm):
    """Draws actions from their Space, of categories those that the mask allows; learns nothing.

    Categories and floats with two bounds are uniform; other floats are drawn as `rlgraph.spaces.FloatBox.sample` does.

    Args:
        state_space, action_space: the task.
    """

    experience = Nothing.of()

    def __init__(self, state_space: Space, action_space: Space):
        self.action_space = action_space
        super().__init__(scope="random")

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        return {"action": self._draw(observations["states"], observations.get("action_mask"))}

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        return {"action": self._draw(observations["states"], observations.get("action_mask"))}

    @graph_fn(host=True, spaces=lambda self, *_: self.action_space.with_batch_rank(), flatten_ops={"mask"})
    def _draw(self, states: Any, mask: Any = None) -> Any:
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        drawn = self.action_space.with_batch_rank().sample(len(leaves_of(states)[0]), rng=rng)
        if mask is None:
            return drawn
        parts = self.action_space.flatten_sample(drawn)
        for path, box in self.action_space.flatten().items():
            if path in mask:
                allowed = possible(mask[path], existing_actions(box))
                best = np.where(allowed, rng.random(allowed.shape), -1.0).argmax(axis=-1)
                parts[path] = (best + box.low).astype(box.dtype)
        return self.action_space.unflatten_sample(parts)


class RandomAgent(Agent):
    algorithm_class = Random
