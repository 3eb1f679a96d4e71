"""Cases of losses of supervised learning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import (
    CategoricalCrossEntropyLoss,
    ContainerLoss,
    EuclidianDistanceLoss,
    NegativeLogLikelihoodLoss,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing.conformance.cases.case import PER_ITEM, VALUES, Case
from rlgraph.testing.conformance.cases.policy_losses import LENGTHS, LOG_PROBS, PARTS_LOG_PROBS, in_time

CLASSES = IntBox(4, add_batch_rank=True)
PROBABILITIES = FloatBox(0.0, 0.5, shape=(4,), add_batch_rank=True)


def _case(make: Callable[[], Any], parameters: Any, labels: Any = None, **spaces: Any) -> Case:
    if labels is not None:
        spaces["labels"] = labels
    return Case(make, {"parameters": parameters, **spaces}, ("loss", "loss_per_item"), by=("parameters",))


CASES: dict[str, Case] = {
    "categorical_cross_entropy_loss": _case(CategoricalCrossEntropyLoss, VALUES, CLASSES),
    "categorical_cross_entropy_loss_regularized": _case(
        lambda: CategoricalCrossEntropyLoss(sparse=False, with_kl_regularizer=True),
        VALUES,
        PROBABILITIES,
        weights=PER_ITEM,
    ),
    "categorical_cross_entropy_loss_sequences": _case(
        lambda: CategoricalCrossEntropyLoss(average_time_steps=True),
        in_time(FloatBox(shape=(2, 3), add_batch_rank=True), time_major=False),
        in_time(IntBox(3, shape=(2,), dtype="int32", add_batch_rank=True), time_major=False),
        **LENGTHS,
    ),
    "euclidian_distance_loss": _case(
        EuclidianDistanceLoss,
        FloatBox(shape=(2, 3), add_batch_rank=True),
        FloatBox(shape=(2, 3), add_batch_rank=True),
    ),
    "euclidian_distance_loss_sequences": _case(
        lambda: EuclidianDistanceLoss(average_time_steps=False),
        in_time(FloatBox(shape=(3,), add_batch_rank=True)),
        in_time(BoolBox(shape=(3,), add_batch_rank=True)),
        **LENGTHS,
    ),
    "negative_log_likelihood_loss": _case(NegativeLogLikelihoodLoss, LOG_PROBS),
    "negative_log_likelihood_loss_sequences": _case(
        NegativeLogLikelihoodLoss, in_time(PARTS_LOG_PROBS), **LENGTHS
    ),
    "negative_log_likelihood_loss_of_a_distribution": _case(
        lambda: NegativeLogLikelihoodLoss("normal"),
        Tuple(FloatBox(shape=(2,)), FloatBox(0.5, 2.0, shape=(2,)), add_batch_rank=True),
        FloatBox(shape=(2,), add_batch_rank=True),
    ),
    "container_loss": _case(
        lambda: ContainerLoss(
            {
                "distance": {"type": "euclidian_distance_loss", "weight": 2.0},
                "kind": "categorical_cross_entropy_loss",
            }
        ),
        Dict(distance=FloatBox(shape=(3,)), kind=FloatBox(shape=(4,)), add_batch_rank=True),
        Dict(distance=FloatBox(shape=(3,)), kind=IntBox(4), add_batch_rank=True),
        weights=PER_ITEM,
    ),
    "container_loss_list_in_time": _case(
        lambda: ContainerLoss(
            [EuclidianDistanceLoss(), "categorical_cross_entropy_loss"], weights=[0.5, 2.0]
        ),
        in_time(Tuple(FloatBox(shape=(3,)), FloatBox(shape=(4,)), add_batch_rank=True)),
        in_time(Tuple(FloatBox(shape=(3,)), IntBox(4), add_batch_rank=True)),
        **LENGTHS,
    ),
}
