"""LSTM and GRU, 20 steps of 32 sequences, 256 units, against the framework's own layer: forward, and with derivatives.

Both sides take NumPy arrays, batch and time in the order that the framework prefers, and hold the same weights. The
derivatives are those of the mean square of the outputs by all weights; what comes out is the sum of their squares, so
that nobody has to hand them out. Figures are processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import Row, arguments, compared, interleaved, report

from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

TARGET = 1.10
STEPS, BATCH, UNITS = 20, 32, 256

#: Forward, and with derivatives, each from an array to (outputs,) or the sum of squares.
Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]
KINDS = ("lstm", "gru")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true", help="both sides compiled")
    options = parser.parse_args()
    shape = (STEPS, BATCH, UNITS) if options.backend == "torch" else (BATCH, STEPS, UNITS)
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    rows: list[Row] = []
    peer = {"torch": "torch.nn", "tf": "Keras"}[options.backend]
    named: dict[str, dict[str, Callable[[], Any]]] = {}
    for kind in KINDS:
        weights, ours = on_rlgraph(kind, options.backend, options.compile)
        theirs = {"torch": on_torch, "tf": on_tf}[options.backend](kind, weights, options.compile)
        for call, one, other in zip(("forward", "with derivatives"), ours, theirs, strict=True):
            np.testing.assert_allclose(one(x), other(x), rtol=1e-3, atol=1e-4, err_msg=f"{kind}, {call}")
            named[f"{kind}, {call}"] = {peer: partial(other, x), "rlgraph": partial(one, x)}
    subjects = {f"{name}, {side}": call for name, pair in named.items() for side, call in pair.items()}
    figures = interleaved(subjects, clock=time.process_time)
    for name, pair in named.items():
        sides = {side: figures[f"{name}, {side}"] for side in pair}
        rows += compared(sides, peer, "ms", 1e3, TARGET, f"{name}, ")
    report("recurrent layers", rows, options, ("keras",) if options.backend == "tf" else ())


def on_rlgraph(kind: str, backend: str, compiled: bool) -> tuple[dict[str, Any], Pair]:
    class Recurrent(Component):
        def __init__(self) -> None:
            self.layer = Component.from_spec({"type": kind, "units": UNITS, "scope": "layer"})
            super().__init__(self.layer, scope="recurrent")

        @rlgraph_api
        def forward(self, inputs: Any) -> Any:
            outputs, _ = self.layer.call(inputs)
            return outputs

        @rlgraph_api
        def derivatives(self, inputs: Any) -> Any:
            outputs, _ = self.layer.call(inputs)
            return self._norm(gradients(self._loss(outputs), self.layer.variables()))

        @graph_fn
        def _loss(self, ops: Any, outputs: Any) -> Any:
            return ops.mean(ops.square(outputs))

        @graph_fn
        def _norm(self, ops: Any, found: Any) -> Any:
            norms = [ops.sum(ops.square(one)) for one in found]
            return 1e6 * sum(norms[1:], start=norms[0])

    time_major = backend == "torch"
    space = FloatBox(shape=(UNITS,), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    spec = {"seed": 1, **({"compile": ["forward", "derivatives"]} if compiled else {})}
    executor = GraphExecutor(Recurrent(), {"inputs": space}, backend=backend, execution_spec=spec)
    weights = {name.rpartition("/")[2]: value for name, value in executor.get_weights().items()}
    return weights, (
        lambda x: executor.execute("forward", x),
        lambda x: executor.execute("derivatives", x),
    )


def on_torch(kind: str, weights: dict[str, Any], compiled: bool) -> Pair:
    """`torch.nn`, which nothing compiles."""
    import torch

    torch.set_num_threads(1)
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind](UNITS, UNITS)
    names = {
        "weight_ih_l0": "weights",
        "weight_hh_l0": "recurrent_weights",
        "bias_ih_l0": "biases",
        "bias_hh_l0": "recurrent_biases",
    }
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            value = weights.get(names[name])
            parameter.zero_() if value is None else parameter.copy_(torch.from_numpy(value.T))
    parameters = list(layer.parameters())

    def forward(x: Any) -> Any:
        with torch.no_grad():
            return layer(torch.from_numpy(x))[0].numpy()

    def derivatives(x: Any) -> Any:
        loss = layer(torch.from_numpy(x))[0].square().mean()
        found = torch.autograd.grad(loss, parameters)
        if kind == "lstm":
            found = found[:3]  # its two biases have the same derivative, ours is one
        return float(1e6 * sum(one.square().sum() for one in found))

    return forward, derivatives


def on_tf(kind: str, weights: dict[str, Any], compiled: bool) -> Pair:
    import keras
    import tensorflow as tf

    layer = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU}[kind](UNITS, return_sequences=True)
    layer.build((BATCH, STEPS, UNITS))
    biases = [weights["biases"]]
    if kind == "gru":
        biases = [np.stack([weights["biases"], weights["recurrent_biases"]])]

    def ordered(value: Any) -> Any:
        """The gates in Keras' order."""
        if kind == "lstm":
            return value
        r, z, n = np.split(value, 3, -1)
        return np.concatenate([z, r, n], -1)

    layer.set_weights(
        [ordered(value) for value in (weights["weights"], weights["recurrent_weights"], *biases)]
    )
    parameters = [variable.value for variable in layer.trainable_variables]

    spec = tf.TensorSpec([None, None, UNITS], tf.float32)

    @tf.function(jit_compile=compiled, input_signature=[spec])
    def run(x: Any) -> Any:
        return layer(x)

    @tf.function(jit_compile=compiled, input_signature=[spec])
    def differentiate(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(layer(x)))
        found = tape.gradient(loss, parameters)
        return 1e6 * tf.add_n([tf.reduce_sum(tf.square(one)) for one in found])

    run_traced, differentiate_traced = run.get_concrete_function(), differentiate.get_concrete_function()
    return (
        lambda x: run_traced(tf.constant(x)).numpy(),
        lambda x: differentiate_traced(tf.constant(x)).numpy(),
    )
