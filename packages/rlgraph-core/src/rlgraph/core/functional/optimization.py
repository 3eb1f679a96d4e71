"""Gradient-based optimization.

Update rules are elementwise, accept any shape, and return the new values without writing them. `step` is the number of
the current step as a float, starting at 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Tensor = Any


def clip_by_value(ops: Any, gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Clip every element of all gradients to ``[-limit, limit]``."""
    return [ops.clip(gradient, -limit, limit) for gradient in gradients]


def clip_by_norm(ops: Any, gradient: Tensor, max_norm: float) -> Tensor:
    """Scale one gradient by ``min(1, max_norm / norm)``, where norm is its L2 norm.

    Pascanu et al. (2013), Algorithm 1, https://arxiv.org/abs/1211.5063; with torch's 1e-6 against division by zero.
    """
    return clip_by_global_norm(ops, [gradient], max_norm)[0]


def clip_by_global_norm(ops: Any, gradients: Sequence[Tensor], max_norm: float) -> list[Tensor]:
    """Scale all gradients by ``min(1, max_norm / norm)``, where norm is their joint L2 norm.

    Pascanu et al. (2013), Algorithm 1, https://arxiv.org/abs/1211.5063; with torch's 1e-6 against division by zero.
    """
    scale = ops.minimum(max_norm / (global_norm(ops, gradients) + 1e-6), 1.0)
    return [gradient * scale for gradient in gradients]


def global_norm(ops: Any, gradients: Sequence[Tensor]) -> Tensor:
    """The joint L2 norm of all gradients, ``[]``."""
    total = ops.sum(ops.square(gradients[0]))
    for gradient in gradients[1:]:
        total = total + ops.sum(ops.square(gradient))
    return ops.sqrt(total)


def sgd(ops: Any, variable: Tensor, gradient: Tensor, learning_rate: Any) -> Tensor:
    """One step of gradient descent: the new variable.

    Robbins and Monro (1951), https://doi.org/10.1214/aoms/1177729586.
    """
    return variable - learning_rate * gradient


def momentum_sgd(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    momentum_buffer: Tensor,
    learning_rate: Any,
    momentum: float,
    nesterov: bool = False,
) -> tuple[Tensor, Tensor]:
    """One step of gradient descent with momentum: the new (variable, momentum buffer).

    Sutskever et al. (2013), equations 1 to 4, https://proceedings.mlr.press/v28/sutskever13.html, in the form of
    `torch.optim.SGD`: ``b = momentum * b + gradient`` does not contain the learning rate, so a change of the rate takes
    effect at once. With a constant rate both forms are equal.
    """
    momentum_buffer = momentum * momentum_buffer + gradient
    update = gradient + momentum * momentum_buffer if nesterov else momentum_buffer
    return variable - learning_rate * update, momentum_buffer


def adam(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    step: Tensor,
    learning_rate: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One Adam step: the new (variable, first moment, second moment). `step` counts from 1.

    Kingma and Ba (2015), Algorithm 1, https://arxiv.org/abs/1412.6980 (epsilon outside the bias-corrected root).
    """
    first_moment = beta1 * first_moment + (1.0 - beta1) * gradient
    second_moment = beta2 * second_moment + (1.0 - beta2) * ops.square(gradient)
    corrected_first = first_moment / (1.0 - beta1**step)
    corrected_second = second_moment / (1.0 - beta2**step)
    update = learning_rate * corrected_first / (ops.sqrt(corrected_second) + epsilon)
    return variable - update, first_moment, second_moment


def adamw(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    step: Tensor,
    learning_rate: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One Adam step with decoupled weight decay: the new (variable, first moment, second moment).

    Loshchilov and Hutter (2019), Algorithm 2, https://arxiv.org/abs/1711.05101, with the decay multiplied by the
    learning rate, as in `torch.optim.AdamW`: a variable shrinks by the factor ``1 - learning_rate * weight_decay``.
    """
    decayed = variable * (1.0 - learning_rate * weight_decay)
    return adam(
        ops, decayed, gradient, first_moment, second_moment, step, learning_rate, beta1, beta2, epsilon
    )


def nadam(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    momentum_product: Tensor,
    step: Tensor,
    learning_rate: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    momentum_decay: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of Adam with Nesterov momentum: the new (variable, first moment, second moment).

    Dozat (2016), Algorithm 2, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ, with the schedule of its section on
    initialisation bias: ``momentum_t = beta1 (1 - 0.5 * 0.96^(t * momentum_decay))`` (`nadam_momentum`), and epsilon
    outside the root, as in `torch.optim.NAdam`.

    Args:
        momentum_product: [], ``momentum_1 * ... * momentum_t``, including this step.
    """
    now, following = (nadam_momentum(s, beta1, momentum_decay) for s in (step, step + 1.0))
    first_moment = beta1 * first_moment + (1.0 - beta1) * gradient
    second_moment = beta2 * second_moment + (1.0 - beta2) * ops.square(gradient)
    ahead = following / (1.0 - momentum_product * following) * first_moment
    ahead = ahead + (1.0 - now) / (1.0 - momentum_product) * gradient
    corrected_second = second_moment / (1.0 - beta2**step)
    update = learning_rate * ahead / (ops.sqrt(corrected_second) + epsilon)
    return variable - update, first_moment, second_moment


def nadam_momentum(step: Tensor, beta1: float, momentum_decay: float) -> Tensor:
    """The momentum of a step of `nadam`."""
    return beta1 * (1.0 - 0.5 * 0.96 ** (momentum_decay * step))


def adagrad(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    accumulator: Tensor,
    learning_rate: Any,
    epsilon: float,
) -> tuple[Tensor, Tensor]:
    """One Adagrad step: the new (variable, sum of squares).

    Duchi et al. (2011), Figure 1 with the diagonal ``H = epsilon + G^(1/2)``, https://jmlr.org/papers/v12/duchi11a.html.
    """
    accumulator = accumulator + ops.square(gradient)
    return variable - learning_rate * gradient / (ops.sqrt(accumulator) + epsilon), accumulator


def adadelta(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    mean_square: Tensor,
    mean_square_update: Tensor,
    learning_rate: Any,
    rho: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One Adadelta step: the new (variable, mean square of the gradient, mean square of the update).

    Zeiler (2012), Algorithm 1, https://arxiv.org/abs/1212.5701 (epsilon inside both roots).
    """
    mean_square = rho * mean_square + (1.0 - rho) * ops.square(gradient)
    update = ops.sqrt(mean_square_update + epsilon) / ops.sqrt(mean_square + epsilon) * gradient
    mean_square_update = rho * mean_square_update + (1.0 - rho) * ops.square(update)
    return variable - learning_rate * update, mean_square, mean_square_update


def rmsprop(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    mean_square: Tensor,
    mean: Tensor | None,
    momentum_buffer: Tensor | None,
    learning_rate: Any,
    decay: float,
    epsilon: float,
    momentum: float = 0.0,
    epsilon_inside_root: bool = False,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """One RMSProp step: the new (variable, mean square, mean, momentum buffer), None if None was given.

    Tieleman and Hinton (2012), https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf, slide 29;
    centered as in Graves (2013), equations 38 to 45, https://arxiv.org/abs/1308.0850; epsilon and momentum as in
    `torch.optim.RMSprop`.

    Args:
        mean_square: moving mean of the squared gradient.
        mean: moving mean of the gradient, whose square is subtracted from `mean_square`; None: not centered.
        momentum_buffer: for `momentum` above 0.
        epsilon: added to the root or, with `epsilon_inside_root`, inside the root.
    """
    mean_square = decay * mean_square + (1.0 - decay) * ops.square(gradient)
    variance = mean_square
    if mean is not None:
        mean = decay * mean + (1.0 - decay) * gradient
        # Rounding may make the variance negative.
        variance = ops.maximum(mean_square - ops.square(mean), 0.0)
    root = ops.sqrt(variance + epsilon) if epsilon_inside_root else ops.sqrt(variance) + epsilon
    update = gradient / root
    if momentum_buffer is not None:
        momentum_buffer = momentum * momentum_buffer + update
        update = momentum_buffer
    return variable - learning_rate * update, mean_square, mean, momentum_buffer
