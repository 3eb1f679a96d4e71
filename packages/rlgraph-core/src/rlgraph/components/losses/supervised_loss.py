"""The base class of supervised losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.components.losses.per_item_checks import check_lengths
from rlgraph.core.functional.policy_gradient import sum_of_parts
from rlgraph.spaces import Space, SpaceError


class SupervisedLoss(LossFunction):
    """A loss with the API method ``loss_per_item(parameters, labels, sequence_length=None)``.

    Items are ``[B]``, or of sequences ``[T, B]`` or ``[B, T]``, as the Space of `parameters` says; the loss per item of
    sequences is ``[B]``.

    Args:
        average_time_steps: the loss of a sequence is the mean of its steps; False: their sum.
        scope: name among its siblings.

    Attributes:
        item_rank: number of axes of the items, 1 or 2. Known after the build.
    """

    item_rank: int

    def __init__(self, average_time_steps: bool, scope: str, **kwargs: Any):
        self.average_time_steps = average_time_steps
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_lengths(input_spaces)
        space, labels = input_spaces["parameters"], input_spaces.get("labels")
        if labels is not None and _ranks(labels) != _ranks(space):
            raise SpaceError(
                f"labels: expected the batch and time ranks of parameters, {space!r}, given {labels!r}; others would "
                "silently broadcast over all pairs of items"
            )
        self.item_rank = 2 if space.has_batch_rank and space.has_time_rank else 1
        self.time_axis = None
        if space.has_time_rank:
            self.time_axis = 0 if space.time_major or not space.has_batch_rank else 1

    def sum_of_elements(self, ops: Any, losses: Any) -> Any:
        """The sum over all axes after those of the items."""
        return sum_of_parts(ops, [losses], self.item_rank)


def _ranks(space: Space) -> tuple[bool, bool, bool]:
    """Whether batch and time rank exist, and whether time comes first."""
    both = space.has_batch_rank and space.has_time_rank
    return space.has_batch_rank, space.has_time_rank, both and bool(space.time_major)
