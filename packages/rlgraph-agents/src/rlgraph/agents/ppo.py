"""Proximal policy optimization: Schulman et al. (2017), https://arxiv.org/abs/1707.06347."""

from __future__ import annotations

from typing import Any, Literal

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.default_network import network_for
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.agents.intrinsic_rewards import IntrinsicRewards
from rlgraph.components import (
    GeneralizedAdvantageEstimation,
    IterativeOptimization,
    Optimizer,
    Policy,
    PPOLoss,
    Standardize,
    ValueFunction,
)
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, ScheduleSpec
from rlgraph.spaces import Space


class PPO(Algorithm):
    """Proximal policy optimization (Schulman et al., 2017).

    Args:
        state_space, action_space: the task, as the policy sees it.
        discount, gae_lambda: of the advantages; a lambda of 0 uses one-step errors, of 1 whole returns.
        clip_ratio: how far the ratio of new and old probabilities may move from 1.
        value_clipping: how far values may move from the old ones; None: no limit.
        weight_entropy, weight_vf: weights of the entropy bonus and of the value function's loss.
        num_epochs, num_minibatches: passes over a rollout, and parts of it with one update each.
        sequence_length: steps that recurrent networks are unrolled over; see `Rollouts`.
        kl_limit: an update ends once the divergence from the policy that acted exceeds it; None: never.
        standardize_advantages: what the advantages get mean 0 and deviation 1 of; False: they stay.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of the value function; default: those of the policy.
        optimizer_spec: one optimizer for both; default: Adam.
        intrinsic_reward: rewards for exploration, ``"rnd"`` or ``"icm"`` or a spec of these; None: none.
    """

    experience = Rollouts.of("discount", "sequence_length")

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
        sequence_length: int | None = None,
        kl_limit: float | None = None,
        standardize_advantages: Literal["minibatch", "batch", False] = "minibatch",
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        optimizer_spec: ComponentSpec = None,
        intrinsic_reward: ComponentSpec = None,
    ):
        layers = network_for(state_space, network_spec)
        self.policy = Policy(layers, action_space)
        value_layers = layers if value_network_spec is None else network_for(state_space, value_network_spec)
        self.value_function = ValueFunction(value_layers)
        self.gae = GeneralizedAdvantageEstimation(gae_lambda, discount)
        self.standardize = Standardize() if standardize_advantages == "batch" else None
        per_minibatch = standardize_advantages == "minibatch"
        self.loss = PPOLoss(clip_ratio, value_clipping, weight_entropy, weight_vf, per_minibatch)
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec")
        stop_if = None if kl_limit is None else ("kl", kl_limit)
        columns = self.policy.internal_states_space is not None
        self.epochs = IterativeOptimization(num_epochs, num_minibatches, columns, stop_if, sequence_length)
        shared = (value_layers, action_space, gae_lambda, optimizer_spec)
        self.intrinsic = IntrinsicRewards.for_agent(intrinsic_reward, *shared)
        parts = (self.policy, self.value_function, self.gae, self.standardize, self.loss, self.optimizer)
        super().__init__(*filter(None, (*parts, self.epochs, self.intrinsic)), scope="ppo")

    @rlgraph_api
    def update(self, records: Any, time_percentage: Any = None) -> Any:
        observations = records["observations"]
        found = self.value_function.get_values_of_transitions(observations, records["next_observations"])
        values, given = found["state_values"], (records[name] for name in ("rewards", "terminals", "ends"))
        advantages = self.gae.calc_gae_values(values, *given, found["next_state_values"])
        old = self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"]
        computed, metrics = {"log_probs": old, "values": values, "advantages": advantages}, {}
        if self.intrinsic is not None:
            advantages, fields, metrics = self.intrinsic.explore(records, advantages)
            computed |= {**fields, "scaled": advantages}
        if self.standardize is not None:
            computed["scaled"] = self.standardize.standardize(advantages, records["weights"])
        return {**self.epochs.run(self.step, records, computed, time_percentage=time_percentage), **metrics}

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
            policy_advantages=records["scaled"] if self.standardize or self.intrinsic else None,
        )
        policy, values = (x.variables(trainable_only=True) for x in (self.policy, self.value_function))
        self.optimizer.step(policy + values, losses["loss"], time_percentage)
        if self.intrinsic is not None:
            losses |= self.intrinsic.step(records, time_percentage)
        return losses


class PPOAgent(Agent):
    algorithm_class = PPO
