"""The yardstick on TensorFlow: the same policy and the same update, written by hand as a static graph.

Nothing is checked, nothing can be exchanged: sizes, loss and optimizer are fixed. One flat variable is read once and
split; ConcreteFunctions are called past their checks, by `call_flat` or, where that is asked for, by the runtime's own
entry. No XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from subject import BATCH_SIZE, CLIP_NORM, DISCOUNT, EPSILON, LEARNING_RATE, NUM_ACTIONS, STATE_SIZE
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.framework.ops import EagerTensor

for set_threads in (
    tf.config.threading.set_inter_op_parallelism_threads,
    tf.config.threading.set_intra_op_parallelism_threads,
):
    set_threads(1)

#: Layers of the policy in the order of the flat variable.
LAYERS = ("network/dense-0", "network/dense-1", "value", "advantages")
#: Yardsticks: name -> arguments of `make_act` and `Update`. The first is what the targets are held against.
YARDSTICKS: dict[str, dict[str, bool]] = {"by hand": {}, "by hand, shortest call": {"shortest": True}}
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Parameters:
    """One flat variable, cut into the layers' tensors where it is read."""

    def __init__(self, weights: Mapping[str, np.ndarray], scope: str):
        self.names = [f"{scope}/{layer}/{kind}" for layer in LAYERS for kind in ("weights", "biases")]
        self.shapes = [weights[name].shape for name in self.names]
        self.sizes = [weights[name].size for name in self.names]
        self.flat = tf.Variable(np.concatenate([weights[name].ravel() for name in self.names]))

    def cut(self, flat: Any) -> list[Any]:
        pieces = tf.split(flat, self.sizes)
        return [tf.reshape(piece, shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def as_numpy(self) -> dict[str, np.ndarray]:
        pieces = np.split(self.flat.numpy(), np.cumsum(self.sizes)[:-1])
        return {name: p.reshape(s) for name, p, s in zip(self.names, pieces, self.shapes, strict=True)}


def q_values(parameters: Sequence[Any], states: Any) -> Any:
    """``[B, 4] -> [B, A]``."""
    w0, b0, w1, b1, w_value, b_value, w_advantages, b_advantages = parameters
    bias_add, matmul, relu = tf.nn.bias_add, tf.matmul, tf.nn.relu
    features = relu(bias_add(matmul(relu(bias_add(matmul(states, w0), b0)), w1), b1))
    advantages = bias_add(matmul(features, w_advantages), b_advantages)
    values = bias_add(matmul(features, w_value), b_value)
    return values + advantages - tf.reduce_mean(advantages, 1, keepdims=True)


def tensor(array: np.ndarray) -> Any:
    """A copy of `array`, by the constructor that `tf.constant` ends in."""
    return EagerTensor(array.copy(), DEVICE, None)


def direct(function: Callable[..., Any], specs: Sequence[Any], shortest: bool) -> Callable[..., Any]:
    """``f(tensors) -> outputs``: `function` as a static graph, called past the checks of its ConcreteFunction.

    With `shortest` by the runtime's entry behind that, and with the executor that runs one operation at a time.
    """
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    inference, captured = concrete._inference_function, list(concrete.captured_inputs)
    if shortest:
        runtime = context.context()
        runtime.ensure_initialized()
        options = {**runtime.function_call_options.as_attrs(), "executor_type": "SINGLE_THREADED_EXECUTOR"}
        attributes = tuple(item for pair in options.items() for item in pair)
        execute, handle, count = pywrap_tfe.TFE_Py_Execute, runtime._handle, len(concrete.outputs)
        name = inference.name.decode()
        return lambda tensors, _alive=concrete: execute(
            handle, "", name, tensors + captured, attributes, count
        )
    call_flat = inference.call_flat
    return lambda tensors, _alive=concrete: call_flat(*tensors, *captured)


def make_act(weights: Mapping[str, np.ndarray], shortest: bool = False) -> Callable[[np.ndarray], np.ndarray]:
    """``f(states [B, 4]) -> greedy actions [B]``."""
    parameters = Parameters(weights, "policy")

    def greedy(states: Any) -> Any:
        return tf.argmax(q_values(parameters.cut(parameters.flat.read_value()), states), 1)

    call = direct(greedy, [tf.TensorSpec([None, STATE_SIZE], tf.float32)], shortest)

    def act(states: np.ndarray) -> np.ndarray:
        return call([tensor(states)])[0].numpy()

    return act


class Update:
    """``update(batch) -> loss``: one step of dueling double DQN."""

    def __init__(self, weights: Mapping[str, np.ndarray], shortest: bool = False):
        self.policy, self.target = Parameters(weights, "policy"), Parameters(weights, "target-policy")
        size = self.policy.flat.shape
        self.first, self.second = (tf.Variable(tf.zeros(size), trainable=False) for _ in range(2))
        self.powers = tf.Variable([0.9, 0.999], trainable=False)
        self._start = self.policy.flat.numpy()
        states = tf.TensorSpec([BATCH_SIZE, STATE_SIZE], tf.float32)
        kinds = (tf.int64, tf.float32, tf.bool)
        specs = [states, *(tf.TensorSpec([BATCH_SIZE], kind) for kind in kinds), states]
        self._call = direct(self._step, specs, shortest)

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        self.policy.flat.assign(self._start)
        self.powers.assign([0.9, 0.999])
        for moments in (self.first, self.second):
            moments.assign(tf.zeros_like(moments))

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        keys = ("states", "actions", "rewards", "terminals", "next_states")
        return float(self._call([tensor(batch[key]) for key in keys])[0].numpy())

    def weights(self) -> dict[str, np.ndarray]:
        return self.policy.as_numpy()

    def _step(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        flat = self.policy.flat.read_value()
        parameters = self.policy.cut(flat)
        best = tf.argmax(q_values(parameters, next_states), 1)
        q_target = q_values(self.target.cut(self.target.flat.read_value()), next_states)
        bootstrap = tf.where(terminals, 0.0, tf.gather(q_target, best, batch_dims=1))
        errors = tf.stop_gradient(rewards + DISCOUNT * bootstrap) - _taken(
            q_values(parameters, states), actions
        )
        magnitude = tf.abs(errors)
        loss = tf.reduce_mean(tf.where(magnitude <= 1.0, 0.5 * tf.square(errors), magnitude - 0.5))
        pieces = tf.gradients(loss, parameters)
        gradient = tf.concat([tf.reshape(piece, [-1]) for piece in pieces], 0)
        norm = tf.sqrt(2.0 * tf.nn.l2_loss(gradient))
        powers = self.powers.read_value()
        tf.raw_ops.ResourceApplyAdam(
            var=self.policy.flat.handle,
            m=self.first.handle,
            v=self.second.handle,
            beta1_power=powers[0],
            beta2_power=powers[1],
            lr=LEARNING_RATE,
            beta1=0.9,
            beta2=0.999,
            # This operation adds epsilon ahead of the bias correction, Algorithm 1 of the paper behind it.
            epsilon=EPSILON * tf.sqrt(1.0 - powers[1]),
            grad=gradient * tf.minimum(CLIP_NORM / (norm + 1e-6), 1.0),
        )
        self.powers.assign(powers * tf.constant([0.9, 0.999]), read_value=False)
        return loss


def _taken(q: Any, actions: Any) -> Any:
    """Values of the actions taken; a product with one-hot rows has a cheaper derivative than a gather."""
    return tf.reduce_sum(q * tf.one_hot(actions, NUM_ACTIONS), 1)
