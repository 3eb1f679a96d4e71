"""A predictor with its loss and optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rlgraph.components.common.action_spaces import check_actions
from rlgraph.components.losses.negative_log_likelihood_loss import NegativeLogLikelihoodLoss
from rlgraph.components.losses.supervised_loss import SupervisedLoss
from rlgraph.components.models.supervised_predictor import SupervisedPredictor
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import Space


class SupervisedModel(Component):
    """A predictor, a loss of its predictions and the labels, and an optimizer.

    Args:
        predictor_spec: a `SupervisedPredictor` or its spec.
        loss_spec: a loss with ``loss(parameters, labels)``; None: minus the log-likelihood of the labels, by the
            distribution of the predictor.
        optimizer_spec: the optimizer.

    Raises:
        SpecError: neither a loss nor a predictor with a distribution, or an invalid spec.
        SpaceError: without a loss, labels with other parts than those of the predictor's `label_space`, or integers
            beyond theirs.
    """

    other_names = MappingProxyType(
        {"predictor": "predictor_spec", "loss_function": "loss_spec", "optimizer": "optimizer_spec"}
    )

    def __init__(
        self,
        predictor_spec: ComponentSpec,
        loss_spec: ComponentSpec = None,
        optimizer_spec: ComponentSpec = "adam",
        scope: str = "supervised-model",
        **kwargs: Any,
    ):
        self.predictor = SupervisedPredictor.from_spec(predictor_spec, path=f"{scope}.predictor_spec")
        if loss_spec is None and self.predictor.distribution is None:
            raise SpecError(
                "expected a loss_spec, such as {'type': 'euclidian_distance_loss'}, or a predictor with a "
                "label_space, whose distribution defines the loss",
                path=scope,
            )
        self.loss: Any = (
            NegativeLogLikelihoodLoss(self.predictor.distribution, scope="loss")
            if loss_spec is None
            else SupervisedLoss.from_spec(loss_spec, path=f"{scope}.loss_spec")
        )
        self.optimizer = Optimizer.from_spec(optimizer_spec, path=f"{scope}.optimizer_spec")
        #: Space of the labels, if known; a given loss may expect another one.
        self.label_space = self.predictor.label_space if loss_spec is None else None
        super().__init__(self.predictor, self.loss, self.optimizer, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if self.label_space is not None and "labels" in input_spaces:
            check_actions(input_spaces["labels"], self.label_space, "labels")

    @rlgraph_api
    def predict(self, inputs: Any, deterministic: Any = None) -> Any:
        """Labels ``[B, ...]`` for ``inputs [B, ...]``; arguments as of `SupervisedPredictor.predict`."""
        return self.predictor.predict(inputs, deterministic)

    @rlgraph_api
    def get_distribution_parameters(self, inputs: Any) -> Any:
        """The loss's argument for ``inputs [B, ...]``; see `SupervisedPredictor.get_distribution_parameters`."""
        return self.predictor.get_distribution_parameters(inputs, False)

    @rlgraph_api
    def get_loss(self, inputs: Any, labels: Any, sequence_length: Any = None, weights: Any = None) -> Any:
        """``{"loss": [], "loss_per_item": [B]}``, without a step; arguments as of `update`."""
        return self._losses(False, inputs, labels, sequence_length, weights)

    @rlgraph_api
    def update(
        self, inputs: Any, labels: Any, sequence_length: Any = None, weights: Any = None, progress: Any = None
    ) -> Any:
        """One step of the optimizer.

        Args:
            inputs: ``[B, ...]``, or of sequences.
            labels: ``[B, ...]``, as the loss expects them.
            sequence_length: number of valid steps of each sequence [B]; default: all.
            weights: of the items in the mean [B]; an item of weight 0 does not count.
            progress: the fraction of training done, []; only needed if the learning rate is a schedule.

        Returns:
            ``{"loss": [], "loss_per_item": [B]}`` before the step.
        """
        losses = self._losses(True, inputs, labels, sequence_length, weights)
        self.optimizer.step(self.predictor.variables(trainable_only=True), losses["loss"], progress)
        return losses

    def _losses(
        self, training: bool, inputs: Any, labels: Any, sequence_length: Any, weights: Any
    ) -> dict[str, Any]:
        parameters = self.predictor.get_distribution_parameters(inputs, training)
        losses: dict[str, Any] = self.loss.loss(
            parameters, labels, weights=weights, sequence_length=sequence_length
        )
        return losses
