"""The optimizers against those of Keras, over 200 steps in float64.

Keras adds epsilon elsewhere in Adam, AdamW and Adagrad (ahead of the bias correction, in the root), so there it is tiny
on both sides. Learning rates and decay rates of moments are sums of few powers of two: Keras rounds them to float32.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import SGD, Adadelta, Adagrad, Adam, AdamW, Nadam, RMSProp
from rlgraph.core import GraphExecutor
from rlgraph.testing.conformance.gradients import REGRESSION_SPACES, Regression

RATE, TINY = 2.0**-6, 1e-14
OURS, THEIRS = ({f"beta{separator}1": 0.875, f"beta{separator}2": 1 - 2.0**-7} for separator in ("", "_"))
CASES = {
    "adadelta": (Adadelta(0.5, rho=0.9), keras.optimizers.Adadelta(0.5, rho=0.9, epsilon=1e-6)),
    "adagrad": (
        Adagrad(RATE, initial_accumulator_value=0.1, epsilon=TINY),
        keras.optimizers.Adagrad(RATE, initial_accumulator_value=0.1, epsilon=TINY),
    ),
    "adam": (Adam(RATE, epsilon=TINY, **OURS), keras.optimizers.Adam(RATE, epsilon=TINY, **THEIRS)),
    "adamw": (
        AdamW(RATE, weight_decay=0.1, epsilon=TINY, **OURS),
        keras.optimizers.AdamW(RATE, weight_decay=0.1, epsilon=TINY, **THEIRS),
    ),
    "nadam": (Nadam(RATE, momentum_decay=1.0, **OURS), keras.optimizers.Nadam(RATE, epsilon=1e-8, **THEIRS)),
    "rmsprop": (
        RMSProp(RATE, decay=0.9, epsilon=0.1, epsilon_inside_root=True),
        keras.optimizers.RMSprop(RATE, rho=0.9, epsilon=0.1),
    ),
    "rmsprop_centered": (
        RMSProp(RATE, momentum=0.5, centered=True, epsilon=1e-3, epsilon_inside_root=True),
        keras.optimizers.RMSprop(RATE, rho=0.99, momentum=0.5, centered=True, epsilon=1e-3),
    ),
    "sgd": (SGD(RATE), keras.optimizers.SGD(RATE)),
    "sgd_momentum": (SGD(RATE, momentum=0.9), keras.optimizers.SGD(RATE, momentum=0.9)),
    "sgd_nesterov": (
        SGD(RATE, momentum=0.9, nesterov=True),
        keras.optimizers.SGD(RATE, momentum=0.9, nesterov=True),
    ),
}
LAYERS = [
    {"type": "dense", "units": 4, "activation": "tanh", "scope": "a"},
    {"type": "dense", "units": 2, "scope": "b"},
]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_two_hundred_steps(name):
    optimizer, theirs = CASES[name]
    made = GraphExecutor(
        Regression(optimizer.copy(), LAYERS),
        REGRESSION_SPACES,
        backend="tf",
        execution_spec={"dtype": "float64"},
    )
    start = made.get_weights(trainable_only=True)
    w = {
        key: keras.Variable(value, dtype="float64", name=key.replace("/", "-"))
        for key, value in start.items()
    }
    theirs.build(list(w.values()))

    @tf.function(autograph=False)
    def step(x, y):
        with tf.GradientTape() as tape:
            bias_a, weights_a, bias_b, weights_b = (variable.value for variable in w.values())
            outputs = tf.tanh(x @ weights_a + bias_a) @ weights_b + bias_b
            loss = tf.reduce_mean(tf.square(outputs - y))
        variables = list(w.values())
        theirs.apply(tape.gradient(loss, [variable.value for variable in variables]), variables)

    rng = np.random.default_rng(0)
    for _ in range(200):
        x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
        made.execute("update", x, y)
        step(tf.constant(x), tf.constant(y))
    for key, value in made.get_weights(trainable_only=True).items():
        np.testing.assert_allclose(value, w[key].numpy(), rtol=0, atol=1e-6, err_msg=key)
        assert np.abs(value - start[key]).max() > 1e-3
