"""Native versions of shipped graph functions, by the key of the graph function they replace."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tensorflow as tf

from rlgraph.tf.handles import VariableHandle
from rlgraph.tf.recurrent import lstm


def adam_apply(
    self: Any,
    ops: Any,
    variables: Sequence[VariableHandle],
    gradients: Sequence[tf.Tensor],
    learning_rate: tf.Tensor | None = None,
    finite: tf.Tensor | None = None,
) -> None:
    """`Adam._apply` and `AdamW._apply` by TensorFlow's fused step, where every block is a whole buffer.

    Otherwise, and if the step may be skipped, by the single source.
    """
    blocks = [*variables, *self.first_moments, *self.second_moments]
    if finite is not None or not all(block.is_whole for block in blocks):
        type(self)._apply.function(self, ops, variables, gradients, learning_rate, finite)
        return
    rate = self.learning_rate.value(0.0) if learning_rate is None else learning_rate
    steps = ops.read(self.steps) + 1.0
    ops.assign(self.steps, steps)
    if self.clip_grad_norm is None:
        gradients = self.clipped(ops, gradients)
    else:
        gradients = clip(gradients, self.clip_grad_norm)
    gradients = self.penalized(variables, gradients)
    power1, power2 = self.beta1**steps, self.beta2**steps
    # The fused step adds epsilon before the bias correction, Algorithm 1 of the paper after it.
    epsilon = self.epsilon * tf.sqrt(1.0 - power2)
    moments = zip(self.first_moments, self.second_moments, strict=True)
    decay = getattr(self, "weight_decay", 0.0)
    for variable, gradient, (first, second) in zip(variables, gradients, moments, strict=True):
        if decay:
            ops.assign(variable, (1.0 - rate * decay) * variable.value)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.buffer.handle,
            m=first.buffer.handle,
            v=second.buffer.handle,
            beta1_power=power1,
            beta2_power=power2,
            lr=rate,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=epsilon,
            grad=gradient,
        )
        for block in (variable, first, second):
            block.state.written(block)


def clip(gradients: Sequence[tf.Tensor], max_norm: float) -> list[tf.Tensor]:
    """`functional.optimization.clip_by_global_norm`, with the sum of squares in one operation per block."""
    half = tf.add_n([tf.nn.l2_loss(gradient) for gradient in gradients])
    # max_norm / (sqrt(2 * half) + 1e-6), divided by sqrt(2).
    root = math.sqrt(2.0)
    scale = tf.minimum((max_norm / root) / (tf.sqrt(half) + 1e-6 / root), 1.0)
    return [gradient * scale for gradient in gradients]


#: Key of a graph function -> maker of its kernel.
KERNELS: dict[str, Callable[[Any, Any], Callable[..., Any]]] = {
    "rlgraph.components.layers.lstm:LSTM._call": lstm,
    "rlgraph.components.optimizers.adam:Adam._apply": lambda view, ops: partial(adam_apply, view, ops),
    "rlgraph.components.optimizers.adamw:AdamW._apply": lambda view, ops: partial(adam_apply, view, ops),
}
