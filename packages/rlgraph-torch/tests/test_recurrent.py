"""LSTM and GRU against torch's own modules, and beside them; the LSTM's kernel against its single source."""

import numpy as np
import pytest
import torch
from torch import nn

from rlgraph.components import GRU, LSTM, Adam, NeuralNetwork
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple
from rlgraph.torch import ModuleComponent

STEPS, BATCH, SIZE, UNITS = 6, 4, 5, 7
STATE = FloatBox(shape=(UNITS,), add_batch_rank=True)
STATES = {LSTM: Tuple(STATE, STATE), GRU: STATE}
RANDOM = {"type": "normal", "stddev": 0.5}
TOLERANCES = {"float32": 2e-6, "float64": 1e-12}


class Derived(Component):
    """A layer, and the derivatives of a number made of all that it returns."""

    def __init__(self, layer):
        self.layer = layer
        super().__init__(layer, scope="derived")

    @rlgraph_api
    def forward(self, inputs, states):
        return self.layer.call(inputs, states)

    @rlgraph_api
    def derivatives(self, inputs, states):
        outputs, last = self.layer.call(inputs, states)
        return self._reshaped(gradients(self._number(outputs, last), self.layer.variables()))

    @graph_fn
    def _number(self, ops, outputs, last):
        parts = (outputs, *last) if isinstance(last, tuple) else (outputs, last)
        return sum([ops.sum(ops.square(part)) for part in parts[1:]], start=ops.sum(ops.sin(outputs)))

    @graph_fn
    def _reshaped(self, ops, found):
        return ops.concat([ops.reshape(one, (-1,)) for one in found])


def build(layer, *, time_major=True, dtype="float32", **options):
    inputs = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    return GraphExecutor(
        Derived(layer),
        {"inputs": inputs, "states": STATES[type(layer)]},
        backend="torch",
        execution_spec={"seed": 1, "dtype": dtype, **options},
    )


def layer(kind, **options):
    more = {"recurrent_biases_spec": RANDOM} if kind is GRU else {}
    return kind(UNITS, biases_spec=RANDOM, scope="layer", **more, **options)


def arrays(kind, dtype="float32", steps=STEPS):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(steps, BATCH, SIZE)).astype(dtype)
    c, h = rng.normal(size=(2, BATCH, UNITS)).astype(dtype)
    return x, (c, h) if kind is LSTM else h


def module(kind, executor, dtype):
    """torch's module with the same weights."""
    weights = executor.get_weights()
    made = {LSTM: torch.nn.LSTM, GRU: torch.nn.GRU}[kind](SIZE, UNITS, dtype=getattr(torch, dtype))
    ours = {"weight_ih_l0": "weights", "weight_hh_l0": "recurrent_weights", "bias_ih_l0": "biases"}
    ours["bias_hh_l0"] = "recurrent_biases"
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            value = weights.get(f"layer/{ours[name]}", np.zeros(parameter.shape))
            parameter.copy_(torch.from_numpy(value.T))
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [LSTM, GRU])
@pytest.mark.parametrize("kernels", [True, False])
def test_the_same_as_torch(kind, dtype, kernels):
    executor = build(layer(kind), dtype=dtype, use_kernels=kernels)
    x, states = arrays(kind, dtype)
    theirs, given = module(kind, executor, dtype), torch.from_numpy
    if kind is LSTM:
        y, (h, c) = theirs(given(x), (given(states[1])[None], given(states[0])[None]))
        number = y.sin().sum() + c.square().sum() + h.square().sum()
        last = (c[0], h[0])
    else:
        y, h = theirs(given(x), given(states)[None])
        number = y.sin().sum() + h.square().sum()
        last = h[0]
    outputs, ours = executor.execute("forward", x, states)
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(outputs, y.detach(), atol=tolerance)
    for one, other in zip(ours, last, strict=True):
        np.testing.assert_allclose(one, other.detach(), atol=tolerance)
    number.backward()
    found = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    # In the order of our names: biases, recurrent_biases, recurrent_weights, weights.
    names = ["bias_ih_l0", *(["bias_hh_l0"] if kind is GRU else []), "weight_hh_l0", "weight_ih_l0"]
    expected = np.concatenate([found[name].numpy().T.reshape(-1) for name in names])
    np.testing.assert_allclose(executor.execute("derivatives", x, states), expected, atol=20 * tolerance)


@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("return_sequences", [True, False])
def test_the_kernel_has_all_options(time_major, return_sequences):
    native, single = (
        build(layer(LSTM, return_sequences=return_sequences), time_major=time_major, use_kernels=kernels)
        for kernels in (True, False)
    )
    x, states = arrays(LSTM)
    x = x if time_major else x.swapaxes(0, 1)
    for method in ("forward", "derivatives"):
        one, other = (executor.execute(method, x, states) for executor in (native, single))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=1e-5)


def test_no_steps_are_none():
    executor = build(layer(LSTM))
    x, states = arrays(LSTM, steps=0)
    outputs, last = executor.execute("forward", x, states)
    assert outputs.shape == (0, BATCH, UNITS)
    np.testing.assert_array_equal(last, states)


class Updated(Component):
    def __init__(self, layer):
        self.layer, self.optimizer = layer, Adam(0.01)
        super().__init__(layer, self.optimizer, scope="updated")

    @rlgraph_api
    def update(self, inputs, sequence_length):
        outputs, _ = self.layer.call(inputs)
        cut, _ = self.layer.call(inputs, None, sequence_length)
        loss = self._loss(outputs, cut)
        self.optimizer.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, outputs, cut):
        return ops.mean(ops.square(outputs - 1.0)) + ops.mean(cut)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_compiled(straight, kind, dtype):
    spaces = {
        "inputs": FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True, time_major=True),
        "sequence_length": IntBox(STEPS + 1, add_batch_rank=True),
    }
    compiled, eager = (
        GraphExecutor(Updated(layer(kind)), spaces, backend="torch", execution_spec={"dtype": dtype, **spec})
        for spec in ({"compile": True}, {})
    )
    x, lengths = arrays(kind, dtype)[0], np.array([6, 0, 2, 5])
    tolerance = 2e-6 if dtype == "float32" else 1e-12
    for _ in range(4):
        one, other = (executor.execute("update", x, lengths) for executor in (compiled, eager))
        np.testing.assert_allclose(one, other, atol=tolerance)
    assert compiled.choices == {"compile:update": "inductor"} and len(straight) == 1


@pytest.mark.parametrize("is_first", [True, False])
def test_a_module_without_time_beside_a_recurrent_layer(is_first):
    """One network takes steps and sequences, and the module, which fails with a time rank, sees ``[B, ...]``."""
    module = nn.Sequential(nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 3), nn.Flatten())
    layers = [ModuleComponent(module, scope="body"), LSTM(4, scope="lstm")]
    steps = FloatBox(shape=(4,), add_batch_rank=True)
    executor = GraphExecutor(
        NeuralNetwork(layers if is_first else layers[::-1], scope="network"),
        {"call_with_states.inputs": steps, "call.inputs": steps.with_extra_ranks(True, True, time_major=True)}
        | {"internal_states": Dict(lstm=LSTM(4).internal_states_space)},
        backend="torch",
        api_methods=["call", "call_with_states"],
    )
    x = np.random.default_rng(0).normal(size=(5, 6, 4)).astype(np.float32)
    states = {"lstm": (np.zeros((6, 4), np.float32),) * 2}
    found = executor.execute("call", x, states)
    for t in range(5):
        step = executor.execute("call_with_states", x[t], states)
        states = step["internal_states"]
        np.testing.assert_allclose(found[t], step["output"], atol=1e-6)
