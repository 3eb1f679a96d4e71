"""The distance of vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.named_values import api_of
from rlgraph.components.losses.supervised_loss import SupervisedLoss
from rlgraph.core import graph_fn
from rlgraph.core.functional.supervised import euclidean_distance
from rlgraph.spaces import BoxSpace, Space, SpaceError


class EuclidianDistanceLoss(SupervisedLoss):
    """``sqrt(sum_i (parameters_i - labels_i)^2)``, over all axes but those of batch and time.

    Args:
        average_time_steps: as in `LossFunction`.
    """

    def __init__(
        self, average_time_steps: bool = True, scope: str = "euclidian-distance-loss", **kwargs: Any
    ):
        super().__init__(average_time_steps, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        parameters, labels = input_spaces["parameters"], input_spaces["labels"]
        if not isinstance(labels, BoxSpace) or labels.shape != parameters.shape:
            raise SpaceError(
                f"labels: expected the shape of parameters, {parameters.shape}, given {labels!r}; another one would "
                "silently broadcast over all elements"
            )

    @graph_fn
    def _loss_per_item(self, ops: Any, parameters: Any, labels: Any) -> Any:
        """One number per item.

        Args:
            parameters: predictions ``[B, ...]``, of sequences ``[T, B, ...]`` or ``[B, T, ...]``.
            labels: targets of the shape of `parameters`; numbers or bool.
        """
        return euclidean_distance(ops, parameters, ops.astype(labels, "float"), self.item_rank)

    loss_per_item = api_of("loss_per_item", _loss_per_item)
