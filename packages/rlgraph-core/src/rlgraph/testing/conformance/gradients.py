"""Section ``gradients``: derivatives against central differences of the reference, in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rlgraph.components import Adam, NeuralNetwork, Optimizer
from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import TensorSpec
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.calls import closed, filled, specs_of
from rlgraph.testing.conformance.checks import Subject, check, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.operations import Entry, calls_of, entries, shown
from rlgraph.testing.conformance.probes import flat_gradients
from rlgraph.testing.operations import Call, concrete, smooth

NEEDS = ("gradients",)
SIZES = {"B": 3, "T": 3}
#: Half the distance of a difference quotient, and what it may be wrong by.
STEP, TOLERANCE = 1e-5, 1e-8


def difference_quotient(
    function: Callable[[], float], values: np.ndarray, elements: Iterable[int] | None = None
) -> np.ndarray:
    """The derivative of ``function()`` by the elements of `values` [...], which it reads, or by some of them; [n]."""
    flat, result = values.reshape(-1), []
    for index in range(flat.size) if elements is None else elements:
        value = flat[index]
        flat[index] = value + STEP
        above = function()
        flat[index] = value - STEP
        result.append((above - function()) / (2 * STEP))
        flat[index] = value
    return np.array(result)


class SmoothCall:
    """One call with arrays, floats in float64, and a random direction that makes a number of its result."""

    def __init__(self, entry: Entry, call: Call, rng: np.random.Generator):
        self.entry = entry
        self.call = closed(smooth(call, entry.cases.domain), SIZES)
        self.specs = list(specs_of(self.call.args))
        self.arrays = [np.asarray(concrete(spec, SIZES, rng)) for spec in self.specs]
        self.results = _floats(self.apply(NumpyOps("float64"), self.arrays))
        self.directions = [rng.standard_normal(np.shape(result)) for result in self.results]

    def apply(self, ops: Any, tensors: Sequence[Any]) -> Any:
        return self.entry.run(ops, *filled(self.call.args, iter(tensors)), **self.call.kwargs)

    @property
    def is_usable(self) -> bool:
        floats = [spec for spec in self.specs if spec.is_float]
        dtypes = {np.asarray(result).dtype for result in self.results}
        return bool(floats) and dtypes == {np.dtype("float64")}

    def loss(self, ops: Any, tensors: Sequence[Any], directions: Sequence[Any]) -> Any:
        """The result in the given direction, a number."""
        results = _floats(self.apply(ops, tensors))
        terms = [ops.sum(result * one) for result, one in zip(results, directions, strict=True)]
        return sum(terms[1:], start=terms[0])

    def expected(self) -> np.ndarray:
        ops = NumpyOps("float64")
        parts = [
            difference_quotient(lambda: float(self.loss(ops, self.arrays, self.directions)), array)
            for array in self.arrays
            if array.dtype == np.float64
        ]
        return np.concatenate(parts)


def _floats(result: Any) -> list[Any]:
    """The float parts of what an operation returns."""
    parts = result if isinstance(result, tuple | list) else [result]
    return [part for part in parts if "float" in str(part.dtype)]


def agrees(subject: Subject, entry: Entry) -> None:
    """The derivatives of an operation, at inputs where it has some."""
    rng = np.random.default_rng(0)
    table = [SmoothCall(entry, call, rng) for call in calls_of(entry.key)]
    drawn = len(table) - len(entry.cases.always)
    table = [call for call in table[:drawn] if call.is_usable][:5] + [
        call for call in table[drawn:] if call.is_usable
    ]
    assert table, f"no case of {entry.key} makes floats of floats: its cases are to be differentiable=False"
    weights = [array for call in table for array in call.arrays if array.dtype == np.float64]
    others = [array for call in table for array in call.arrays if array.dtype != np.float64]
    others += [direction for call in table for direction in call.directions]

    def loss(ops: Any, variables: Sequence[Any], tensors: Sequence[Any]) -> Any:
        left, integers = iter(variables), iter(tensors)
        directions = iter(tensors[len(others) - sum(len(call.directions) for call in table) :])
        total: Any = 0.0
        for call in table:
            operands = [next(left if spec.is_float else integers) for spec in call.specs]
            total = total + call.loss(ops, operands, [next(directions) for _ in call.directions])
        return total

    given = derivatives(subject, loss, weights, others)
    start = 0
    for call in table:
        expected = call.expected()
        assert_same(
            given[start : start + expected.size],
            expected,
            TOLERANCE,
            f"derivative of {shown(entry.key, call.call)}",
        )
        start += expected.size


def derivatives(
    subject: Subject,
    loss: Callable[..., Any],
    weights: Sequence[np.ndarray],
    inputs: Sequence[np.ndarray] = (),
    dtype: str = "float64",
) -> np.ndarray:
    """The backend's derivatives of ``loss(ops, weights, inputs)`` by all weights, flat."""
    names = [f"x{number}" for number in range(len(inputs))]
    root = flat_gradients(
        loss, [FloatBox(shape=w.shape) for w in weights], [w.copy() for w in weights], names
    )
    spaces = {
        name: TensorSpec(array.shape, str(array.dtype)).to_space()
        for name, array in zip(names, inputs, strict=True)
    }
    result: np.ndarray = subject.executor(root, spaces, dtype=dtype).execute("derivatives", *inputs)
    return result


for _table in entries("float64"):
    _entries = {name: entry for name, entry in _table.items() if entry.cases.differentiable}
    check_each("gradients", _entries, capabilities=lambda _: NEEDS)(agrees)


@check("gradients", capabilities=NEEDS)
def precision(subject: Subject) -> None:
    """Derivatives are computed in the dtype of the execution, and have it."""
    x, y = np.array([1 / 3, -2 / 7, 1e-9]), np.array([[1 / 7], [1 / 9], [1.0]])

    def loss(ops: Any, w: Sequence[Any], tensors: Sequence[Any]) -> Any:
        return ops.sum(ops.exp(w[0])) + ops.sum(ops.matmul(ops.reshape(w[0], (1, 3)), tensors[0]))

    expected = np.exp(x) + y[:, 0]
    for dtype, tolerance in (("float64", 1e-14), ("float32", 1e-6)):
        given = derivatives(subject, loss, [x], [y.astype(dtype)], dtype)
        assert_same(given, expected.astype(dtype), tolerance, f"derivatives in an execution in {dtype}")


@check("gradients", capabilities=NEEDS)
def stop_gradient(subject: Subject) -> None:
    """Nothing flows through `ops.stop_gradient`: the derivative of ``x * stop_gradient(x)`` is x."""
    x = np.array([1.0, -2.0, 3.0])
    given = derivatives(subject, lambda ops, w, _: ops.sum(w[0] * ops.stop_gradient(w[0])), [x])
    assert_same(given, x, 1e-12)


@check("gradients", capabilities=NEEDS)
def variables_without_influence(subject: Subject) -> None:
    """Their derivatives are zeros."""
    given = derivatives(
        subject, lambda ops, w, _: ops.sum(w[1] * 3.0), [np.ones(2), np.ones(2), np.ones((2, 1))]
    )
    assert_same(given, np.array([0.0, 0.0, 3.0, 3.0, 0.0, 0.0]), 1e-12)


@check("gradients", capabilities=NEEDS)
def integers_and_choices_in_between(subject: Subject) -> None:
    """Values that carry no derivative may stand in the way."""
    x = np.array([[1.0, 5.0, 2.0], [4.0, 3.0, 0.0]])

    def loss(ops: Any, w: Sequence[Any], _: Any) -> Any:
        best = ops.expand_dims(ops.argmax(w[0], 1), 1)
        largest = ops.take_along_axis(w[0], best, 1)
        return ops.sum(ops.where(largest > 4.5, ops.square(largest), largest * 0.0))

    assert_same(derivatives(subject, loss, [x]), np.array([0.0, 10.0, 0.0, 0.0, 0.0, 0.0]), 1e-12)


class TwoLosses(Component):
    """A variable and two losses that share most of their way."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.w: Any = self.get_variable("w", FloatBox(shape=(2,)), initializer=[1.0, 2.0])

    @rlgraph_api
    def derive(self) -> Any:
        shared = self._shared()
        losses = (self._sum(shared), self._square(shared))
        return tuple(self._flat(gradients(loss, self.variables())) for loss in losses)

    @rlgraph_api
    @graph_fn
    def read(self, ops: Any) -> Any:
        return self.w * 1.0

    @graph_fn
    def _shared(self, ops: Any) -> Any:
        return self.w * self.w

    @graph_fn
    def _sum(self, ops: Any, x: Any) -> Any:
        return ops.sum(x)

    @graph_fn
    def _square(self, ops: Any, x: Any) -> Any:
        return ops.sum(x * x)

    @graph_fn
    def _flat(self, ops: Any, derivatives: Any) -> Any:
        return ops.concat(list(derivatives))


@check("gradients", capabilities=NEEDS)
def two_losses(subject: Subject) -> None:
    """Two gradients in one method, through the same nodes: of w^2 and of w^4."""
    given = subject.executor(TwoLosses(), dtype="float64").execute("derive")
    assert_same(given, (np.array([2.0, 4.0]), np.array([4.0, 32.0])), 1e-12)


class Two(Component):
    """Two components, ``a`` and ``b``, of one variable each, and derivatives by both lists as one."""

    def __init__(self) -> None:
        self.a, self.b = TwoLosses(scope="a"), TwoLosses(scope="b")
        super().__init__(self.a, self.b, scope="two")

    @rlgraph_api
    def derive(self, x: Any) -> Any:
        loss = self._loss(self.a.read(), self.b.read(), x)
        return self._flat(gradients(loss, self.b.variables() + self.a.variables() + self.b.variables()))

    @graph_fn
    def _loss(self, ops: Any, a: Any, b: Any, x: Any) -> Any:
        return ops.sum(a * a) + ops.sum(b * x)

    @graph_fn
    def _flat(self, ops: Any, derivatives: Any) -> Any:
        return ops.concat(list(derivatives))


@check("gradients", capabilities=NEEDS)
def joined_lists(subject: Subject) -> None:
    """``b.variables() + a.variables()`` is one list, by name, each variable once: of a^2 + b x."""
    executor = subject.executor(Two(), {"x": FloatBox(shape=(2,))}, dtype="float64")
    given = executor.execute("derive", np.array([7.0, 8.0]))
    assert_same(given, np.array([2.0, 4.0, 7.0, 8.0]), 1e-12)


class Regression(Component):
    """A network that learns targets by their mean squared error."""

    def __init__(self, optimizer: Optimizer, layers: Sequence[Any], scope: str = "regression"):
        self.network, self.optimizer = NeuralNetwork(layers), optimizer
        super().__init__(self.network, optimizer, scope=scope)

    @rlgraph_api
    def get_loss(self, inputs: Any, targets: Any) -> Any:
        return self._loss(self.network.call(inputs), targets)

    @rlgraph_api
    def update(self, inputs: Any, targets: Any, progress: Any = None) -> Any:
        loss = self.get_loss(inputs, targets)
        self.optimizer.step(self.network.variables(), loss, progress)
        return loss

    @graph_fn
    def _loss(self, ops: Any, outputs: Any, targets: Any) -> Any:
        return ops.mean(ops.square(outputs - targets))


LAYERS = [{"type": "dense", "units": 3, "activation": "tanh"}, {"type": "dense", "units": 2}]
REGRESSION_SPACES = {
    "inputs": FloatBox(shape=(3,), add_batch_rank=True),
    "targets": FloatBox(shape=(2,), add_batch_rank=True),
}


@check("gradients", capabilities=NEEDS)
def network_with_adam(subject: Subject) -> None:
    """Three updates of a small network equal Adam (Kingma and Ba, 2015, Algorithm 1) on difference quotients."""
    rng = np.random.default_rng(0)
    inputs, targets = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    executor = subject.executor(Regression(Adam(0.1), LAYERS), REGRESSION_SPACES, dtype="float64")
    reference = subject.reference(Regression(Adam(0.1), LAYERS), REGRESSION_SPACES, dtype="float64")
    weights = reference.get_weights(trainable_only=True)
    first = {name: np.zeros(value.size) for name, value in weights.items()}
    second = {name: np.zeros(value.size) for name, value in weights.items()}

    def loss() -> float:
        reference.set_weights(weights)
        return float(reference.execute("get_loss", inputs, targets))

    for step in (1, 2, 3):
        assert_same(executor.execute("update", inputs, targets), np.asarray(loss()), 1e-6, f"loss {step}")
        found = {name: difference_quotient(loss, value) for name, value in weights.items()}
        for name, value in weights.items():
            first[name] = 0.9 * first[name] + 0.1 * found[name]
            second[name] = 0.999 * second[name] + 0.001 * found[name] ** 2
            mean, spread = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
            value -= (0.1 * mean / (np.sqrt(spread) + 1e-8)).reshape(value.shape)
        assert_same(executor.get_weights(trainable_only=True), weights, 1e-5, f"weights after step {step}")
