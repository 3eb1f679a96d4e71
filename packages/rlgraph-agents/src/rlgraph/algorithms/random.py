"""Random actions: the baseline that a learning agent has to beat."""

from __future__ import annotations

from typing import Any

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.random_actions import RandomActions
from rlgraph.core import rlgraph_api
from rlgraph.experience.no_experience import NoExperience
from rlgraph.spaces import Space


class Random(Algorithm):
    """Draws actions from their Space, see `RandomActions`; learns nothing.

    Args:
        state_space, action_space: the task.
    """

    experience = NoExperience.of()
    values_next_actions = False
    live_metrics = ()
    action_power = 0

    def __init__(self, state_space: Space, action_space: Space):
        self.random_actions = RandomActions(action_space)
        super().__init__(self.random_actions, scope="random")

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        return {"action": self.random_actions.draw(observations)}

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        return {"action": self.random_actions.draw(observations)}
