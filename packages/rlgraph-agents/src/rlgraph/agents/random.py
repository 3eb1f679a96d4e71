"""Random actions: the baseline that a learning agent has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.experience.nothing import Nothing
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import Space


class Random(Algorithm):
    """Draws actions from their Space, whatever the states are; learns nothing.

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
        return {"action": self._draw(observations["states"])}

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        return {"action": self._draw(observations["states"])}

    @graph_fn(host=True, spaces=lambda self, *_: self.action_space.with_batch_rank())
    def _draw(self, states: Any) -> Any:
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        return self.action_space.with_batch_rank().sample(len(leaves_of(states)[0]), rng=rng)


class RandomAgent(Agent):
    algorithm_class = Random
