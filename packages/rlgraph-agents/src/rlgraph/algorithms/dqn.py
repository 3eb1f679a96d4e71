"""Deep Q-learning: Mnih et al. (2015), https://www.nature.com/articles/nature14236."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.algorithms.q_learning import QLearning
from rlgraph.components import DQNLoss
from rlgraph.spaces import Space


class DQN(QLearning):
    """Deep Q-learning with a target network (Mnih et al., 2015).

    Args:
        state_space, action_space, options: see `QLearning`.
        huber_loss: Huber loss instead of squared error.
        shared_container_action_target, td_aggregation: how parts of a container action learn; see `DQNLoss`.
        value_rescaling: the network's values are rescaled, for large returns (Pohlen et al., 2018).
    """

    make_loss: Any = DQNLoss
    test_alternatives: ClassVar[Mapping[str, Sequence[Any]]] = {"td_aggregation": ["mean_error"]}

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        huber_loss: bool = False,
        shared_container_action_target: bool = False,
        td_aggregation: str = "mean_loss",
        value_rescaling: bool = False,
        **options: Any,
    ):
        self.loss_options = {
            "huber_loss": huber_loss,
            "action_space": action_space,
            "shared_container_action_target": shared_container_action_target,
            "td_aggregation": td_aggregation,
            "value_rescaling": value_rescaling,
        }
        super().__init__(state_space, action_space, **options)
