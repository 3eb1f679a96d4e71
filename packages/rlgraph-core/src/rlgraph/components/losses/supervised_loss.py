"""The base class of supervised losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.components.losses.per_item_checks import check_items, check_lengths, time_axis_of
from rlgraph.core.functional.policy_gradient import sum_of_parts
from rlgraph.spaces import Space, SpaceError


class SupervisedLoss(LossFunction):
    """A loss with the API method ``loss_per_item(parameters, labels)``.

    Items are ``[B]``, or the steps of sequences, ``[T, B]`` or ``[B, T]``, as the Space of `parameters` says.

    Args:
        average_time_steps: as in `LossFunction`.
    """

    part_arguments = ("parameters",)
    takes_sequences = True

    def __init__(self, average_time_steps: bool, scope: str, **kwargs: Any):
        self.average_time_steps = average_time_steps
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_lengths(input_spaces)
        space = input_spaces["parameters"]
        for name in ("labels", "weights"):
            other = input_spaces.get(name)
            if other is not None and _ranks(other) != _ranks(space):
                raise SpaceError(
                    f"{name}: expected the batch and time ranks of parameters, {space!r}, given {other!r}; others "
                    "would silently broadcast over all pairs of items"
                )
        if "weights" in input_spaces:
            check_items({"weights": input_spaces["weights"]})
        self.item_rank = 2 if space.has_batch_rank and space.has_time_rank else 1
        self.time_axis = time_axis_of(space) if space.has_time_rank else None

    def sum_of_elements(self, ops: Any, losses: Any) -> Any:
        """The sum over all axes after those of the items."""
        return sum_of_parts(ops, [losses], self.item_rank)


def _ranks(space: Space) -> tuple[bool, bool, bool]:
    """Whether batch and time rank exist, and whether time comes first."""
    both = space.has_batch_rank and space.has_time_rank
    return space.has_batch_rank, space.has_time_rank, both and bool(space.time_major)
