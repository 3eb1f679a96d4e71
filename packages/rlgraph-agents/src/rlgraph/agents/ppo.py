"""Proximal policy optimization: Schulman et al. (2017), https://arxiv.org/abs/1707.06347."""

from __future__ import annotations

from typing import Any

from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.algorithm_agent import AlgorithmAgent
from rlgraph.agents.default_network import default_network
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.components import (
    GeneralizedAdvantageEstimation,
    IterativeOptimization,
    Optimizer,
    Policy,
    PPOLoss,
    ValueFunction,
)
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, ScheduleSpec
from rlgraph.spaces import Space


class PPO(Algorithm):
    """Proximal policy optimization (Schulman et al., 2017).

    Args:
        state_space, action_space: the task, as the policy sees it.
        discount: discount factor of one step.
        gae_lambda: lambda of the advantages; 0 uses one-step errors, 1 whole returns.
        clip_ratio: how far the ratio of new and old probabilities may move from 1.
        value_clipping: how far values may move from the old ones; None: no limit.
        weight_entropy: weight of the entropy bonus.
        weight_vf: weight of the value function's loss.
        num_epochs: passes over a rollout.
        num_minibatches: parts of a rollout, one update each.
        kl_limit: an update ends once the divergence from the policy that acted exceeds it; None: never.
        standardize_advantages: scale the advantages of each minibatch to mean 0 and deviation 1.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of the value function; default: those of the policy.
        optimizer_spec: one optimizer for both; default: Adam.
    """

    experience = Rollouts.of("discount")

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        discount: float = 0.99,
        gae_lambda: float = 0.95,
        clip_ratio: ScheduleSpec = 0.2,
        value_clipping: ScheduleSpec = None,
        weight_entropy: ScheduleSpec = 0.0,
        weight_vf: ScheduleSpec = 0.5,
        num_epochs: int = 4,
        num_minibatches: int = 4,
        kl_limit: float | None = None,
        standardize_advantages: bool = True,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        optimizer_spec: ComponentSpec = None,
    ):
        layers = default_network(state_space) if network_spec is None else network_spec
        self.policy = Policy(layers, action_space)
        self.value_function = ValueFunction(layers if value_network_spec is None else value_network_spec)
        self.gae = GeneralizedAdvantageEstimation(gae_lambda, discount)
        self.loss = PPOLoss(clip_ratio, value_clipping, weight_entropy, weight_vf, standardize_advantages)
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec")
        self.epochs = IterativeOptimization(
            num_epochs,
            num_minibatches,
            stop_if=None if kl_limit is None else ("kl", kl_limit),
            sequences=self.policy.internal_states_space is not None,
        )
        parts = (self.policy, self.value_function, self.gae, self.loss, self.optimizer, self.epochs)
        super().__init__(*parts, scope="ppo")

    @rlgraph_api
    def update(self, records: Any, time_percentage: Any = None) -> Any:
        observations, actions = records["observations"], records["actions"]
        found = self.value_function.get_values_of_transitions(observations, records["next_observations"])
        values, given = found["state_values"], (records[name] for name in ("rewards", "terminals", "ends"))
        advantages = self.gae.calc_gae_values(values, *given, found["next_state_values"])
        computed = {
            "log_probs": self.policy.get_log_likelihood(observations, actions)["log_likelihood"],
            "values": values,
            "advantages": advantages,
        }
        return self.epochs.run(self.step, records, computed, time_percentage=time_percentage)

    @rlgraph_api
    def step(self, records: Any, time_percentage: Any = None) -> Any:
        """One update on a minibatch: eq. 9."""
        observations = records["observations"]
        losses = self.loss.loss(
            self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            records["log_probs"],
            self.value_function.get_state_values(observations)["state_values"],
            records["values"],
            records["advantages"],
            self.policy.get_entropy(observations)["entropy"],
            time_percentage,
            weights=records["weights"],
        )
        self.optimizer.step(
            self.policy.variables() + self.value_function.variables(), losses["loss"], time_percentage
        )
        return losses


class PPOAgent(AlgorithmAgent):
    algorithm_class = PPO
