"""REINFORCE with a baseline: Williams (1992), https://doi.org/10.1007/BF00992696."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.agents import Agent, Algorithm, Metric, Rollouts
from rlgraph.algorithms.default_network import network_for
from rlgraph.components import Optimizer, Policy, ValueFunction
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.returns import discounted_returns
from rlgraph.core.functional.weighting import weighted_mean
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class Reinforce(Algorithm):
    """REINFORCE with a baseline (Williams, 1992; Sutton and Barto, 2018, section 13.4).

    Args:
        state_space, action_space: the task, as the policy sees it.
        discount: discount factor of one step.
        network_spec: layers of policy and baseline; default: what suits the states.
        optimizer_spec: one optimizer for both; default: Adam.
    """

    experience = Rollouts.of()
    metrics: Mapping[str, Metric] = {
        "policy_loss": Metric("The policy's part of the loss.", "loss"),
        "baseline_loss": Metric("The baseline's part of the loss.", "loss"),
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        discount: float = 0.99,
        network_spec: NetworkSpec = None,
        optimizer_spec: ComponentSpec = None,
    ):
        layers = network_for(state_space, network_spec)
        self.discount = discount
        self.policy, self.baseline = Policy(layers, action_space), ValueFunction(layers)
        self.optimizer = Optimizer.from_spec(
            optimizer_spec or "adam", path="optimizer_spec"
        )
        super().__init__(self.policy, self.baseline, self.optimizer, scope="reinforce")

    @rlgraph_api
    def update(self, records: Any, progress: Any = None) -> Any:
        observations, actions = records["observations"], records["actions"]
        values = self.baseline.get_values_of_transitions(
            observations, records["next_observations"]
        )
        log_probs = self.policy.get_log_likelihood(observations, actions)[
            "log_likelihood"
        ]
        losses = self._losses(
            log_probs, values["state_values"], values["next_state_values"], records
        )
        variables = self.trainable_variables(self.policy, self.baseline)
        self.optimizer.step(variables, losses["loss"], progress)
        return losses

    @graph_fn
    def _losses(
        self, ops: Any, log_probs: Any, values: Any, next_values: Any, records: Any
    ) -> Any:
        """Means [] over the steps of a rollout; the other arguments are ``[T, N]``."""
        rewards, terminals, ends = (
            records["rewards"],
            records["terminals"],
            records["ends"],
        )
        returns = discounted_returns(
            ops, rewards, next_values, terminals, self.discount, ends
        )
        errors = ops.stop_gradient(returns) - values
        policy_loss = weighted_mean(
            ops, -ops.stop_gradient(errors) * log_probs, records["weights"]
        )
        baseline_loss = weighted_mean(ops, ops.square(errors), records["weights"])
        return {
            "loss": policy_loss + baseline_loss,
            "policy_loss": policy_loss,
            "baseline_loss": baseline_loss,
        }


ReinforceAgent = Agent.of(Reinforce)
