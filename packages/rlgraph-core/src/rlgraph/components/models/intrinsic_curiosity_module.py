"""Curiosity: intrinsic rewards for transitions that an agent cannot predict yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.action_spaces import action_space_of
from rlgraph.components.common.argument_checks import check_flag, check_number, check_whole
from rlgraph.components.models.curiosity_networks import CuriosityNetworks
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.curiosity import inverse_and_forward_loss
from rlgraph.core.functional.weighting import weighted_mean
from rlgraph.core.graph.trace import updating
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, SpaceSpec

#: Distributions whose support includes the bounds of actions.
AT_THEIR_BOUNDS = {"bounded_distribution_type": "normal", "half_bounded_distribution_type": "normal"}
HIDDEN = ({"type": "dense", "units": 256, "activation": "relu"},)


class IntrinsicCuriosityModule(Component):
    """The intrinsic curiosity module of Pathak et al. (2017), https://arxiv.org/abs/1705.05363.

    An encoder maps states to features. An inverse model predicts from the features of two successive states which
    action led from one to the other, so the features represent what actions change. A forward model predicts the
    features of the next state from the present features and the action. Its error is the intrinsic reward.

    Args:
        encoder_spec: the network of the encoder (instance, list of layer specs, or spec); followed by a linear
            layer of `num_features`.
        action_space: the Space of one action, of any kind, containers included.
        num_features: the length of the features.
        inverse_spec: the hidden layers of the inverse model.
        forward_spec: the hidden layers of the forward model.
        beta: weight of the loss of the forward model, in [0, 1]; the inverse model's is 1 - beta.
        eta: factor from the error of the forward model to the reward.
        distributions_spec: the distributions of actions (see `choose_adapter`). The default for bounded actions is the
            normal distribution, since actions may equal their bounds.
        optimizer_spec: the optimizer of all three networks.
        scale_actions: False: the networks see and predict actions as the environment takes them, instead of scaled from
            their bounds to -1..1 (see `ActionScaling`).

    Raises:
        SpecError: a number out of its range, an action without a matching distribution, or an invalid spec.
        SpaceError: the actions are from another Space.
    """

    def __init__(
        self,
        encoder_spec: NetworkSpec,
        action_space: SpaceSpec,
        num_features: int = 288,
        inverse_spec: NetworkSpec = HIDDEN,
        forward_spec: NetworkSpec = HIDDEN,
        beta: float = 0.2,
        eta: float = 0.01,
        distributions_spec: Mapping[str, Any] | None = None,
        optimizer_spec: ComponentSpec = "adam",
        scale_actions: bool = True,
        scope: str = "intrinsic-curiosity-module",
        **kwargs: Any,
    ):
        self.beta, self.eta = (
            check_number(beta, f"{scope}.beta", least=0, most=1),
            check_number(eta, f"{scope}.eta", least=0),
        )
        check_whole(num_features, f"{scope}.num_features", least=1)
        self.action_space = action_space_of(action_space, f"{scope}.action_space")
        self.networks = CuriosityNetworks(
            encoder_spec,
            self.action_space,
            num_features,
            inverse_spec,
            forward_spec,
            {**AT_THEIR_BOUNDS, **(distributions_spec or {})},
            where=scope,
            scale_actions=check_flag(scale_actions, f"{scope}.scale_actions"),
        )
        self.optimizer = Optimizer.from_spec(optimizer_spec, path=f"{scope}.optimizer_spec")
        super().__init__(self.networks, self.optimizer, scope=scope, **kwargs)

    @rlgraph_api
    def get_features(self, states: Any) -> Any:
        """``[B, num_features]`` of states ``[B, ...]``."""
        return self.networks.get_features(states)

    @rlgraph_api
    def predict_actions(self, states: Any, next_states: Any) -> Any:
        """The most likely actions ``[B, ...]`` that led from ``states [B, ...]`` to ``next_states [B, ...]``."""
        return self.networks.predict_actions(states, next_states)

    @rlgraph_api
    def get_intrinsic_rewards(self, states: Any, actions: Any, next_states: Any) -> Any:
        """``eta / 2 |prediction - features of next_states|^2``, ``[B]``; arguments as of `update`."""
        return self._rewards(self.networks.get_forward_error(states, actions, next_states))

    @rlgraph_api
    def get_loss(self, states: Any, actions: Any, next_states: Any, weights: Any = None) -> Any:
        """``{"loss", "inverse_loss", "forward_loss"}``, means [] over the batch; arguments as of `update`."""
        return self._losses(weights, states, actions, next_states)

    @rlgraph_api
    def update(
        self, states: Any, actions: Any, next_states: Any, progress: Any = None, weights: Any = None
    ) -> Any:
        """One step of the optimizer on ``(1 - beta) inverse_loss + beta forward_loss``.

        Args:
            states: ``[B, ...]``.
            actions: the actions taken in them, ``[B, ...]``.
            next_states: the resulting states, ``[B, ...]``.
            progress: the fraction of training done, []; only needed if the learning rate is a schedule.
            weights: of the transitions in the means, ``[B]``; one of weight 0 does not count. Default: all count.

        Returns:
            ``{"loss": [], "inverse_loss": [], "forward_loss": [], "intrinsic_rewards": [B]}`` before the
            step. The inverse loss is minus the log-likelihood of the actions, a cross-entropy for
            categorical actions.
        """
        with updating(True):
            losses = self._losses(weights, states, actions, next_states, True)
        rewards = self.get_intrinsic_rewards(states, actions, next_states)
        self.optimizer.step(self.networks.variables(trainable_only=True), losses["loss"], progress)
        return {**losses, "intrinsic_rewards": rewards}

    def _losses(self, weights: Any, *transition: Any) -> dict[str, Any]:
        inverse = self.networks.get_inverse_error(*transition)
        forward = self.networks.get_forward_error(*transition)
        loss, inverse_loss, forward_loss = self._means(inverse, forward, weights)
        return {"loss": loss, "inverse_loss": inverse_loss, "forward_loss": forward_loss}

    @graph_fn(returns=3)
    def _means(self, ops: Any, inverse: Any, forward: Any, weights: Any = None) -> Any:
        inverse, forward = weighted_mean(ops, inverse, weights), weighted_mean(ops, forward, weights)
        return inverse_and_forward_loss(ops, inverse, forward, self.beta), inverse, forward

    @graph_fn
    def _rewards(self, ops: Any, errors: Any) -> Any:
        return self.eta * ops.stop_gradient(errors)
