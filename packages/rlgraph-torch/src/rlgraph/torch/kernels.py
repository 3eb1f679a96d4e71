"""Native versions of shipped graph functions, by the key of the graph function they replace.

On a CPU every call of torch costs one to five microseconds, so small networks are fast with few and simple calls. A
kernel here is therefore a *maker*: given the component's view and `ops` it returns the function that runs, with
variables and options already looked up. The function may overwrite its intermediate results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, add, addmm, argmax, gather, mean, mm

from rlgraph.core.functional.activations import activation
from rlgraph.torch import optimizers
from rlgraph.torch.convolution import convolve
from rlgraph.torch.distributions import (
    bernoulli_log_prob,
    categorical_entropy,
    categorical_log_prob,
    categorical_log_probabilities,
)
from rlgraph.torch.policy_gradient import (
    loss_average,
    loss_measure,
    loss_own_number,
    loss_own_sum,
    loss_without_garbage,
    policy_gradient_total,
    ppo_policy_loss,
    ppo_value_loss,
    standardize_centered,
    standardize_scaled,
    standardize_sum,
)
from rlgraph.torch.recurrent import lstm
from rlgraph.torch.tanh import tanh_

#: The function inside `torch.nn.functional`, without expanding the operands. Third argument: 0 per item, 1 the mean.
smooth_l1_loss: Any = torch._C._nn.smooth_l1_loss
mse_loss: Any = torch._C._nn.mse_loss

#: Activations whose derivative is computed from their result: they may overwrite their input.
IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "tanh": tanh_,
    "sigmoid": torch.sigmoid_,
}


def _in_place(ops: Any, name: Any) -> Callable[[Tensor], Tensor] | None:
    """An activation that may overwrite its input; None: there is none."""
    return None if name is None else IN_PLACE.get(name) or activation(ops, name)


def dense(self: Any, ops: Any) -> Callable[[Tensor], Tensor]:
    """`Dense._call`."""
    weights, biases = self.weights, self.biases
    activate = _in_place(ops, self.activation)

    # Each checks the rank itself: one more Python call is noticeable in small networks.

    def linear(inputs: Tensor) -> Tensor:
        if inputs.dim() != 2:
            return _over_rows(linear, inputs)
        return addmm(biases, inputs, weights)

    def activated(inputs: Tensor) -> Tensor:
        if inputs.dim() != 2:
            return _over_rows(activated, inputs)
        return activate(addmm(biases, inputs, weights))  # type: ignore[misc]

    def without_biases(inputs: Tensor) -> Tensor:
        if inputs.dim() != 2:
            return _over_rows(without_biases, inputs)
        outputs = mm(inputs, weights)
        return outputs if activate is None else activate(outputs)

    if biases is None:
        return without_biases
    return linear if activate is None else activated


def _over_rows(layer: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """``layer`` of all rows at once: ``[T, B, N] -> [T, B, units]``."""
    outputs = layer(inputs.reshape(-1, inputs.shape[2]))
    return outputs.view(*inputs.shape[:2], outputs.shape[1])


def conv2d(self: Any, ops: Any) -> Callable[[Tensor], Tensor]:
    """`Conv2D._call`: with the biases in the same call, and the activation in place."""
    weights, biases, padding = self.weights, self.biases, self.padding
    window, strides = self.kernel_size, self.strides
    activate = _in_place(ops, self.activation)

    def layer(inputs: Tensor) -> Tensor:
        outputs = convolve(inputs, weights, biases, window, strides, padding)
        return outputs if activate is None else activate(outputs)

    def over_images(inputs: Tensor) -> Tensor:
        if inputs.dim() == 4:
            return layer(inputs)
        outputs = layer(inputs.reshape(-1, *inputs.shape[2:]))
        return outputs.reshape(*inputs.shape[:2], *outputs.shape[1:])

    return over_images


def dueling_combine(self: Any, ops: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """`DuelingPolicy._combine`."""

    def combine(state_values: Tensor, advantages: Tensor) -> Tensor:
        return add(state_values, advantages).sub_(mean(advantages, -1, True))

    return combine


def dqn_loss(self: Any, ops: Any) -> Callable[..., tuple[Tensor, Tensor]] | None:
    """`DQNLoss._loss` of one integer action. One call per result is cheaper than a mean of the items."""
    from rlgraph.components.losses.dqn_loss import DQNLoss  # there is one by now

    own = ("next_values", "_penalty", "_errors", "_taken_and_next")
    overridden = any(
        getattr(getattr(self, name), "__func__", None) is not getattr(DQNLoss, name) for name in own
    )
    if overridden or self.has_parts or self.value_rescaling:
        return None
    discount, double_q = self.discount, self.double_q

    def half_square(taken: Tensor, targets: Tensor, reduction: int) -> Tensor:
        return 0.5 * mse_loss(taken, targets, reduction)

    penalty = smooth_l1_loss if self.huber_loss else half_square

    def loss(
        q_values: Mapping[str, Tensor],
        actions: Mapping[str, Tensor],
        rewards: Tensor,
        terminals: Tensor,
        q_next: Mapping[str, Tensor],
        q_next_target: Mapping[str, Tensor],
        discounts: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        if weights is not None:
            counts = weights.bool()
            actions = {"": torch.where(counts, actions[""], 0)}
        target_values = q_next_target[""]
        if double_q:
            next_values = gather(target_values, 1, argmax(q_next[""], 1, True)).squeeze(1)
        else:
            next_values = torch.amax(target_values, 1)
        next_values.masked_fill_(terminals, 0.0)
        if discounts is None:
            targets = add(rewards, next_values, alpha=discount)
        else:
            targets = torch.addcmul(rewards, discounts, next_values)
        if targets.requires_grad:
            targets = targets.detach()
        taken = gather(q_values[""], 1, actions[""].long().unsqueeze(1)).squeeze(1)
        if weights is None:
            return penalty(taken, targets, 1), penalty(taken, targets, 0)
        per_item = penalty(torch.where(counts, taken, 0.0), torch.where(counts, targets, 0.0), 0)
        return torch.sum(weights * per_item) / counts.sum().clamp_min_(1), per_item

    return loss


def synchronizer_sync(self: Any, ops: Any) -> Callable[[Sequence[Tensor], Sequence[Tensor]], None]:
    """`Synchronizer._sync`: one pass over each flat block, without a copy."""
    tau = self.tau

    def copy(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
        for new, old in zip(source, target, strict=True):
            old.copy_(new)

    def follow(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
        for new, old in zip(source, target, strict=True):
            if old.is_floating_point():
                old.lerp_(new, tau)
            else:
                old.copy_(new)

    return copy if tau == 1.0 else follow


#: Key of a graph function -> maker.
KERNELS: dict[str, Callable[[Any, Any], Callable[..., Any] | None]] = {
    "rlgraph.components.layers.conv2d:Conv2D._call": conv2d,
    "rlgraph.components.layers.dense:Dense._call": dense,
    "rlgraph.components.layers.lstm:LSTM._call": lstm,
    "rlgraph.components.common.synchronizer:Synchronizer._sync": synchronizer_sync,
    "rlgraph.components.distributions.bernoulli:Bernoulli._log_prob": bernoulli_log_prob,
    "rlgraph.components.distributions.categorical:Categorical._entropy": categorical_entropy,
    "rlgraph.components.distributions.categorical:Categorical._log_prob": categorical_log_prob,
    "rlgraph.components.distributions.categorical:Categorical._log_probabilities": categorical_log_probabilities,
    "rlgraph.components.helpers.standardize:Standardize._centered": standardize_centered,
    "rlgraph.components.helpers.standardize:Standardize._scaled": standardize_scaled,
    "rlgraph.components.helpers.standardize:Standardize._sum": standardize_sum,
    "rlgraph.components.losses.dqn_loss:DQNLoss._loss": dqn_loss,
    "rlgraph.components.losses.loss_function:LossFunction._average": loss_average,
    "rlgraph.components.losses.loss_function:LossFunction._measure": loss_measure,
    "rlgraph.components.losses.loss_function:LossFunction._own_number": loss_own_number,
    "rlgraph.components.losses.loss_function:LossFunction._own_sum": loss_own_sum,
    "rlgraph.components.losses.loss_function:LossFunction._without_garbage": loss_without_garbage,
    "rlgraph.components.losses.policy_gradient_loss:PolicyGradientLoss._total": policy_gradient_total,
    "rlgraph.components.losses.ppo_loss:PPOLoss._policy_loss": ppo_policy_loss,
    "rlgraph.components.losses.ppo_loss:PPOLoss._value_loss": ppo_value_loss,
    "rlgraph.components.policies.dueling_policy:DuelingPolicy._combine": dueling_combine,
    **{
        f"rlgraph.components.optimizers.{name.lower()}:{name}._apply": maker
        for name, maker in optimizers.KERNELS.items()
    },
}
