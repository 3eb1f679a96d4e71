"""The cross-entropy loss of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.named_values import api_of
from rlgraph.components.losses.supervised_loss import SupervisedLoss
from rlgraph.core import graph_fn
from rlgraph.core.functional.supervised import (
    categorical_cross_entropy,
    divergence_from_uniform,
    soft_cross_entropy,
)
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space, SpaceError


class CategoricalCrossEntropyLoss(SupervisedLoss):
    """``-log softmax(parameters)[label]``.

    Args:
        sparse: labels are integer classes; False: labels are probabilities of all classes.
        with_kl_regularizer: add the divergence of the prediction from the uniform distribution (label smoothing;
            Pereyra et al., 2017, https://arxiv.org/abs/1701.06548), as RLgraph 0.5 does with sequences.
        average_time_steps: as in `LossFunction`.
    """

    def __init__(
        self,
        sparse: bool = True,
        with_kl_regularizer: bool = False,
        average_time_steps: bool = False,
        scope: str = "cross-entropy-loss",
        **kwargs: Any,
    ):
        self.sparse, self.with_kl_regularizer = sparse, with_kl_regularizer
        super().__init__(average_time_steps, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        parameters, labels = input_spaces["parameters"], input_spaces["labels"]
        if not isinstance(parameters, FloatBox) or not parameters.shape:
            raise SpaceError(
                f"parameters: expected a FloatBox of logits, one per class in the last axis, given {parameters!r}"
            )
        classes = parameters.shape[-1]
        if not self.sparse:
            if not isinstance(labels, FloatBox) or labels.shape != parameters.shape:
                raise SpaceError(
                    f"labels: expected probabilities of {classes} classes, a FloatBox of shape {parameters.shape}, "
                    f"given {labels!r}; sparse=True takes integers"
                )
        elif not isinstance(labels, IntBox | BoolBox) or labels.shape != parameters.shape[:-1]:
            raise SpaceError(
                f"labels: expected one of {classes} classes, an IntBox of shape {parameters.shape[:-1]}, given "
                f"{labels!r}; sparse=False takes probabilities"
            )
        elif labels.num_categories is not None and labels.num_categories > classes:
            raise SpaceError(
                f"labels: {labels!r} has {labels.num_categories} classes, parameters have logits for {classes}"
            )

    @graph_fn
    def _loss_per_item(self, ops: Any, parameters: Any, labels: Any) -> Any:
        """One number per item, the sum over all axes but those of batch and time.

        Args:
            parameters: logits ``[B, ..., C]``, of sequences ``[T, B, ..., C]`` or ``[B, T, ..., C]``.
            labels: classes ``[B, ...]``, or probabilities of the shape of `parameters`.
        """
        if self.sparse:
            losses = categorical_cross_entropy(ops, parameters, ops.astype(labels, "int64"))
        else:
            losses = soft_cross_entropy(ops, parameters, labels)
        if self.with_kl_regularizer:
            losses = losses + divergence_from_uniform(ops, parameters)
        return self.sum_of_elements(ops, losses)

    loss_per_item = api_of("loss_per_item", _loss_per_item)
