"""Advantage actor-critic: Mnih et al. (2016), https://arxiv.org/abs/1602.01783, synchronous."""

from __future__ import annotations

from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.default_network import network_for
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.components import (
    ActorCriticLoss,
    GeneralizedAdvantageEstimation,
    Optimizer,
    Policy,
    ValueFunction,
)
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, ScheduleSpec
from rlgraph.spaces import Space


class A2C(Algorithm):
    """Advantage actor-critic, the synchronous form of A3C (Mnih et al., 2016).

    Args:
        state_space, action_space: the task, as the policy sees it.
        discount: discount factor of one step.
        gae_lambda: lambda of the advantages; 1, whole returns, is the paper's.
        weight_entropy, weight_vf: weights of the entropy bonus and of the value function's loss.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of the value function; default: those of the policy.
        optimizer_spec: one optimizer for both; default: RMSProp.
    """

    experience = Rollouts.of("discount")

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        discount: float = 0.99,
        gae_lambda: float = 1.0,
        weight_entropy: ScheduleSpec = 0.01,
        weight_vf: ScheduleSpec = 0.5,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        optimizer_spec: ComponentSpec = None,
    ):
        layers = network_for(state_space, network_spec)
        self.policy = Policy(layers, action_space)
        own = None if value_network_spec is None else network_for(state_space, value_network_spec)
        self.value_function = ValueFunction(layers if own is None else own)
        self.gae = GeneralizedAdvantageEstimation(gae_lambda, discount)
        self.loss = ActorCriticLoss(weight_entropy=weight_entropy, weight_vf=weight_vf)
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec", default="rmsprop")
        super().__init__(self.policy, self.value_function, self.gae, self.loss, self.optimizer, scope="a2c")

    @rlgraph_api
    def update(self, records: Any, time_percentage: Any = None) -> Any:
        observations = records["observations"]
        found = self.value_function.get_values_of_transitions(observations, records["next_observations"])
        values, given = found["state_values"], (records[name] for name in ("rewards", "terminals", "ends"))
        advantages = self.gae.calc_gae_values(values, *given, found["next_state_values"])
        losses = self.loss.loss(
            self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            values,
            advantages,
            self.policy.get_entropy(observations)["entropy"],
            time_percentage,
            weights=records["weights"],
        )
        policy, values = (x.variables(trainable_only=True) for x in (self.policy, self.value_function))
        self.optimizer.step(policy + values, losses["loss"], time_percentage)
        del losses["loss_per_item"]
        return losses


class A2CAgent(Agent):
    algorithm_class = A2C
