"""TensorFlow's and Keras' own functions as activations of layers."""

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Dense
from rlgraph.core import GraphExecutor, SpecError
from rlgraph.spaces import FloatBox

X = np.linspace(-3.0, 3.0, 8, dtype=np.float32).reshape(4, 2)
NAMED = [
    tf.tanh,
    tf.sigmoid,
    tf.nn.relu,
    tf.nn.elu,
    tf.nn.gelu,
    tf.keras.activations.softmax,
    tf.nn.swish,
    tf.math.log_sigmoid,
    tf.keras.activations.gelu,
    tf.keras.activations.softsign,
]


@pytest.mark.parametrize("function", NAMED)
@pytest.mark.parametrize("backend", ["numpy", "tf"])
def test_functions_of_a_name(function, backend):
    layer = Dense(2, activation=function, weights_spec=[[1.0, 0.0], [0.0, 1.0]])
    executor = GraphExecutor(layer, {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}, backend=backend)
    np.testing.assert_allclose(executor.execute("call", X), function(X), atol=1e-5)


@pytest.mark.parametrize("function", [tf.nn.leaky_relu, tf.exp, tf.add, tf.keras.layers.ReLU()])
def test_others_are_refused(function):
    with pytest.raises(
        SpecError, match="dense.activation: expected the name of an activation, or a function of ops"
    ):
        Dense(2, activation=function)
