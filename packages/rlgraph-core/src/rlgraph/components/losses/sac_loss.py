"""The losses of soft actor-critic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_number
from rlgraph.components.common.named_values import Parts, api_of, arguments_of, by_name
from rlgraph.components.losses.critics_loss import CriticsLoss
from rlgraph.core import AssemblyError, graph_fn, rlgraph_api
from rlgraph.core.functional.policy_gradient import sum_of_parts
from rlgraph.core.functional.q_learning import action_values
from rlgraph.core.functional.soft_actor_critic import (
    discrete_sac_actor_loss,
    discrete_sac_alpha_loss,
    discrete_soft_value,
    sac_actor_loss,
    sac_alpha_loss,
    sac_critic_loss,
    sac_target,
    soft_value,
)
from rlgraph.core.functional.td3 import clipped_double_q
from rlgraph.spaces import BoxSpace, FloatBox, Space, SpaceError
from rlgraph.spaces.errors import mismatch

#: The quantity in which the temperature loss is linear.
TEMPERATURES = ("alpha", "log_alpha")


class SACLoss(CriticsLoss):
    """Losses of critics, actor and temperature (Haarnoja et al., 2018, https://arxiv.org/abs/1812.05905).

    Each has its own optimizer: ``critic_loss``, ``actor_loss`` and, with a target entropy, ``alpha_loss``; ``loss`` is
    that of the critics.

    Samples must be reparameterised (see `Distribution.check_reparameterized`): squashed normal distributions for
    bounded floats, Gumbel-softmax ones for categories beside other parts, whose log-probabilities come as a container.
    `discrete` is for one categorical action: of several, critics would have to value every combination.

    Args:
        target_entropy: the entropy that the temperature aims at; None: the temperature has no loss.
        discount: discount factor in [0, 1].
        num_q_functions: number of critics; the smallest of their values is used.
        discrete: the action is categorical, and expectations are over all actions instead of a sample
            (Christodoulou, 2019, https://arxiv.org/abs/1910.07207). Values and log-probabilities are ``[B, A]`` then.
        temperature_loss: ``"alpha"``: the paper's, linear in alpha; ``"log_alpha"``: linear in its logarithm, as in
            the authors' code and RLgraph 0.5.

    Raises:
        SpecError: an option out of range.
    """

    item_arguments = ("rewards", "terminals", "discounts")
    part_arguments = ("log_probs_next_sampled", "log_probs_sampled")
    measures = ("entropy",)
    critic_arguments = ("q_values_next_sampled", "q_values", "q_values_sampled")
    share_of_squares = 0.5

    def __init__(
        self,
        target_entropy: float | None = None,
        discount: float = 0.99,
        num_q_functions: int = 2,
        discrete: bool = False,
        temperature_loss: str = "alpha",
        scope: str = "sac-loss",
        **kwargs: Any,
    ):
        self.temperature_loss = check_choice(temperature_loss, f"{scope}.temperature_loss", TEMPERATURES)
        self.target_entropy = None
        if target_entropy is not None:
            self.target_entropy = check_number(target_entropy, f"{scope}.target_entropy")
        self.discrete, self.critic_axes = discrete, 2 if discrete else 1
        super().__init__(discount, num_q_functions, scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        alpha = input_spaces.get("alpha")
        if alpha is not None and (not isinstance(alpha, FloatBox) or alpha.get_shape(True, True) != ()):
            raise mismatch("alpha", "one temperature for all items, FloatBox()", repr(alpha))
        for name in self.part_arguments if self.discrete else ():
            space = input_spaces.get(name)
            if space is not None and not (
                isinstance(space, BoxSpace) and len(space.get_shape(True, True)) == 2
            ):
                raise SpaceError(
                    f"{name}: with discrete=True expected log-probabilities of all actions, [B, A], given {space!r}"
                )

    @rlgraph_api
    def loss_per_item(
        self,
        alpha: Any,
        log_probs_next_sampled: Any,
        q_values_next_sampled: Any,
        q_values: Any,
        log_probs_sampled: Any,
        q_values_sampled: Any,
        rewards: Any,
        terminals: Any,
        actions: Any = None,
        discounts: Any = None,
        action_mask: Any = None,
    ) -> Any:
        """``{"loss", "critic_loss", "actor_loss", "alpha_loss", "entropy"}``, each ``[B]``.

        ``loss`` is that of the critics; ``alpha_loss`` needs a target entropy. The mean of ``entropy`` is the policy's.

        Args:
            alpha: the temperature, [].
            log_probs_next_sampled: of actions sampled in the next states [B], or a container by parts;
                discrete: of all actions [B, A], or their logits.
            q_values_next_sampled: a tuple of the target critics' values of them, each [B]; discrete: of all [B, A].
            q_values: a tuple of the critics' values of the actions taken, each [B]; discrete: of all [B, A].
            log_probs_sampled: of actions sampled in the states, reparameterised, as `log_probs_next_sampled`.
            q_values_sampled: a tuple of the critics' values of these, as `q_values_next_sampled`.
            rewards: rewards [B], or discounted sums of several.
            terminals: where the episode terminated [B], bool; truncation is not termination.
            actions: the actions taken [B]; only needed with `discrete`.
            discounts: discount of the value of each next state [B]; default: `discount`.
            action_mask: discrete: which actions were possible, bool [B, A]. Of n among A the target entropy is
                ``log(n) / log(A)`` of `target_entropy`, since more than ``log(n)`` cannot be reached.
        """
        values = locals()  # all arguments by name
        critic_loss = by_name(self._critic_loss, values)
        losses = {
            "loss": critic_loss,
            "critic_loss": critic_loss,
            "actor_loss": by_name(self._actor_loss, values),
            "entropy": self._entropy(log_probs_sampled),
        }
        if self.target_entropy is not None:
            losses["alpha_loss"] = by_name(self._alpha_loss, values)
        return losses

    @graph_fn(flatten_ops={"log_probs_next_sampled"})
    def _critic_loss(
        self,
        ops: Any,
        alpha: Any,
        log_probs_next_sampled: Parts,
        q_values_next_sampled: Any,
        q_values: Any,
        rewards: Any,
        terminals: Any,
        actions: Any = None,
        discounts: Any = None,
    ) -> Any:
        """The sum of the critics' losses ``[B]``; arguments as of `loss_per_item`."""
        if self.discrete and actions is None:
            raise AssemblyError(
                f"{self.scope_path}: discrete=True needs the argument actions, those taken, [B]"
            )
        value = discrete_soft_value if self.discrete else soft_value
        next_value = self.target_value(ops, q_values_next_sampled)
        next_values = value(ops, [next_value], self._joint(ops, log_probs_next_sampled), alpha)
        discount = self.discount if discounts is None else discounts
        targets = sac_target(ops, rewards, terminals, next_values, discount)
        if self.discrete:
            taken = ops.astype(actions, "int64")
            q_values = [action_values(ops, values, taken) for values in q_values]
        return sac_critic_loss(ops, q_values, targets)

    def policy_value(self, ops: Any, q_values: Sequence[Any]) -> Any:
        """The value that the policy climbs, of those of several critics; a subclass may override it."""
        return clipped_double_q(ops, q_values)

    @graph_fn(flatten_ops={"log_probs_sampled"})
    def _actor_loss(self, ops: Any, alpha: Any, log_probs_sampled: Parts, q_values_sampled: Any) -> Any:
        """The policy's loss ``[B]``; arguments as of `loss_per_item`."""
        loss = discrete_sac_actor_loss if self.discrete else sac_actor_loss
        return loss(
            ops, [self.policy_value(ops, q_values_sampled)], self._joint(ops, log_probs_sampled), alpha
        )

    @graph_fn(flatten_ops={"log_probs_sampled"})
    def _alpha_loss(self, ops: Any, alpha: Any, log_probs_sampled: Parts, action_mask: Any = None) -> Any:
        loss = discrete_sac_alpha_loss if self.discrete else sac_alpha_loss
        assert self.target_entropy is not None
        temperature = ops.log(alpha) if self.temperature_loss == "log_alpha" else alpha
        target: Any = self.target_entropy
        if action_mask is not None:
            number = ops.sum(ops.astype(action_mask, "float"), axis=-1, keepdims=True)
            target = target * ops.log(ops.maximum(number, 1.0)) / math.log(max(action_mask.shape[-1], 2))
        return loss(ops, temperature, self._joint(ops, log_probs_sampled), target)

    critic_loss_per_item = api_of("critic_loss_per_item", _critic_loss)
    actor_loss_per_item = api_of("actor_loss_per_item", _actor_loss)

    @rlgraph_api
    @arguments_of(_alpha_loss)
    def alpha_loss_per_item(self, **values: Any) -> Any:
        """The temperature's loss ``[B]``, None without a target entropy; arguments as of `loss_per_item`."""
        return None if self.target_entropy is None else self._alpha_loss(**values)

    @graph_fn(flatten_ops={"log_probs_sampled"})
    def _entropy(self, ops: Any, log_probs_sampled: Parts) -> Any:
        log_probs = self._joint(ops, log_probs_sampled)
        return -ops.sum(ops.exp(log_probs) * log_probs, axis=-1) if self.discrete else -log_probs

    def _joint(self, ops: Any, log_probs: Parts) -> Any:
        """``[B]``; discrete: ``[B, A]``."""
        if self.discrete:
            return ops.log_softmax(log_probs[""], axis=-1)  # of logits; log-probabilities stay the same
        return sum_of_parts(ops, list(log_probs.values()), 1)
