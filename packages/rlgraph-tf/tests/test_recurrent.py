"""LSTM and GRU against Keras' own layers; their updates compiled by XLA."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import GRU, LSTM, Adam
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox, Tuple

pytestmark = pytest.mark.slow

STEPS, BATCH, SIZE, UNITS = 6, 4, 5, 7
INPUTS = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True)
STATE = FloatBox(shape=(UNITS,), add_batch_rank=True)
RANDOM = {"type": "normal", "stddev": 0.5}


class Derived(Component):
    """A layer, the derivatives of a number made of all that it returns, and an update."""

    def __init__(self, layer):
        self.layer, self.optimizer = layer, Adam(0.01)
        super().__init__(layer, self.optimizer, scope="derived")

    @rlgraph_api
    def forward(self, inputs, states):
        return self.layer.call(inputs, states)

    @rlgraph_api
    def derivatives(self, inputs, states):
        outputs, last = self.layer.call(inputs, states)
        return self._reshaped(gradients(self._number(outputs, last), self.layer.variables()))

    @rlgraph_api
    def update(self, inputs, states, sequence_length):
        outputs, last = self.layer.call(inputs, states)
        cut, last = self.layer.call(inputs, states, sequence_length)
        loss = self._number(self._add(outputs, cut), last)
        self.optimizer.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _add(self, ops, one, other):
        return one + other

    @graph_fn
    def _number(self, ops, outputs, last):
        parts = (outputs, *last) if isinstance(last, tuple) else (outputs, last)
        return sum([ops.sum(ops.square(part)) for part in parts[1:]], start=ops.sum(ops.sin(outputs)))

    @graph_fn
    def _reshaped(self, ops, found):
        return ops.concat([ops.reshape(one, (-1,)) for one in found])


def build(kind, methods=(), **options):
    more = {"recurrent_biases_spec": RANDOM} if kind is GRU else {}
    layer = kind(UNITS, biases_spec=RANDOM, scope="layer", **more, **options)
    spaces = {
        "inputs": INPUTS,
        "states": Tuple(STATE, STATE) if kind is LSTM else STATE,
        "sequence_length": IntBox(STEPS + 1, add_batch_rank=True),
    }
    spec = {"seed": 1, **({"compile": list(methods)} if methods else {})}
    return GraphExecutor(Derived(layer), spaces, backend="tf", execution_spec=spec)


def arrays(kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, STEPS, SIZE)).astype("float32")
    c, h = rng.normal(size=(2, BATCH, UNITS)).astype("float32")
    return x, (c, h) if kind is LSTM else h


def keras_order(kind, value):
    """The gates in Keras' order: of a GRU it is z, r, n."""
    if kind is LSTM:
        return value
    r, z, n = np.split(value, 3, -1)
    return np.concatenate([z, r, n], -1)


@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_the_same_as_keras(kind):
    executor = build(kind)
    x, states = arrays(kind)
    names = ["weights", "recurrent_weights", "biases", *(["recurrent_biases"] if kind is GRU else [])]
    weights = {name: executor.get_weights()[f"layer/{name}"] for name in names}
    made = {LSTM: keras.layers.LSTM, GRU: keras.layers.GRU}[kind]
    layer = made(UNITS, return_sequences=True, return_state=True)
    layer.build(x.shape)
    ordered = [keras_order(kind, value) for value in weights.values()]
    layer.set_weights(ordered if kind is LSTM else [*ordered[:2], np.stack(ordered[2:])])
    with tf.GradientTape() as tape:
        # Keras has h first.
        y, *last = layer(x, initial_state=list(reversed(states)) if kind is LSTM else [states])
        number = tf.add_n([tf.reduce_sum(tf.sin(y)), *(tf.reduce_sum(tf.square(part)) for part in last)])
    found = tape.gradient(number, [variable.value for variable in layer.trainable_variables])

    outputs, ours = executor.execute("forward", x, states)
    np.testing.assert_allclose(outputs, y, atol=1e-5)
    for one, other in zip(reversed(ours) if kind is LSTM else [ours], last, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    by = dict(zip(names, [*found[:2], *([found[2]] if kind is LSTM else found[2])], strict=True))
    expected = np.concatenate([np.asarray(by[name]).reshape(-1) for name in sorted(names)])
    given, ends = (
        executor.execute("derivatives", x, states),
        np.cumsum([weights[n].size for n in sorted(names)]),
    )
    given = [
        keras_order(kind, part.reshape(weights[name].shape)).reshape(-1)
        for name, part in zip(sorted(names), np.split(given, ends[:-1]), strict=True)
    ]
    np.testing.assert_allclose(np.concatenate(given), expected, atol=5e-5)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param(LSTM, {}, marks=pytest.mark.repetition),
        (LSTM, {"use_peepholes": True, "cell_clip": 0.5}),
        (GRU, {}),
    ],
)
def test_xla_compiles_derivatives_through_time(kind, options):
    compiled, plain = build(kind, ["update"], **options), build(kind, **options)
    x, states = arrays(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in (slice(None), slice(None), slice(2)):
            given = x[batch], tuple(s[batch] for s in states) if kind is LSTM else states[batch]
            lengths = np.array([3, 0, 6, 1])[batch]
            one, other = (executor.execute("update", *given, lengths) for executor in (compiled, plain))
            np.testing.assert_allclose(one, other, rtol=1e-5)
    assert compiled.choices["compile:update"] == "xla"
    for name, value in plain.get_weights().items():
        np.testing.assert_allclose(compiled.get_weights()[name], value, atol=1e-4, err_msg=name)
