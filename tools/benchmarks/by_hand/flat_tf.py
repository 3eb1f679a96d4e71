"""What the yardsticks on TensorFlow share: flat parameters, the shortest ways in, Adam."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.framework.ops import EagerTensor

tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Parameters:
    """One flat variable, cut into the layers' tensors where it is read."""

    def __init__(self, weights: Mapping[str, np.ndarray], names: Sequence[str]):
        self.names = list(names)
        self.shapes = [weights[name].shape for name in self.names]
        self.sizes = [weights[name].size for name in self.names]
        self._start = np.concatenate([weights[name].ravel() for name in self.names])
        self.flat = tf.Variable(self._start)

    def cut(self, flat: Any) -> list[Any]:
        pieces = tf.split(flat, self.sizes)
        return [tf.reshape(piece, shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        self.flat.assign(self._start)

    def as_numpy(self) -> dict[str, np.ndarray]:
        pieces = np.split(self.flat.numpy(), np.cumsum(self.sizes)[:-1])
        return {name: p.reshape(s) for name, p, s in zip(self.names, pieces, self.shapes, strict=True)}


class Moments:
    """What Adam remembers of one flat variable, and its step."""

    def __init__(self, flat: Any, learning_rate: float, epsilon: float, clip_norm: float | None = None):
        self.flat, self.learning_rate, self.epsilon, self.clip_norm = flat, learning_rate, epsilon, clip_norm
        self.first, self.second = (tf.Variable(tf.zeros(flat.shape), trainable=False) for _ in range(2))
        self.powers = tf.Variable([0.9, 0.999], trainable=False)

    def restart(self) -> None:
        self.powers.assign([0.9, 0.999])
        for moments in (self.first, self.second):
            moments.assign(tf.zeros_like(moments))

    def clipped(self, pieces: Sequence[Any]) -> Any:
        """Derivatives by the layers' tensors as one flat tensor, its norm limited."""
        gradient = tf.concat([tf.reshape(piece, [-1]) for piece in pieces], 0)
        if self.clip_norm is None:
            return gradient
        norm = tf.sqrt(2.0 * tf.nn.l2_loss(gradient))
        return gradient * tf.minimum(self.clip_norm / (norm + 1e-6), 1.0)

    def apply(self, gradient: Any) -> None:
        """A step by the fused operation."""
        powers = self.powers.read_value()
        tf.raw_ops.ResourceApplyAdam(
            var=self.flat.handle,
            m=self.first.handle,
            v=self.second.handle,
            beta1_power=powers[0],
            beta2_power=powers[1],
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            # This operation adds epsilon ahead of the bias correction, Algorithm 1 of the paper behind it.
            epsilon=self.epsilon * tf.sqrt(1.0 - powers[1]),
            grad=gradient,
        )
        self.powers.assign(powers * tf.constant([0.9, 0.999]), read_value=False)

    def read(self) -> tuple[Any, ...]:
        """(flat, first, second, powers), for `stepped`."""
        return tuple(v.read_value() for v in (self.flat, self.first, self.second, self.powers))

    def stepped(self, state: Sequence[Any], gradient: Any) -> tuple[Any, ...]:
        """A step as plain operations, for a compiler: the new state."""
        flat, first, second, powers = state
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * tf.square(gradient)
        rate = self.learning_rate / (1.0 - powers[0])
        flat -= rate * first / (tf.sqrt(second / (1.0 - powers[1])) + self.epsilon)
        return flat, first, second, powers * tf.constant([0.9, 0.999])

    def write(self, state: Sequence[Any]) -> None:
        for variable, value in zip((self.flat, self.first, self.second, self.powers), state, strict=True):
            variable.assign(value, read_value=False)


def tensor(array: np.ndarray) -> Any:
    """A copy of `array`, by the constructor that `tf.constant` ends in."""
    return EagerTensor(array.copy(), DEVICE, None)


def direct(
    function: Callable[..., Any],
    specs: Sequence[Any],
    shortest: bool,
    xla: bool = False,
    single_threaded: bool = True,
) -> Callable[..., Any]:
    """``f(tensors) -> outputs``: `function` as a static graph, called past the checks of its ConcreteFunction.

    With `shortest` by the runtime's entry behind that, and, unless there are loops (`single_threaded`), with the
    executor that runs one operation at a time.
    """
    concrete = tf.function(function, autograph=False, jit_compile=xla).get_concrete_function(*specs)
    inference, captured = concrete._inference_function, list(concrete.captured_inputs)
    if shortest:
        runtime = context.context()
        runtime.ensure_initialized()
        options = dict(runtime.function_call_options.as_attrs())
        if single_threaded:
            options["executor_type"] = "SINGLE_THREADED_EXECUTOR"
        attributes = tuple(item for pair in options.items() for item in pair)
        execute, handle, count = pywrap_tfe.TFE_Py_Execute, runtime._handle, len(concrete.outputs)
        name = inference.name.decode()
        return lambda tensors, _alive=concrete: execute(
            handle, "", name, tensors + captured, attributes, count
        )
    call_flat = inference.call_flat
    return lambda tensors, _alive=concrete: call_flat(*tensors, *captured)
