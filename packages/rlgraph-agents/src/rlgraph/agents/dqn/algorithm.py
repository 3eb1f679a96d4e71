"""Deep Q-learning as a component: Mnih et al. (2015), https://www.nature.com/articles/nature14236.

With double Q-learning (van Hasselt et al., 2016, https://arxiv.org/abs/1509.06461) and the dueling architecture (Wang
et al., 2016, https://arxiv.org/abs/1511.06581) as options.
"""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    Adam,
    DQNLoss,
    DuelingPolicy,
    EpsilonGreedy,
    QPolicy,
    ReplayMemory,
    Synchronizer,
)
from rlgraph.core import Component, rlgraph_api


class DQN(Component):
    """Policy, target policy, replay memory, loss, optimizer and exploration of a DQN agent.

    Args:
        policy: the online policy; the target policy is its copy.
        memory: the replay memory.
        exploration: turns greedy actions into explored ones.
        loss: the loss.
        optimizer: steps the policy's variables.
        sync_tau: share of the policy in the target policy's new value; 1 for a plain copy.
    """

    def __init__(
        self,
        policy: QPolicy | DuelingPolicy,
        memory: ReplayMemory,
        exploration: EpsilonGreedy,
        loss: DQNLoss,
        optimizer: Adam,
        sync_tau: float = 1.0,
        scope: str = "dqn",
    ):
        self.policy = policy
        self.target_policy = policy.copy(scope="target-policy", trainable=False)
        self.memory, self.exploration, self.loss, self.optimizer = memory, exploration, loss, optimizer
        self.synchronizer = Synchronizer(tau=sync_tau)
        super().__init__(
            policy, self.target_policy, memory, exploration, loss, optimizer, self.synchronizer, scope=scope
        )

    @rlgraph_api
    def get_greedy_actions(self, states: Any) -> Any:
        """``states [B, ...] -> actions [B]``."""
        return self.policy.get_deterministic_action(states)

    @rlgraph_api
    def get_actions(self, states: Any, time_percentage: Any) -> Any:
        """``states [B, ...], time_percentage [] -> actions [B]``, explored."""
        return self.exploration.get_action(self.policy.get_deterministic_action(states), time_percentage)

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        """``states [B, ...] -> [B, A]``."""
        return self.policy.get_q_values(states)

    @rlgraph_api
    def insert_records(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
    ) -> Any:
        """Put transitions into the memory; every argument has batch rank."""
        return self.memory.insert_records(
            {
                "states": states,
                "actions": actions,
                "rewards": rewards,
                "terminals": terminals,
                "next_states": next_states,
            }
        )

    @rlgraph_api
    def get_memory_size(self) -> Any:
        """The number of transitions in the memory, []."""
        return self.memory.get_size()

    @rlgraph_api
    def get_td_loss(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        """The loss of a batch without learning from it: ``{"loss": [], "loss_per_item": [B]}``."""
        q_values, q_next = self.policy.get_q_values(states), self.policy.get_q_values(next_states)
        q_next_target = self.target_policy.get_q_values(next_states)
        loss, per_item = self.loss.loss(q_values, actions, rewards, terminals, q_next, q_next_target)
        return {"loss": loss, "loss_per_item": per_item}

    @rlgraph_api
    def update_from_external_batch(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
    ) -> Any:
        """One optimizer step on a batch; the loss before it, as `get_td_loss` gives it."""
        results = self.get_td_loss(states, actions, rewards, terminals, next_states)
        self.optimizer.step(self.policy.variables(trainable_only=True), results["loss"])
        return results

    @rlgraph_api
    def update_from_memory(self, num_records: Any) -> Any:
        """One optimizer step on ``num_records`` [] transitions from the memory; ``{"loss": []}``."""
        records = self.memory.get_records(num_records)
        results = self.update_from_external_batch(
            records["states"],
            records["actions"],
            records["rewards"],
            records["terminals"],
            records["next_states"],
        )
        return {"loss": results["loss"]}

    @rlgraph_api
    def sync_target(self) -> Any:
        """Copy the policy into the target policy."""
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())
