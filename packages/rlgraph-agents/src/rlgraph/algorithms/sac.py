"""Soft actor-critic: Haarnoja et al. (2018), https://arxiv.org/abs/1812.05905."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from rlgraph.algorithms.action_checks import check_bounded_floats
from rlgraph.algorithms.default_network import policy_and_value_networks
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.algorithms.off_policy_actor_critic import OffPolicyActorCritic
from rlgraph.components import (
    EntropyTemperature,
    Policy,
    QPolicy,
    SACLoss,
    default_target_entropy,
)
from rlgraph.components.common.action_scaling import log_half_ranges
from rlgraph.components.common.argument_checks import check_flag, check_whole
from rlgraph.components.common.observations import evaluating
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import IntBox, Space


class SAC(OffPolicyActorCritic):
    """Soft actor-critic with an automatic temperature and two or more critics (Haarnoja et al., 2018).

    Args:
        state_space, action_space: the task, as the policy sees it; for one category see Christodoulou (2019).
        network_spec, value_network_spec: layers of the policy, default: `default_network`; of critics, default: those.
        num_critics: number of critics; the smallest of their values counts.
        target_entropy, initial_alpha: what the temperature aims at, of actions scaled to -1..1, and its start.
        tau: the critics' share in targets, in (0, 1].
        random_before_update: whether actions are uniformly random until the first update, as in the paper.
        optimizer_spec: of policy, critics and temperature, which have one optimizer each; default: Adam.
        scale_actions: whether critics see actions scaled from their bounds to -1..1, and densities and entropies are
            of scaled ones; False, as in version 0.2: as the environment takes them, which learns only with bounds near
            these; and critics of categories have the layers of the policy.
    """

    metrics: Mapping[str, Metric] = {
        **OffPolicyActorCritic.metrics,
        **usual("entropy", "actor_gradient_norm"),
        "alpha": Metric("Temperature: the weight of the entropy.", "return per nat"),
        "alpha_loss": Metric("The loss of the temperature.", "loss"),
    }
    make_loss: Any = SACLoss
    live_metrics = ("critic_loss", "alpha")
    search_space: ClassVar[Mapping[str, Any]] = {
        **OffPolicyActorCritic.search_space,
        "tau": [0.005, 0.01, 0.02, 0.05],
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        num_critics: int = 2,
        target_entropy: float | None = None,
        initial_alpha: float = 1.0,
        tau: float = 0.005,
        random_before_update: bool = False,
        optimizer_spec: ComponentSpec = None,
        scale_actions: bool = True,
    ):
        num_critics = check_whole(num_critics, "num_critics", least=1)
        discrete = isinstance(action_space, IntBox) and not action_space.shape and action_space.num_categories
        if not discrete:
            check_bounded_floats(action_space, ", or one category, IntBox(n)")
        layers, value_layers = policy_and_value_networks(state_space, network_spec, value_network_spec)
        squashed = {"bounded_distribution_type": "squashed_normal"}
        self.policy = Policy(layers, action_space, distributions_spec=squashed)
        new = partial(QPolicy, value_layers if scale_actions else layers, action_space) if discrete else None
        self.scale_actions = check_flag(scale_actions, "scale_actions")
        self.make_critics(state_space, value_layers, tau, num_critics, new)
        self.log_half_ranges = log_half_ranges(action_space) if scale_actions else 0.0
        entropy = default_target_entropy(action_space) - self.log_half_ranges
        entropy = entropy if target_entropy is None else target_entropy
        self.temperature = EntropyTemperature(initial_alpha)
        self.loss = self.make_loss(
            target_entropy=entropy, discrete=bool(discrete), num_q_functions=num_critics
        )
        self.make_optimizers(optimizer_spec, "actor", "critic", "alpha")
        parts = (*self.critics, *self.targets, self.temperature, self.loss, *self.optimizers.values())
        parts += self.make_first_actions(action_space, random_before_update)
        super().__init__(self.policy, *parts, scope="sac")

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        return self.at_first(self.policy.get_stochastic_action(observations), observations)

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, progress: Any = None) -> Any:
        states, next_states = records["observations"], records["next_observations"]
        actions, log_probs = self.drawn_actions(states)
        next_actions, next_log_probs = self.drawn_actions(next_states)
        losses = self.loss.loss(
            alpha=(alpha := self.temperature.get_alpha()),
            log_probs_next_sampled=next_log_probs,
            q_values_next_sampled=self.values_of(self.targets, next_states, next_actions),
            q_values=self.values_of(self.critics, states, records["actions"]),
            log_probs_sampled=log_probs,
            q_values_sampled=self.values_of(self.critics, evaluating(self.critics[0], states), actions),
            **{name: records[name] for name in ("rewards", "terminals", "actions", "discounts")},
            weights=importance_weights,
            action_mask=states.get("action_mask"),
        )
        norms = self.step("actor", [self.policy], losses["actor_loss"], progress)
        norms |= self.step("critic", self.critics, losses["critic_loss"], progress)
        self.optimizers["alpha"].step(self.temperature.variables(), losses["alpha_loss"], progress)
        for target in self.targets:
            target.sync()
        self.count_update()
        return {
            "priorities": self.loss.get_errors(losses.pop("loss_per_item")),
            "alpha": alpha,
            **losses,
            **norms,
        }

    def drawn_actions(self, observations: Any) -> tuple[Any, Any]:
        """Actions of the policy and their log-probabilities; of categories None and the logits of all.

        For use in API methods.
        """
        if self.loss.discrete:
            return None, self.policy.get_adapter_outputs_and_parameters(observations)["parameters"]
        drawn = self.policy.get_action_and_log_likelihood(observations, False)
        scaled = self._of_scaled if self.log_half_ranges else lambda density: density
        return drawn["action"], scaled(drawn["log_likelihood"])

    @graph_fn
    def _of_scaled(self, ops: Any, log_density: Any) -> Any:
        return log_density + self.log_half_ranges

    def values_of(self, critics: Any, observations: Any, actions: Any) -> tuple[Any, ...]:
        """Each critic's values of the actions ``[B]``; of categories those of all ``[B, A]``.

        For use in API methods.
        """
        if self.loss.discrete:
            return tuple(critic.get_q_values(observations)["q_values"] for critic in critics)
        return tuple(critic.state_action_value(observations, actions) for critic in critics)
