"""Implicit Q-learning, IQL: Kostrikov et al. (2022), https://arxiv.org/abs/2110.06169."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.default_network import policy_and_value_networks
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.algorithms.off_policy_actor_critic import OffPolicyActorCritic
from rlgraph.components import IQLLoss, Policy, ValueFunction
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.components.common.observations import evaluating
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class IQL(OffPolicyActorCritic):
    """Learns from a data set, and evaluates no other actions than its own (Kostrikov et al., 2022).

    Args:
        state_space, action_space: the task, as the policy sees it.
        network_spec, value_network_spec: layers of the policy, default: `default_network`; of critics and value
            function, default: those.
        distributions_spec: of actions, see `choose_adapter`; for data with actions at their bounds
            ``{"bounded_distribution_type": "clipped_normal"}``.
        expectile: of the critics' values of the data's actions, which the value function approaches; see `IQLLoss`.
        inverse_temperature: how much the policy prefers better actions; 0 imitates all.
        tau: the critics' share in targets, in (0, 1].
        optimizer_spec: of policy, critics and value function, which have one optimizer each; default: Adam.
        scale_actions: whether critics see actions scaled from their bounds to -1..1; False: as the environment takes
            them, which learns only with bounds near these.
    """

    make_loss: Any = IQLLoss
    values_next_actions = False
    metrics: Mapping[str, Metric] = {
        **OffPolicyActorCritic.metrics,
        **usual("value_loss", "value_gradient_norm", "actor_gradient_norm"),
    }
    live_metrics = ("critic_loss", "actor_loss")
    search_space: ClassVar[Mapping[str, Any]] = {
        **OffPolicyActorCritic.search_space,
        "expectile": [0.5, 0.7, 0.9],
        "inverse_temperature": [1.0, 3.0, 10.0],
    }
    test_options: ClassVar[Mapping[str, Any]] = {
        "network_spec": [{"type": "dense", "units": 32, "activation": "relu"}],
        "inverse_temperature": 10.0,
        "tau": 0.1,
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        distributions_spec: Mapping[str, Any] | None = None,
        expectile: float = 0.7,
        inverse_temperature: float = 3.0,
        tau: float = 0.005,
        optimizer_spec: ComponentSpec = None,
        scale_actions: bool = True,
    ):
        layers, value_layers = policy_and_value_networks(state_space, network_spec, value_network_spec)
        self.policy = Policy(layers, action_space, distributions_spec=distributions_spec)
        self.value_function = ValueFunction(value_layers)
        self.scale_actions = check_flag(scale_actions, "scale_actions")
        self.make_critics(state_space, value_layers, tau)
        self.loss = self.make_loss(expectile=expectile, inverse_temperature=inverse_temperature)
        self.make_optimizers(optimizer_spec, "critic", "value", "actor")
        parts = (self.value_function, *self.critics, *self.targets, self.loss, *self.optimizers.values())
        super().__init__(self.policy, *parts, scope="iql")

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, progress: Any = None) -> Any:
        states, actions = records["observations"], records["actions"]
        value, calm = self.value_function.value_output(states), evaluating(self.value_function, states)
        losses = self.loss.loss(
            state_values=value,
            next_state_values=self.value_function.value_output(records["next_observations"]),
            q_values=tuple(critic.state_action_value(states, actions) for critic in self.critics),
            q_values_target=tuple(target.state_action_value(states, actions) for target in self.targets),
            log_likelihood=self.policy.get_log_likelihood(states, actions)["log_likelihood"],
            **{name: records[name] for name in ("rewards", "terminals", "discounts")},
            evaluated_values=value if calm is states else self.value_function.value_output(calm),
            weights=importance_weights,
        )
        norms = self.step("critic", self.critics, losses["critic_loss"], progress)
        norms |= self.step("value", [self.value_function], losses["value_loss"], progress)
        norms |= self.step("actor", [self.policy], losses["actor_loss"], progress)
        for target in self.targets:
            target.sync()
        return {"priorities": self.loss.get_errors(losses.pop("loss_per_item")), **losses, **norms}
