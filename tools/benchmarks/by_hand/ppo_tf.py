"""The update of `ppo_learner` on TensorFlow, written by hand: one loop over the minibatches, with XLA and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from by_hand import ppo_learner as ppo
from by_hand.flat_tf import Moments, Parameters, direct, tensor
from by_hand.update import UpdateByHand


def network(parameters: Any, states: Any) -> Any:
    w0, b0, w1, b1, w2, b2 = parameters
    bias_add, matmul, tanh = tf.nn.bias_add, tf.matmul, tf.tanh
    return bias_add(matmul(tanh(bias_add(matmul(tanh(bias_add(matmul(states, w0), b0)), w1), b1)), w2), b2)


def loss_of(parameters: Any, states: Any, actions: Any, log_probs: Any, advantages: Any, returns: Any) -> Any:
    number = float(states.shape[0])
    new_log_probs = tf.nn.log_softmax(network(parameters[:6], states))
    negative_entropy = tf.reduce_sum(tf.exp(new_log_probs) * new_log_probs)
    # A product with one-hot rows has a cheaper derivative than a gather.
    taken = tf.reduce_sum(new_log_probs * tf.one_hot(actions, ppo.NUM_ACTIONS), 1)
    centred = advantages - tf.reduce_mean(advantages)
    advantages = centred / (tf.sqrt(tf.reduce_sum(tf.square(centred)) / number) + 1e-8)
    ratio = tf.exp(taken - log_probs)
    clipped = tf.clip_by_value(ratio, 1.0 - ppo.CLIP, 1.0 + ppo.CLIP)
    gain = tf.reduce_sum(tf.minimum(ratio * advantages, clipped * advantages))
    errors = returns - tf.squeeze(network(parameters[6:], states), 1)
    value_loss = tf.reduce_sum(tf.square(errors))
    return (ppo.VALUE_WEIGHT * value_loss - gain + ppo.ENTROPY_WEIGHT * negative_entropy) / number


def records_of(given: Any) -> list[Any]:
    """The records, with the targets of the value function in place of the values."""
    *records, values = given
    return [*records, values + records[-1]]


class Update(UpdateByHand):
    """``update(batch) -> mean loss``: one step per minibatch, all in one call."""

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        batch: Mapping[str, np.ndarray],
        rng: np.random.Generator,
        compile: bool = False,
    ):
        self.rng = rng
        self.parameters = Parameters(weights, ppo.NAMES)
        self.moments = Moments(self.parameters.flat, ppo.LEARNING_RATE, ppo.EPSILON, ppo.CLIP_NORM)
        super().__init__([self.parameters], [self.moments])
        order = ppo.order_of(np.random.default_rng(0), len(batch["states"]))
        specs = [
            tf.TensorSpec(array.shape, array.dtype) for array in (order, *(batch[key] for key in ppo.RECORDS))
        ]
        self._call = direct(
            self._compiled if compile else self._graph,
            specs,
            shortest=True,
            xla=compile,
            single_threaded=False,
        )

    def __call__(self, batch: Mapping[str, np.ndarray]) -> np.ndarray:
        order = ppo.order_of(self.rng, len(batch["states"]))
        return self._call([tensor(order), *(tensor(batch[key]) for key in ppo.RECORDS)])[0].numpy()

    def _minibatch(self, flat: Any, rows: Any, records: Any) -> tuple[Any, Any]:
        """The loss and the derivative."""
        parameters = self.parameters.cut(flat)
        loss = loss_of(parameters, *[tf.gather(record, rows) for record in records])
        return loss, self.moments.clipped(tf.gradients(loss, parameters))

    def _graph(self, order: Any, *given: Any) -> Any:
        records = records_of(given)

        def step(i: Any, losses: Any) -> Any:
            flat = self.parameters.flat.read_value()
            loss, gradient = self._minibatch(flat, tf.gather(order, i), records)
            self.moments.apply(gradient)
            return i + 1, losses.write(i, loss)

        losses = tf.TensorArray(tf.float32, ppo.UPDATES, element_shape=[])
        done = tf.while_loop(
            lambda i, _: i < ppo.UPDATES,
            step,
            (0, losses),
            maximum_iterations=ppo.UPDATES,
            parallel_iterations=1,
        )
        return tf.reduce_mean(done[1].stack())

    def _compiled(self, order: Any, *given: Any) -> Any:
        records = records_of(given)

        def step(i: Any, losses: Any, *state: Any) -> Any:
            loss, gradient = self._minibatch(state[0], order[i], records)
            return i + 1, losses.write(i, loss), *self.moments.stepped(state, gradient)

        losses = tf.TensorArray(tf.float32, ppo.UPDATES, element_shape=[])
        _, losses, *state = tf.while_loop(
            lambda i, *_: i < ppo.UPDATES,
            step,
            (0, losses, *self.moments.read()),
            maximum_iterations=ppo.UPDATES,
        )
        self.moments.write(state)
        return tf.reduce_mean(losses.stack())
