"""Deep Q-learning: Mnih et al. (2015), https://www.nature.com/articles/nature14236.

Options: double Q-learning (van Hasselt et al., 2016, https://arxiv.org/abs/1509.06461), the dueling architecture (Wang
et al., 2016, https://arxiv.org/abs/1511.06581), prioritized replay (Schaul et al., 2016,
https://arxiv.org/abs/1511.05952), n-step returns (Sutton, 1988; Hessel et al., 2018,
https://arxiv.org/abs/1710.02298), container actions (Tavakoli et al., 2018, https://arxiv.org/abs/1711.08946).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.default_network import default_network
from rlgraph.agents.experience.replay import Replay
from rlgraph.components import Adam, DQNLoss, DuelingPolicy, Exploration, QPolicy, Target
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class DQN(Algorithm):
    """Deep Q-learning with a target network (Mnih et al., 2015).

    Args:
        state_space, action_space: the task, as the policy sees it. Actions are categories or bools, of any shape, or a
            `Dict` or `Tuple` of them.
        network_spec: layers; default: what suits the states, see `default_network`.
        policy_spec: further arguments of the policy.
        double_q: double Q-learning.
        dueling_q: dueling architecture.
        huber_loss: Huber loss instead of squared error.
        shared_container_action_target: the parts of a container action share one target; see `DQNLoss`.
        td_aggregation: how the errors of the parts of a container action become one loss; see `DQNLoss`.
        exploration_spec: ``{"epsilon_spec": [1.0, 0.05]}``, or ``{"noise_spec": {"type": "gumbel", "scale": 0.1}}``.
        optimizer_spec: e.g. ``{"type": "adam", "learning_rate": [1e-3, 1e-4]}``.
        sync_interval: environment steps between two synchronizations of the target.
        sync_tau: share of the policy in the target's new value.
    """

    experience = Replay.of()
    schedule: ClassVar = {"sync_target": ("sync_interval", "steps")}

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        policy_spec: Mapping[str, Any] | None = None,
        double_q: bool = True,
        dueling_q: bool = True,
        huber_loss: bool = False,
        shared_container_action_target: bool = False,
        td_aggregation: str = "mean_loss",
        exploration_spec: ComponentSpec = None,
        optimizer_spec: ComponentSpec = None,
        sync_interval: int = 128,
        sync_tau: float = 1.0,
    ):
        layers = default_network(state_space) if network_spec is None else network_spec
        kind = DuelingPolicy if dueling_q else QPolicy
        self.policy = kind.from_spec(
            policy_spec, path="policy_spec", network_spec=layers, action_space=action_space
        )
        self.target = Target(self.policy, sync_tau)
        self.exploration = Exploration.from_spec(
            exploration_spec, path="exploration_spec", action_space=action_space
        )
        self.loss = DQNLoss(
            double_q=double_q,
            huber_loss=huber_loss,
            action_space=action_space,
            shared_container_action_target=shared_container_action_target,
            td_aggregation=td_aggregation,
        )
        self.optimizer = Adam.from_spec(optimizer_spec, path="optimizer_spec")
        self.sync_interval = sync_interval
        parts = (self.policy, self.target, self.exploration, self.loss, self.optimizer)
        super().__init__(*parts, scope="dqn")

    @rlgraph_api
    def act(self, observations: Any, time_percentage: Any) -> Any:
        if self.exploration.explores == "q_values":
            explored = self.policy.get_q_values(observations)["q_values"]
        else:
            explored = self.policy.get_deterministic_action(observations)["action"]
        return {"action": self.exploration.get_action(explored, time_percentage)}

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, time_percentage: Any = None) -> Any:
        states, next_states = records["observations"], records["next_observations"]
        next_targets = self.target.get_q_values(next_states)["q_values"]
        values = (
            self.policy.get_q_values(states)["q_values"],
            records["actions"],
            records["rewards"],
            records["terminals"],
            # Without double Q-learning nobody asks the policy about next states.
            self.policy.get_q_values(next_states)["q_values"] if self.loss.double_q else next_targets,
            next_targets,
            records["discounts"],
        )
        loss = self.loss.loss(*values, importance_weights)["loss"]
        self.optimizer.step(self.policy.variables(trainable_only=True), loss, time_percentage)
        return {"loss": loss, "priorities": self.loss.get_td_errors(*values)}

    @rlgraph_api
    def sync_target(self) -> Any:
        """Move the target towards the policy."""
        return self.target.sync()
