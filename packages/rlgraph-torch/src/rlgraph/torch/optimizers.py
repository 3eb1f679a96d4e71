"""Native optimizer steps, which write each flat block of variables in place.

The single source makes a new tensor at every operation. For large blocks the system maps and clears new memory each
time, which takes several times as long as the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import torch
from torch import Tensor, set_flush_denormal

from rlgraph.core.functional.optimization import nadam_momentum
from rlgraph.torch.devices import PlacedOps
from rlgraph.torch.transfers import CPU

#: The smallest denormal number.
SMALLEST = 5e-324

#: Maximum number of elements that are stepped at once on a CPU.
PIECE = 65536

#: ``rule(variables, gradients, learning rate)`` with clipped gradients; the rate is a number or a tensor [].
Rule = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def kernel(self: Any, ops: Any, rule: Rule) -> Callable[..., None] | None:
    """`_apply` of the optimizer `self`, by a rule that writes variables and slots in place.

    On a GPU it reads no values: that would wait for the device, and could not be recorded.
    """
    on_gpu, max_norm = is_on_gpu(ops), self.clip_grad_norm
    if on_gpu and self.non_finite != "ignore":
        return None
    constant_rate = self.learning_rate.value(0.0) if self.learning_rate.is_constant else None

    def apply(
        variables: Sequence[Tensor],
        gradients: Sequence[Tensor],
        learning_rate: Tensor | None = None,
        finite: Tensor | None = None,
    ) -> None:
        if finite is not None and not finite.item():
            return
        if on_gpu or max_norm is None:
            gradients = self.clipped(ops, gradients)
        else:
            gradients = clip(gradients, max_norm)
        gradients = self.penalized(variables, gradients)
        # The first moment of a dead unit shrinks by `beta1` a step to a denormal number, which makes every later step
        # slow: up to 30 % of the moments in a trained network. Zero is as good.
        flushed = flushes_denormals()
        set_flush_denormal(True)
        try:
            rule(variables, gradients, constant_rate if learning_rate is None else learning_rate)
        finally:
            set_flush_denormal(flushed)

    return apply


def descend(variable: Tensor, update: Tensor, rate: Any, factor: float = 1.0) -> None:
    """``variable - rate * factor * update``, in place."""
    if isinstance(rate, Tensor):
        variable.addcmul_(update, rate, value=-factor)
    else:
        variable.add_(update, alpha=-rate * factor)


def in_pieces(blocks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Split flat tensors alike into pieces whose intermediate results fit the cache.

    One of them may be None. On a GPU, where calls are expensive and caches small, blocks stay whole.
    """
    for tensors in blocks:
        size = tensors[0].shape[0]
        if size <= PIECE or tensors[0].device.type != "cpu":
            yield tensors
            continue
        for start in range(0, size, PIECE):
            yield tuple(None if x is None else x[start : start + PIECE] for x in tensors)


def moving_square(mean: Tensor, x: Tensor, decay: float) -> Tensor:
    """``decay * mean + (1 - decay) * x^2``, in place."""
    return mean.mul_(decay).addcmul_(x, x, value=1.0 - decay)


def sgd(self: Any, ops: Any) -> Callable[..., None] | None:
    """`SGD._apply`."""
    buffers, momentum = self.momentum_buffers if self.momentum else repeat(None), self.momentum

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        for variable, gradient, buffer in zip(variables, gradients, buffers, strict=False):
            if buffer is None:
                descend(variable, gradient, rate)
                continue
            buffer.mul_(momentum).add_(gradient)
            if self.nesterov:
                descend(variable, gradient, rate)
            descend(variable, buffer, rate, momentum if self.nesterov else 1.0)

    return kernel(self, ops, rule)


def adam(self: Any, ops: Any) -> Callable[..., None] | None:
    """`Adam._apply`."""
    return _fused_adam(self, ops, torch._fused_adam_, 0.0)


def adamw(self: Any, ops: Any) -> Callable[..., None] | None:
    """`AdamW._apply`."""
    return _fused_adam(self, ops, torch._fused_adamw_, self.weight_decay)


def _fused_adam(self: Any, ops: Any, fused: Any, weight_decay: float) -> Callable[..., None] | None:
    """A step by torch's fused one: one pass over each block. On a GPU the number of steps is float32."""
    if is_on_gpu(ops) and self.steps.dtype != torch.float32:
        return None
    steps, first_moments, second_moments = self.steps, self.first_moments, self.second_moments
    several_steps = [steps] * len(first_moments)
    constants = {
        "beta1": self.beta1,
        "beta2": self.beta2,
        "weight_decay": weight_decay,
        "eps": self.epsilon,
        "amsgrad": False,
        "maximize": False,
    }

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        steps.add_(1.0)
        fused(variables, gradients, first_moments, second_moments, [], several_steps, lr=rate, **constants)

    return kernel(self, ops, rule)


def nadam(self: Any, ops: Any) -> Callable[..., None] | None:
    """`Nadam._apply`."""
    steps, product, beta1, beta2 = self.steps, self.momentum_product, self.beta1, self.beta2

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        steps.add_(1.0)
        now, following = (nadam_momentum(s, beta1, self.momentum_decay) for s in (steps, steps + 1.0))
        product.mul_(now)
        of_moment = rate * following / (1.0 - product * following)
        of_gradient = rate * (1.0 - now) / (1.0 - product)
        correction = 1.0 - beta2**steps
        blocks = zip(variables, gradients, self.first_moments, self.second_moments, strict=True)
        for variable, gradient, first, second in in_pieces(blocks):
            first.mul_(beta1).add_(gradient, alpha=1.0 - beta1)
            root = torch.div(moving_square(second, gradient, beta2), correction).sqrt_().add_(self.epsilon)
            update = torch.mul(first, of_moment).addcmul_(gradient, of_gradient)
            variable.sub_(update.div_(root))

    return kernel(self, ops, rule)


def adagrad(self: Any, ops: Any) -> Callable[..., None] | None:
    """`Adagrad._apply`."""

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        blocks = zip(variables, gradients, self.accumulators, strict=True)
        for variable, gradient, total in in_pieces(blocks):
            root = total.addcmul_(gradient, gradient).sqrt().add_(self.epsilon)
            descend(variable, torch.div(gradient, root, out=root), rate)

    return kernel(self, ops, rule)


def adadelta(self: Any, ops: Any) -> Callable[..., None] | None:
    """`Adadelta._apply`."""
    rho, epsilon = self.rho, self.epsilon

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        blocks = zip(variables, gradients, self.mean_squares, self.mean_square_updates, strict=True)
        for variable, gradient, square, moved in in_pieces(blocks):
            root = moving_square(square, gradient, rho).add(epsilon).sqrt_()
            update = moved.add(epsilon).sqrt_().div_(root).mul_(gradient)
            moving_square(moved, update, rho)
            descend(variable, update, rate)

    return kernel(self, ops, rule)


def rmsprop(self: Any, ops: Any) -> Callable[..., None] | None:
    """`RMSProp._apply`."""
    means = repeat(None) if self.means is None else self.means
    buffers = repeat(None) if self.momentum_buffers is None else self.momentum_buffers
    decay, epsilon = self.decay, self.epsilon

    def rule(variables: Sequence[Tensor], gradients: Sequence[Tensor], rate: Any) -> None:
        blocks = zip(variables, gradients, self.mean_squares, means, buffers, strict=False)
        for variable, gradient, square, mean, buffer in in_pieces(blocks):
            variance = moving_square(square, gradient, decay)
            if mean is not None:
                mean.mul_(decay).add_(gradient, alpha=1.0 - decay)
                variance = torch.addcmul(square, mean, mean, value=-1.0).clamp_min_(0.0)
            root = (
                variance.add(epsilon).sqrt_() if self.epsilon_inside_root else variance.sqrt().add_(epsilon)
            )
            update = torch.div(gradient, root, out=root)
            if buffer is not None:
                update = buffer.mul_(self.momentum).add_(update)
            descend(variable, update, rate)

    return kernel(self, ops, rule)


def is_on_gpu(ops: Any) -> bool:
    """Whether these operations are placed on a GPU."""
    return isinstance(ops, PlacedOps) and ops.device.type != CPU


def flushes_denormals() -> bool:
    """Whether this thread flushes denormal numbers to zero; torch can set that but not return it."""
    return SMALLEST * 1.0 == 0.0


def clip(gradients: Sequence[Tensor], max_norm: float) -> Sequence[Tensor]:
    """`functional.optimization.clip_by_global_norm`, without changing the gradients, which others may read.

    The host reads the norm: free on a CPU, and usually nothing needs scaling.
    """
    norm = math.sqrt(sum(torch.dot(gradient, gradient).item() for gradient in gradients))
    if norm + 1e-6 <= max_norm:
        return gradients
    scale = max_norm / (norm + 1e-6)  # NaN if a gradient is
    return [gradient * scale for gradient in gradients]


#: Name of the component -> maker of the kernel of its `_apply`.
KERNELS: dict[str, Callable[[Any, Any], Callable[..., None] | None]] = {
    "Adadelta": adadelta,
    "Adagrad": adagrad,
    "Nadam": nadam,
    "RMSProp": rmsprop,
    "SGD": sgd,
}
# Private names of torch: if they are missing, the single source computes the same.
if hasattr(torch, "_fused_adam_"):
    KERNELS["Adam"] = adam
if hasattr(torch, "_fused_adamw_"):
    KERNELS["AdamW"] = adamw
