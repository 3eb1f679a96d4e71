"""The update of `recurrent_learner` on TensorFlow, written by hand: a static graph with loops over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from by_hand import recurrent_learner as a2c
from by_hand.flat_tf import Moments, Parameters, direct, tensor
from by_hand.update import UpdateByHand

KEYS = ("states", "next_states", "actions", "rewards", "terminals", "ends", "begins")


def step(projected: Any, c: Any, h: Any, recurrent: Any) -> tuple[Any, Any]:
    i, f, g, o = tf.split(projected + tf.matmul(h, recurrent), 4, 1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return c, tf.sigmoid(o) * tf.tanh(c)


def project(parameters: Any, states: Any) -> Any:
    """``[B, 4] -> [B, 4 U]``."""
    w0, b0, w1, _, b1 = parameters
    hidden = tf.tanh(tf.nn.bias_add(tf.matmul(states, w0), b0))
    return tf.nn.bias_add(tf.matmul(hidden, w1), b1)


def unroll(parameters: Any, states: Any, keep: Any, c: Any, h: Any) -> tuple[Any, Any]:
    """The cell's states and the outputs of all steps, ``[T * B, U]`` each."""
    length, number, size = states.shape
    projected = tf.reshape(project(parameters, tf.reshape(states, (-1, size))), (length, number, -1))
    inputs, kept = (tf.TensorArray(tf.float32, length).unstack(x) for x in (projected, keep))
    results = [tf.TensorArray(tf.float32, length, element_shape=c.shape) for _ in range(2)]

    def body(t: Any, c: Any, h: Any, cells: Any, outputs: Any) -> Any:
        keep = kept.read(t)
        c, h = step(inputs.read(t), c * keep, h * keep, parameters[3])
        return t + 1, c, h, cells.write(t, c), outputs.write(t, h)

    *_, cells, outputs = tf.while_loop(
        lambda t, *_: t < length, body, (0, c, h, *results), maximum_iterations=length
    )
    return tf.reshape(cells.stack(), (-1, a2c.UNITS)), tf.reshape(outputs.stack(), (-1, a2c.UNITS))


class Update(UpdateByHand):
    """``update(batch) -> loss``."""

    def __init__(self, weights: Mapping[str, np.ndarray]):
        self.parameters = Parameters(weights, a2c.NAMES)
        self.moments = Moments(self.parameters.flat, a2c.LEARNING_RATE, a2c.EPSILON)
        super().__init__([self.parameters], [self.moments])
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in _arrays(a2c.random_batch(0))]
        self._call = direct(self._step, specs, shortest=True, single_threaded=False)

    def __call__(self, batch: Mapping[str, Any]) -> np.ndarray:
        loss: np.ndarray = self._call([tensor(x) for x in _arrays(batch)])[0].numpy()
        return loss

    def _step(self, *batch: Any) -> Any:
        leaves = self.parameters.cut(self.parameters.flat.read_value())
        loss = _loss(leaves, *batch)
        gradients = tf.gradients(loss, leaves)
        self.moments.apply(self.moments.clipped(gradients))
        return (loss,)


def _arrays(batch: Mapping[str, Any]) -> list[np.ndarray]:
    before = [x[0] for part in batch["beginnings"].values() for x in part["lstm_1"]]
    return [*(batch["records"][key] for key in KEYS), *before]


def _loss(leaves: Any, *batch: Any) -> Any:
    states, reached, actions, rewards, terminals, ends, begins, *before = batch
    shape = rewards.shape
    keep = tf.expand_dims(tf.cast(~begins, tf.float32), 2)
    policy, values_of = leaves[:5], leaves[5:10]
    policy_w, policy_b, value_w, value_b = leaves[10:]
    cells, outputs = unroll(values_of, states, keep, *before[2:])
    values = tf.reshape(tf.nn.bias_add(tf.matmul(outputs, value_w), value_b), shape)
    projected = project(values_of, tf.reshape(reached, (-1, states.shape[2])))
    _, last = step(projected, cells, outputs, values_of[3])
    following = tf.reshape(tf.nn.bias_add(tf.matmul(last, value_w), value_b), shape)
    following = tf.where(terminals, 0.0, following)
    errors = rewards + a2c.DISCOUNT * following - values
    factors = a2c.DISCOUNT * tf.cast(~ends, tf.float32)
    totals: list[Any] = []
    for error, factor in zip(reversed(tf.unstack(errors)), reversed(tf.unstack(factors)), strict=True):
        totals.append(error + factor * totals[-1] if totals else error)
    advantages = tf.stop_gradient(tf.stack(totals[::-1]))
    targets = tf.stop_gradient(values) + advantages
    _, outputs = unroll(policy, states, keep, *before[:2])
    log_probs = tf.nn.log_softmax(tf.nn.bias_add(tf.matmul(outputs, policy_w), policy_b))
    chosen = tf.one_hot(tf.reshape(actions, (-1,)), log_probs.shape[1])
    taken = tf.reshape(tf.reduce_sum(chosen * log_probs, 1), shape)
    entropy = tf.reshape(-tf.reduce_sum(tf.exp(log_probs) * log_probs, 1), shape)
    losses = (
        a2c.VALUE_WEIGHT * tf.square(values - targets) - taken * advantages - a2c.ENTROPY_WEIGHT * entropy
    )
    return tf.reduce_mean(losses)
