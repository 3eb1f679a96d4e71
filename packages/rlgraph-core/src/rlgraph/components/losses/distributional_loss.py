"""Q-learning with distributions of returns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.named_values import Parts, arguments_of
from rlgraph.components.losses.action_value_checks import check_action_values
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, Space
from rlgraph.spaces.errors import join, mismatch


class DistributionalLoss(LossFunction):
    """The base class of Q-learning losses on distributions of returns; interchangeable with `DQNLoss`.

    Each part of a container action is a separate learner on the same rewards; the loss of a transition is the mean of
    their losses.

    Args:
        discount: discount factor in [0, 1].
        double_q: choose the next action with the online network (van Hasselt et al., 2016).

    Raises:
        SpecError: a discount outside [0, 1].
    """

    item_arguments = ("rewards", "terminals", "discounts")
    part_arguments = ("q_values",)

    #: The smallest size of a distribution.
    fewest_numbers: ClassVar[int] = 1

    def __init__(self, discount: float, double_q: bool, scope: str, **kwargs: Any):
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.double_q = double_q
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        if "q_values" in input_spaces:
            self.check_distributions(input_spaces["q_values"])
            check_action_values(input_spaces, atoms=True)

    def check_distributions(self, values: Space) -> None:
        """Raise `SpaceError` unless the leaves of `values` are distributions for each action."""
        for path, box in values.flatten().items():
            has_numbers = isinstance(box, FloatBox) and len(box.get_shape(True, True)) >= 3
            if not has_numbers or box.shape[-1] < self.fewest_numbers:
                raise mismatch(
                    join("q_values", path),
                    f"numbers of distributions for each action, [B, A, N], N at least {self.fewest_numbers}",
                    repr(box),
                )

    @rlgraph_api
    def loss_per_item(
        self,
        q_values: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        q_next: Any,
        q_next_target: Any,
        discounts: Any = None,
        next_actions: Any = None,
    ) -> Any:
        """The loss per item [B].

        Args:
            q_values: online distributions of the states [B, A, N]; of a container action a container of such.
            actions: actions taken [B], or a container of such.
            rewards: rewards [B], or discounted sums of several.
            terminals: where the episode terminated [B], bool; truncation is not termination.
            q_next: online distributions of the next states, as `q_values`; not used without double Q.
            q_next_target: the target network's distributions of the next states, as `q_values`.
            discounts: discount of the returns of each next state [B]; default: `discount`.
            next_actions: actions in the next states, as `actions`; default: those of the largest mean. Where not all
                actions are possible, a policy must say which is the best one.
        """
        taken, following = self._taken_and_next(q_values, actions, q_next, q_next_target, next_actions)
        return self._loss_per_item(taken, following, rewards, terminals, discounts)

    @rlgraph_api
    @arguments_of(loss_per_item)
    def get_td_errors(self, rewards: Any, terminals: Any, discounts: Any, **values: Any) -> Any:
        """The error of each item [B], for priorities: the mean over the parts of an action; arguments as of `loss`."""
        taken, following = self._taken_and_next(**values)
        return self._td_errors(taken, following, rewards, terminals, discounts)

    @graph_fn(returns=2, flatten_ops=True)
    def _taken_and_next(
        self,
        ops: Any,
        q_values: Parts,
        actions: Parts,
        q_next: Parts,
        q_next_target: Parts,
        next_actions: Parts | None = None,
    ) -> Any:
        """The distributions of all D elements of the actions taken, and of the best next ones: ``[B, D, N]`` both."""
        taken, following = [], []
        for path, values in q_values.items():
            taken.append(_of_actions(ops, values, ops.astype(actions[path], "int64")))
            if next_actions is None:
                chooser = q_next[path] if self.double_q else q_next_target[path]
                best = ops.argmax(self.means(ops, chooser), axis=-1)
            else:
                best = ops.astype(next_actions[path], "int64")
            following.append(_of_actions(ops, q_next_target[path], best))
        return ops.concat(taken, axis=1), ops.concat(following, axis=1)

    @graph_fn
    def _loss_per_item(
        self, ops: Any, taken: Any, following: Any, rewards: Any, terminals: Any, discounts: Any = None
    ) -> Any:
        targets = self._targets(ops, following, rewards, terminals, discounts)
        return ops.mean(self.penalties(ops, taken, targets), axis=1)

    @graph_fn
    def _td_errors(
        self, ops: Any, taken: Any, following: Any, rewards: Any, terminals: Any, discounts: Any = None
    ) -> Any:
        targets = self._targets(ops, following, rewards, terminals, discounts)
        return ops.mean(self.errors(ops, taken, targets), axis=1)

    def _targets(self, ops: Any, following: Any, rewards: Any, terminals: Any, discounts: Any) -> Any:
        discount = self.discount if discounts is None else ops.expand_dims(discounts, 1)
        rewards, terminals = ops.expand_dims(rewards, 1), ops.expand_dims(terminals, 1)
        return self.targets(ops, following, rewards, terminals, discount)

    @abstractmethod
    def means(self, ops: Any, values: Any) -> Any:
        """Expected values: ``[..., N] -> [...]``."""

    @abstractmethod
    def targets(self, ops: Any, following: Any, rewards: Any, terminals: Any, discount: Any) -> Any:
        """``following [B, D, N], rewards [B, 1], terminals [B, 1], discount`` a number or ``[B, 1] -> [B, D, N]``."""

    @abstractmethod
    def penalties(self, ops: Any, taken: Any, targets: Any) -> Any:
        """The losses: ``[B, D, N], [B, D, N] -> [B, D]``."""

    @abstractmethod
    def errors(self, ops: Any, taken: Any, targets: Any) -> Any:
        """The sizes of errors: ``[B, D, N], [B, D, N] -> [B, D]``."""


def _of_actions(ops: Any, values: Any, actions: Any) -> Any:
    """``values [B, ..., A, N], actions [B, ...] -> [B, D, N]``."""
    indices = ops.expand_dims(ops.expand_dims(actions, -1), -1)
    number = values.shape[-1]
    picked = ops.take_along_axis(
        values, ops.tile(indices, (1,) * (len(indices.shape) - 1) + (number,)), axis=-2
    )
    return ops.reshape(picked, (-1, math.prod(picked.shape[1:-1]), number))
