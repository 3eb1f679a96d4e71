"""The update of `sac_learner` on TensorFlow, written by hand: a static graph, and the same with XLA."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from by_hand import sac_learner as sac
from by_hand.flat_tf import Moments, Parameters, direct, tensor
from by_hand.update import UpdateByHand


def network(parameters: Any, states: Any) -> Any:
    w0, b0, w1, b1, w2, b2 = parameters
    bias_add, matmul, relu = tf.nn.bias_add, tf.matmul, tf.nn.relu
    return bias_add(matmul(relu(bias_add(matmul(relu(bias_add(matmul(states, w0), b0)), w1), b1)), w2), b2)


def act(parameters: Any, states: Any, noise: Any) -> tuple[Any, Any]:
    mean, log_deviation = tf.split(network(parameters, states), [sac.ACTION_SIZE, sac.ACTION_SIZE], 1)
    log_deviation = tf.clip_by_value(log_deviation, sac.LOWEST, sac.HIGHEST)
    actions = tf.tanh(mean + tf.exp(log_deviation) * noise)
    normal = 0.5 * tf.square(noise) + log_deviation + 0.5 * math.log(2.0 * math.pi)
    return actions, -tf.reduce_sum(normal + tf.math.log(1.0 + 1e-6 - tf.square(actions)), 1)


def evaluate(parameters: Any, states: Any, actions: Any) -> tuple[Any, Any]:
    inputs = tf.concat([states, actions], 1)
    return tf.squeeze(network(parameters[:6], inputs), 1), tf.squeeze(network(parameters[6:], inputs), 1)


class Update(UpdateByHand):
    """``update(batch) -> losses``: of critics, temperature and actor."""

    def __init__(self, weights: Mapping[str, np.ndarray], compile: bool = False):
        self.actor, self.critics, self.targets, self.temperature = (
            Parameters(weights, names) for names in sac.NAMES
        )
        self.trained = (self.critics, self.actor, self.temperature)
        self.moments = [Moments(part.flat, sac.LEARNING_RATE, sac.EPSILON) for part in self.trained]
        super().__init__([*self.trained, self.targets], self.moments)
        self._xla = compile
        batch = sac.random_batch()
        specs = [tf.TensorSpec(batch[key].shape, batch[key].dtype) for key in sac.KEYS]
        self._call = direct(self._step, specs, shortest=True, xla=compile)

    def __call__(self, batch: Mapping[str, np.ndarray]) -> list[float]:
        return [float(loss.numpy()) for loss in self._call([tensor(batch[key]) for key in sac.KEYS])]

    def _apply(self, number: int, pieces: Sequence[Any]) -> Any:
        """A step of one of the three optimizers: the new parameters."""
        moments = self.moments[number]
        gradient = moments.clipped(pieces)
        if self._xla:
            state = moments.stepped(moments.read(), gradient)
            moments.write(state)
            return state[0]
        moments.apply(gradient)
        return moments.flat.read_value()

    def _step(self, *batch: Any) -> Any:
        states, actions, rewards, terminals, next_states, noise, next_noise = batch
        critics, actor, (logarithm,) = (part.cut(part.flat.read_value()) for part in self.trained)
        followers, alpha = self.targets.flat.read_value(), tf.exp(logarithm)
        next_actions, next_log_probs = act(actor, next_states, next_noise)
        values = tf.minimum(*evaluate(self.targets.cut(followers), next_states, next_actions))
        bootstrap = tf.where(terminals, 0.0, values - alpha * next_log_probs)
        wanted = tf.stop_gradient(rewards + sac.DISCOUNT * bootstrap)

        first, second = evaluate(critics, states, actions)
        squares = tf.square(first - wanted) + tf.square(second - wanted)
        critic_loss = 0.5 * tf.reduce_mean(squares)
        online = self._apply(0, tf.gradients(critic_loss, critics))

        new_actions, log_probs = act(actor, states, noise)
        lower = tf.minimum(*evaluate(self.critics.cut(online), states, new_actions))
        actor_loss = tf.reduce_mean(alpha * log_probs - lower)
        self._apply(1, tf.gradients(actor_loss, actor))

        excess = -(tf.reduce_mean(log_probs) + sac.TARGET_ENTROPY)
        self._apply(2, [excess])
        self.targets.flat.assign(followers + sac.TAU * (online - followers), read_value=False)
        return critic_loss, logarithm * excess, actor_loss
