"""The yardstick on TensorFlow: the same policy and the same update, written by hand as a static graph.

Nothing is checked, nothing can be exchanged: sizes, loss and optimizer are fixed. One flat variable is read once and
split; ConcreteFunctions are called past their checks, by `call_flat` or, where that is asked for, by the runtime's own
entry. Compiled it is the same with XLA, the step of the optimizer as plain operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from by_hand.flat_tf import Moments, Parameters, direct, tensor
from by_hand.update import UpdateByHand
from subject import (
    BATCH_SIZE,
    CLIP_NORM,
    DISCOUNT,
    EPSILON,
    KEYS,
    LEARNING_RATE,
    NUM_ACTIONS,
    STATE_SIZE,
    names,
)

#: A yardstick beside the one that the targets are held against: name -> arguments of `make_act` and `Update`.
OTHERS: dict[str, dict[str, bool]] = {"by hand, shortest call": {"shortest": True}}


def q_values(parameters: Sequence[Any], states: Any) -> Any:
    """``[B, 4] -> [B, A]``."""
    w0, b0, w1, b1, w_value, b_value, w_advantages, b_advantages = parameters
    bias_add, matmul, relu = tf.nn.bias_add, tf.matmul, tf.nn.relu
    features = relu(bias_add(matmul(relu(bias_add(matmul(states, w0), b0)), w1), b1))
    advantages = bias_add(matmul(features, w_advantages), b_advantages)
    values = bias_add(matmul(features, w_value), b_value)
    return values + advantages - tf.reduce_mean(advantages, 1, keepdims=True)


def make_act(
    weights: Mapping[str, np.ndarray],
    batch_size: int | None = None,
    compile: bool = False,
    shortest: bool = False,
) -> Callable[[np.ndarray], np.ndarray]:
    """``f(states [B, 4]) -> greedy actions [B]``."""
    parameters = Parameters(weights, names("dqn/policy"))

    def greedy(states: Any) -> Any:
        return tf.argmax(q_values(parameters.cut(parameters.flat.read_value()), states), 1)

    call = direct(greedy, [tf.TensorSpec([batch_size, STATE_SIZE], tf.float32)], shortest or compile, compile)

    def act(states: np.ndarray) -> np.ndarray:
        return call([tensor(states)])[0].numpy()

    return act


class Update(UpdateByHand):
    """``update(batch) -> loss``: one step of dueling double DQN."""

    def __init__(self, weights: Mapping[str, np.ndarray], compile: bool = False, shortest: bool = False):
        self.policy, self.target = (
            Parameters(weights, names(scope)) for scope in ("dqn/policy", "dqn/target-policy/policy")
        )
        self.moments = Moments(self.policy.flat, LEARNING_RATE, EPSILON, CLIP_NORM)
        super().__init__([self.policy], [self.moments])
        self._xla = compile
        if compile:
            # One array of everything: an array costs more on its way in than its columns cost on the way out of it.
            self._row = np.empty((BATCH_SIZE, 2 * STATE_SIZE + 3), np.float32)
            packed = direct(
                self._unpacked, [tf.TensorSpec(self._row.shape, tf.float32)], shortest=True, xla=True
            )
            self._call = lambda *arrays: packed([self._packed(*arrays)])
        else:
            states = tf.TensorSpec([BATCH_SIZE, STATE_SIZE], tf.float32)
            kinds = (tf.int64, tf.float32, tf.bool)
            specs = [states, *(tf.TensorSpec([BATCH_SIZE], kind) for kind in kinds), states]
            separate = direct(self._step, specs, shortest)
            self._call = lambda *arrays: separate([tensor(array) for array in arrays])

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        return float(self._call(*[batch[key] for key in KEYS])[0].numpy())

    def _packed(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        row = self._row
        row[:, :STATE_SIZE], row[:, STATE_SIZE:-3] = states, next_states
        row[:, -3], row[:, -2], row[:, -1] = actions, rewards, terminals
        return tensor(row)

    def _unpacked(self, row: Any) -> Any:
        states, next_states, actions, rewards, terminals = tf.split(row, [STATE_SIZE, STATE_SIZE, 1, 1, 1], 1)
        actions, rewards, terminals = (tf.squeeze(column, 1) for column in (actions, rewards, terminals))
        return self._step(states, tf.cast(actions, tf.int64), rewards, terminals > 0.0, next_states)

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
        gradient = self.moments.clipped(tf.gradients(loss, parameters))
        if self._xla:
            self.moments.write(self.moments.stepped(self.moments.read(), gradient))
        else:
            self.moments.apply(gradient)
        return loss


def _taken(q: Any, actions: Any) -> Any:
    """Values of the actions taken; a product with one-hot rows has a cheaper derivative than a gather."""
    return tf.reduce_sum(q * tf.one_hot(actions, NUM_ACTIONS), 1)
