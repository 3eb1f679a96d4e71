"""Soft actor-critic: Haarnoja et al. (2018), https://arxiv.org/abs/1812.05905.

Of categories: Christodoulou (2019), https://arxiv.org/abs/1910.07207.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.algorithm_agent import AlgorithmAgent
from rlgraph.agents.default_network import default_network
from rlgraph.agents.experience.replay import Replay
from rlgraph.components import (
    Adam,
    EntropyTemperature,
    Policy,
    QPolicy,
    SACLoss,
    SACValueNetwork,
    Target,
    default_target_entropy,
)
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import IntBox, Space


class SAC(Algorithm):
    """Soft actor-critic with an automatic temperature and two critics (Haarnoja et al., 2018).

    Args:
        state_space, action_space: the task, as the policy sees it. Actions are floats with both bounds or a `Dict` or
            `Tuple` of them, or one category, of which expectations are taken (Christodoulou, 2019).
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of each critic, of states and action; of categories, of states. Default: those of
            the policy.
        state_network_spec: layers of each critic before the action joins, which make states flat floats; default: none.
        distributions_spec: distributions of the parts of an action; default: squashed normal ones.
        target_entropy: the entropy that the temperature aims at; default: see `default_target_entropy`.
        initial_alpha: the temperature at the start.
        tau: share of the critics in the targets' new values, in each update.
        optimizer_spec: of policy, critics and temperature, which have one optimizer each.
    """

    experience = Replay.of()

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        state_network_spec: NetworkSpec = None,
        distributions_spec: Mapping[str, Any] | None = None,
        target_entropy: float | None = None,
        initial_alpha: float = 1.0,
        tau: float = 0.005,
        optimizer_spec: ComponentSpec = None,
    ):
        layers = default_network(state_space) if network_spec is None else network_spec
        valuing = layers if value_network_spec is None else value_network_spec
        self.is_discrete = isinstance(action_space, IntBox) and not action_space.shape
        squashed = {"bounded_distribution_type": "squashed_normal", **(distributions_spec or {})}
        self.policy = Policy(layers, action_space, distributions_spec=squashed)
        if not self.is_discrete:
            self.policy.distribution.check_reparameterized("distributions_spec")
        self.critics = [
            QPolicy(valuing, action_space, scope=scope)
            if self.is_discrete
            else SACValueNetwork(valuing, state_network_spec, scope=scope)
            for scope in ("critic-0", "critic-1")
        ]
        self.targets = [Target(critic, tau) for critic in self.critics]
        self.temperature = EntropyTemperature(initial_alpha)
        entropy = default_target_entropy(action_space) if target_entropy is None else target_entropy
        self.loss = SACLoss(entropy, discrete=self.is_discrete)
        self.optimizers = [
            Adam.from_spec(optimizer_spec, path="optimizer_spec", scope=f"{part}-optimizer")
            for part in ("policy", "critic", "temperature")
        ]
        parts = (*self.critics, *self.targets, self.temperature, self.loss, *self.optimizers)
        super().__init__(self.policy, *parts, scope="sac")

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        return self.policy.get_stochastic_action(observations)

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        return self.policy.get_deterministic_action(observations)

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, time_percentage: Any = None) -> Any:
        states, next_states, actions = (records[x] for x in ("observations", "next_observations", "actions"))
        (drawn, log_probs), (later, next_log_probs) = self._drawn(states), self._drawn(next_states)
        alpha = self.temperature.get_alpha()
        losses = self.loss.loss(
            alpha,
            next_log_probs,
            self._values(self.targets, next_states, later),
            self._values(self.critics, states, actions),
            log_probs,
            self._values(self.critics, states, drawn),
            records["rewards"],
            records["terminals"],
            actions,
            records["discounts"],
            weights=importance_weights,
        )
        critics = self.critics[0].variables() + self.critics[1].variables()
        stepped = (self.policy.variables(), critics, self.temperature.variables())
        for optimizer, variables, name in zip(
            self.optimizers, stepped, ("actor", "critic", "alpha"), strict=True
        ):
            optimizer.step(variables, losses[f"{name}_loss"], time_percentage)
        for target in self.targets:
            target.sync()
        priorities = self._root(losses.pop("loss_per_item"))
        return {**losses, "alpha": alpha, "priorities": priorities}

    @graph_fn
    def _root(self, ops: Any, loss_per_item: Any) -> Any:
        """The root mean square of both critics' errors, ``[B] -> [B]``."""
        return ops.sqrt(loss_per_item)

    def _drawn(self, observations: Any) -> tuple[Any, Any]:
        """Actions and their log-probabilities; of categories only the logits of all."""
        if self.is_discrete:
            return None, self.policy.get_adapter_outputs_and_parameters(observations)["parameters"]
        drawn = self.policy.get_action_and_log_likelihood(observations, False)
        return drawn["action"], drawn["log_likelihood"]

    def _values(self, critics: Any, observations: Any, actions: Any) -> tuple[Any, ...]:
        """The values of each critic: of the actions, of categories of all."""
        if self.is_discrete:
            return tuple(critic.get_q_values(observations)["q_values"] for critic in critics)
        return tuple(critic.state_action_value(observations["states"], actions) for critic in critics)


class SACAgent(AlgorithmAgent):
    algorithm_class = SAC
