"""Advantage actor-critic: Mnih et al. (2016), https://arxiv.org/abs/1602.01783, synchronous."""

from __future__ import annotations

from typing import Any

from rlgraph.algorithms.actor_critic import ActorCritic
from rlgraph.components import ActorCriticLoss
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import Space


class A2C(ActorCritic):
    """Advantage actor-critic, the synchronous form of A3C (Mnih et al., 2016).

    Args:
        state_space, action_space, options: see `ActorCritic`.
        gae_lambda: lambda of the advantages, in [0, 1]; 1, whole returns, is the paper's.
        weight_entropy, weight_vf: weights of the entropy bonus and of the value function's loss.
        optimizer_spec: one optimizer for policy and value function; default: RMSProp.
    """

    make_loss: Any = ActorCriticLoss
    default_optimizer = "rmsprop"

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        gae_lambda: float = 1.0,
        weight_entropy: ScheduleSpec = 0.01,
        weight_vf: ScheduleSpec = 0.5,
        **options: Any,
    ):
        super().__init__(state_space, action_space, "a2c", gae_lambda=gae_lambda, **options)
        self.loss = self.make_loss(weight_entropy=weight_entropy, weight_vf=weight_vf)
        self.add_components(self.loss)

    @rlgraph_api
    def update(self, records: Any, progress: Any = None) -> Any:
        observations = records["observations"]
        computed, metrics = self.compute_advantages(records)
        losses = self.loss.loss(
            log_probs=self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            state_values=computed["trained_values"],
            advantages=computed["advantages"],
            entropy=self.policy.get_entropy(observations)["entropy"],
            progress=progress,
            weights=records["weights"],
            policy_advantages=computed.get("policy_advantages"),
            evaluated_values=computed["values"],
        )
        numbers = self.minimize(losses, {**records, **computed}, progress)
        # After the derivatives, which do not go back through sums over learners.
        return {**numbers, **metrics, **self.explained(computed, records)}
