"""Implicit Q-learning, IQL: Kostrikov et al. (2022), https://arxiv.org/abs/2110.06169."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.default_network import critic_networks, policy_and_value_networks
from rlgraph.agents.experience.replay import Replay
from rlgraph.components import IQLLoss, Optimizer, Policy, SACValueNetwork, Target, ValueFunction
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class IQL(Algorithm):
    """Learns from a data set, and asks about none but its actions (Kostrikov et al., 2022).

    Args:
        state_space, action_space: the task, as the policy sees it.
        network_spec, value_network_spec: layers of the policy, default: `default_network`; of critics and value
            function, default: those.
        expectile: of the critics' values of the data's actions, which the value function approaches; see `IQLLoss`.
        inverse_temperature: how much the policy prefers better actions; 0 imitates all.
        tau: the critics' share in targets, in (0, 1].
        optimizer_spec: of policy, critics and value function, which have one optimizer each; default: Adam.
    """

    experience = Replay.of(
        memory_spec={"capacity": 10**5}, update_spec={"update_interval": 1, "batch_size": 256}
    )
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "discount": [0.9, 0.95, 0.98, 0.99, 0.995],
        "update_spec.batch_size": [64, 128, 256, 512],
        "expectile": [0.5, 0.7, 0.9],
        "inverse_temperature": [1.0, 3.0, 10.0],
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        expectile: float = 0.7,
        inverse_temperature: float = 3.0,
        tau: float = 0.005,
        optimizer_spec: ComponentSpec = None,
    ):
        layers, value_layers = policy_and_value_networks(state_space, network_spec, value_network_spec)
        self.policy = Policy(layers, action_space)
        self.value_function = ValueFunction(value_layers)
        networks = critic_networks(state_space, value_layers)
        self.critics = [SACValueNetwork(*networks, scope=f"critic-{i}") for i in range(2)]
        self.targets = [Target(critic, tau) for critic in self.critics]
        self.loss = IQLLoss(expectile, inverse_temperature)
        stepper = partial(Optimizer.from_spec, optimizer_spec, path="optimizer_spec")
        self.optimizers = {part: stepper(scope=f"{part}-optimizer") for part in ("critic", "value", "actor")}
        parts = (self.value_function, *self.critics, *self.targets, self.loss, *self.optimizers.values())
        super().__init__(self.policy, *parts, scope="iql")

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, time_percentage: Any = None) -> Any:
        states, actions = records["observations"], records["actions"]
        losses = self.loss.loss(
            self.value_function.value_output(states),
            self.value_function.value_output(records["next_observations"]),
            *(
                tuple(critic.state_action_value(states, actions) for critic in critics)
                for critics in (self.critics, self.targets)
            ),
            self.policy.get_log_likelihood(states, actions)["log_likelihood"],
            *(records[name] for name in ("rewards", "terminals", "discounts")),
            weights=importance_weights,
        )
        critics = self.critics[0].variables() + self.critics[1].variables()
        self.optimizers["critic"].step(critics, losses["critic_loss"], time_percentage)
        self.optimizers["value"].step(self.value_function.variables(), losses["value_loss"], time_percentage)
        self.optimizers["actor"].step(self.policy.variables(), losses["actor_loss"], time_percentage)
        for target in self.targets:
            target.sync()
        return {"priorities": losses.pop("loss_per_item"), **losses}


class IQLAgent(Agent):
    algorithm_class = IQL
