"""The base class of losses with several critics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.components.common.argument_checks import MAX_PARTS, check_number, check_whole
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.td3 import clipped_double_q
from rlgraph.spaces import BoxSpace, Space, SpaceError, Tuple


class CriticsLoss(LossFunction):
    """The base class of losses with several critics; its ``loss`` is the sum of their squared errors.

    Args:
        discount: discount factor in [0, 1].
        num_q_functions: number of critics.

    Attributes:
        critic_arguments: names of the arguments that are tuples with the values of each critic.
        share_of_squares: what the squared errors are multiplied by in the loss.
        critic_axes: the number of axes of the values of a critic, 1 for [B] and 2 for [B, A].

    Raises:
        SpecError: a discount outside [0, 1], or no critic.
    """

    critic_arguments: ClassVar[tuple[str, ...]] = ()
    share_of_squares: ClassVar[float] = 1.0
    critic_axes: int = 1

    def __init__(self, discount: float, num_q_functions: int, scope: str, **kwargs: Any):
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.num_q_functions = check_whole(
            num_q_functions, f"{scope}.num_q_functions", least=1, most=MAX_PARTS
        )
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        number, axes = self.num_q_functions, self.critic_axes
        shape = "[B]" if axes == 1 else "[B, A]"
        for name in self.critic_arguments:
            space = input_spaces.get(name)
            if space is not None and (not isinstance(space, Tuple) or len(space) != number):
                raise SpaceError(
                    f"{name}: expected a tuple with the values of {number} critics, {shape} each, given {space!r}; "
                    "num_q_functions sets the number of critics"
                )
            for index, values in enumerate(space or ()):
                if not isinstance(values, BoxSpace) or len(values.get_shape(True, True)) != axes:
                    hint = _help(values) if axes == 1 else ""
                    raise SpaceError(f"{name}[{index}]: expected {shape}, given {values!r}{hint}")

    def target_value(self, ops: Any, q_values: Sequence[Any]) -> Any:
        """The value in targets, of those of several critics; a subclass may override it.

        Here the smallest (Fujimoto et al., 2018, eq. 10).
        """
        return clipped_double_q(ops, q_values)

    @rlgraph_api(must_be_complete=False)
    def get_errors(self, loss_per_item: Any = None) -> Any:
        """The root mean square of the critics' errors, for priorities: ``loss_per_item [B] -> [B]``."""
        return None if loss_per_item is None else self._root_mean_square(loss_per_item)

    @graph_fn
    def _root_mean_square(self, ops: Any, loss_per_item: Any) -> Any:
        return ops.sqrt(loss_per_item / (self.num_q_functions * self.share_of_squares))


def _help(values: Any) -> str:
    if isinstance(values, BoxSpace) and values.shape == (1,):
        return "; ops.squeeze(x, axis=-1) removes the last axis"
    return ""
