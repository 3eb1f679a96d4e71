"""The loss of deep Q-learning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.components.common.argument_checks import check_choice, check_flag, check_number
from rlgraph.components.common.named_values import Parts, api_of, arguments_of
from rlgraph.components.losses.action_value_checks import check_action_values, check_is_one_integer
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.components.policies.categorical_actions import is_one_integer
from rlgraph.core import graph_fn, in_group, rlgraph_api
from rlgraph.core.functional.q_learning import (
    action_values,
    branching_td_errors,
    double_q_next_values,
    greedy_next_values,
    huber,
)
from rlgraph.core.functional.weighting import weighted_mean, without_garbage
from rlgraph.spaces import Space

#: How to aggregate the TD errors of the parts of an action.
TD_AGGREGATIONS = ("mean_loss", "mean_error")
#: Arguments with values of each part of an action.
PER_PART = frozenset({"q_values", "actions", "q_next", "q_next_target"})


class DQNLoss(LossFunction):
    """Mean of squared (or Huber) temporal-difference errors (Mnih et al., 2015).

    Each part of a container action is a separate Q-learner on the same rewards; the loss of a transition is the mean of
    their losses.

    Args:
        discount: discount factor in [0, 1].
        double_q: choose the next action with the online network (van Hasselt et al., 2016).
        huber_loss: Huber instead of half the square; limits the gradient of large errors to 1.
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them; None: one `IntBox`.
        shared_container_action_target: all parts of an action share one target, from the mean of their next values
            (Tavakoli et al., 2018, https://arxiv.org/abs/1711.08946).
        td_aggregation: ``"mean_loss"``: the mean of the parts' losses; ``"mean_error"``: the loss of the mean of the
            parts' errors, as in RLgraph 0.5 (errors of opposite sign cancel).
        value_rescaling: the network's values are ``h(Q)``, see `rlgraph.core.functional.q_learning.rescale` (Pohlen et
            al., 2018).

    Raises:
        SpecError: a discount outside [0, 1], or an unknown aggregation.
    """

    item_arguments: ClassVar[tuple[str, ...]] = ("rewards", "terminals", "discounts")
    part_arguments = ("q_values",)

    def __init__(
        self,
        discount: float = 0.99,
        double_q: bool = True,
        huber_loss: bool = False,
        action_space: Space | None = None,
        shared_container_action_target: bool = False,
        td_aggregation: str = "mean_loss",
        value_rescaling: bool = False,
        scope: str = "loss",
        **kwargs: Any,
    ):
        self.td_aggregation = check_choice(td_aggregation, f"{scope}.td_aggregation", TD_AGGREGATIONS)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.double_q = double_q
        self.huber_loss = huber_loss
        self.has_parts = not (action_space is None or is_one_integer(action_space))
        self.shared_container_action_target = shared_container_action_target
        self.value_rescaling = check_flag(value_rescaling, f"{scope}.value_rescaling")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        if "q_values" in input_spaces:
            if not self.has_parts:
                check_is_one_integer(input_spaces["q_values"])
            check_action_values(input_spaces)

    @graph_fn(returns=2, flatten_ops=PER_PART)
    def _loss(
        self,
        ops: Any,
        q_values: Parts,
        actions: Parts,
        rewards: Any,
        terminals: Any,
        q_next: Parts,
        q_next_target: Parts,
        discounts: Any = None,
        weights: Any = None,
    ) -> Any:
        """``[], [B]``."""
        if weights is not None:
            actions = {path: without_garbage(ops, action, weights) for path, action in actions.items()}
        taken, following = self._taken_and_next(ops, q_values, actions, q_next, q_next_target)
        errors = self._errors(ops, taken, following, rewards, terminals, discounts)
        if weights is not None:
            errors = without_garbage(ops, errors, weights)
        per_item = ops.mean(self._penalty(ops, errors), axis=1)
        return weighted_mean(ops, per_item, weights), per_item

    @graph_fn(flatten_ops=PER_PART)
    def _sizes(
        self,
        ops: Any,
        q_values: Parts,
        actions: Parts,
        rewards: Any,
        terminals: Any,
        q_next: Parts,
        q_next_target: Parts,
        discounts: Any = None,
    ) -> Any:
        """The size of the TD error per item [B], the mean over the parts of an action; arguments as of `loss`."""
        taken, following = self._taken_and_next(ops, q_values, actions, q_next, q_next_target)
        return ops.mean(ops.abs(self._errors(ops, taken, following, rewards, terminals, discounts)), axis=1)

    @rlgraph_api
    @arguments_of(_loss)
    def loss(self, **values: Any) -> Any:
        """``{"loss": [], "loss_per_item": [B]}``.

        Args:
            q_values: online values of the states [B, A]; of a container action a container of such.
            actions: actions taken [B], or a container of such.
            rewards: rewards [B], or discounted sums of several.
            terminals: where the episode terminated [B], bool; truncation is not termination.
            q_next: online values of the next states, as `q_values`; not used without double Q.
            q_next_target: target network's values of the next states, as `q_values`.
            discounts: discount of the value of each next state [B]; default: `discount`.
            weights: of the items in the mean [B], such as importance weights; an item of weight 0 does not count.
        """
        # One graph function: few calls matter here.
        loss, per_item = self._loss(**values)
        if in_group():
            loss = self.mean_of(per_item, values["weights"], measured=False)
        return {"loss": loss, "loss_per_item": per_item}

    @rlgraph_api
    @arguments_of(_sizes)
    def loss_per_item(self, **values: Any) -> Any:
        """The loss per item [B]; arguments as of `loss`."""
        return self._loss(**values)[1]

    get_td_errors = api_of("get_td_errors", _sizes)

    def _taken_and_next(
        self, ops: Any, q_values: Parts, actions: Parts, q_next: Parts, q_next_target: Parts
    ) -> tuple[Any, Any]:
        """The values of all D elements of the actions taken, and of the next ones: ``[B, D]`` both."""
        taken, following = [], []
        for path, values in q_values.items():
            taken.append(flat(ops, action_values(ops, values, ops.astype(actions[path], "int64"))))
            following.append(flat(ops, self.next_values(ops, q_next[path], q_next_target[path])))
        return ops.concat(taken, axis=1), ops.concat(following, axis=1)

    def _errors(
        self, ops: Any, taken: Any, following: Any, rewards: Any, terminals: Any, discounts: Any
    ) -> Any:
        """TD errors of all elements of an action, ``[B, D]``; ``[B, 1]`` if they are averaged."""
        errors = branching_td_errors(
            ops,
            taken,
            rewards,
            terminals,
            following,
            self.discount if discounts is None else discounts,
            shared_target=self.shared_container_action_target,
            rescaled=self.value_rescaling,
        )
        return ops.mean(errors, axis=1, keepdims=True) if self.td_aggregation == "mean_error" else errors

    def next_values(self, ops: Any, q_next: Any, q_next_target: Any) -> Any:
        """The value of each next state in targets, ``[B, ..., A] -> [B, ...]``; a subclass may override it."""
        if self.double_q:
            return double_q_next_values(ops, q_next, q_next_target)
        return greedy_next_values(ops, q_next_target)

    def _penalty(self, ops: Any, errors: Any) -> Any:
        return huber(ops, errors) if self.huber_loss else 0.5 * ops.square(errors)


def flat(ops: Any, values: Any) -> Any:
    """``[B, ...] -> [B, d]``."""
    return ops.reshape(values, (-1, math.prod(values.shape[1:])))
