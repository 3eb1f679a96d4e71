"""Section ``gradients``: variables that are written on the way, ties, empty batches, calls in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np

from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import NEEDS, derivatives
from rlgraph.testing.conformance.probes import flat_gradients

VECTOR = FloatBox(shape=(2,))


class Written(Component):
    """A variable that a loss uses, writes and uses again, in one graph function."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.w: Any = self.get_variable("w", VECTOR, initializer=[2.0, 3.0])

    @rlgraph_api
    def by_assign(self, x: Any) -> Any:
        return self._flat(gradients(self._assigned(x), self.variables()))

    @rlgraph_api
    def by_assign_add(self, x: Any) -> Any:
        return self._flat(gradients(self._added(x), self.variables()))

    @rlgraph_api
    def by_rows(self, x: Any, index: Any) -> Any:
        return self._flat(gradients(self._rows(x, index), self.variables()))

    @graph_fn
    def _assigned(self, ops: Any, x: Any) -> Any:
        y = self.w * self.w * x
        ops.assign(self.w, y)
        return ops.sum(y) + ops.sum(self.w * self.w)

    @graph_fn
    def _added(self, ops: Any, x: Any) -> Any:
        y = self.w * self.w * x
        ops.assign_add(self.w, y)
        return ops.sum(y) + ops.sum(self.w * self.w)

    @graph_fn
    def _rows(self, ops: Any, x: Any, index: Any) -> Any:
        y = self.w * self.w * x
        ops.scatter_update(self.w, index, y[:1])
        ops.scatter_add(self.w, index, y[1:])
        return ops.sum(y) + ops.sum(self.w * self.w)

    @graph_fn
    def _flat(self, ops: Any, derivatives: Any) -> Any:
        return ops.concat(list(derivatives))


@check("gradients", capabilities=NEEDS)
def written_variables(subject: Subject) -> None:
    """What is written is data: no derivative goes through a write, and each use counts with its value of the time."""
    x, start = np.array([5.0, 7.0]), np.array([2.0, 3.0])
    y = start * start * x
    rows = np.array([2.0, y[0] + y[1]])
    after = {"by_assign": y, "by_assign_add": start + y, "by_rows": rows}
    spaces = {"x": VECTOR, "index": IntBox(2, shape=(1,))}
    executor = subject.executor(Written(scope="written"), spaces, dtype="float64")
    for method, value in after.items():
        executor.set_weights({"written/w": start})
        arguments = (x, np.array([1])) if method == "by_rows" else (x,)
        # Of y it is 2 w x, with the value before the write; of the sum of squares 2 w, with that after it.
        expected = 2 * start * x + 2 * value
        assert_same(executor.execute(method, *arguments), expected, 1e-12, f"the derivative of {method}")
        assert_same(executor.get_weights(), {"written/w": value}, 1e-12, f"get_weights() after {method}")


#: Losses of ``a = [3, 3, 1]``, ``b = [3, 2, 1]`` and ``z [1, 2, 2, 1]``, all zeros -> bounds of what the derivatives by
#: the elements of a, b and z are, and of their sum.
TIES: dict[str, tuple[Callable[..., Any], tuple[float, float], float | None]] = {
    "ops.max": (lambda ops, a, b, z: ops.max(a), (0.0, 1.0), 1.0),
    "ops.max along an axis": (lambda ops, a, b, z: ops.sum(ops.max(z, (1, 2))), (0.0, 1.0), 1.0),
    "ops.min": (lambda ops, a, b, z: ops.min(-a), (-1.0, 0.0), -1.0),
    "ops.maximum": (lambda ops, a, b, z: ops.sum(ops.maximum(a, b)), (0.0, 1.0), 3.0),
    "ops.minimum": (lambda ops, a, b, z: ops.sum(ops.minimum(a, b)), (0.0, 1.0), 3.0),
    "ops.sort": (lambda ops, a, b, z: ops.sum(ops.sort(a)), (0.0, 1.0), 3.0),
    "ops.top_k": (lambda ops, a, b, z: ops.sum(ops.top_k(a, 1)[0]), (0.0, 1.0), 1.0),
    "ops.max_pool2d": (lambda ops, a, b, z: ops.sum(ops.max_pool2d(z, 2)), (0.0, 1.0), 1.0),
    "ops.relu": (lambda ops, a, b, z: ops.sum(ops.relu(z)), (0.0, 1.0), None),
    "ops.abs": (lambda ops, a, b, z: ops.sum(ops.abs(z)), (-1.0, 1.0), None),
    "ops.clip": (lambda ops, a, b, z: ops.sum(ops.clip(b, 1.0, 3.0)), (0.0, 1.0), None),
    "ops.softmax": (lambda ops, a, b, z: ops.softmax(a)[0] + ops.softmax(a)[1], (-1.0, 1.0), 0.0),
    "** 2.0": (lambda ops, a, b, z: ops.sum(z**2.0), (0.0, 0.0), 0.0),
    "ops.square": (lambda ops, a, b, z: ops.sum(ops.square(z)), (0.0, 0.0), 0.0),
}


@check("gradients", capabilities=NEEDS)
def ties(subject: Subject) -> None:
    """Where several derivatives are right, one is given: equal elements share what one of them would get alone."""
    weights = [np.array([3.0, 3.0, 1.0]), np.array([3.0, 2.0, 1.0]), np.zeros((1, 2, 2, 1))]
    functions = [function for function, _, _ in TIES.values()]
    copies = [weight.copy() for _ in functions for weight in weights]

    def loss(ops: Any, w: Sequence[Any], _: Any) -> Any:
        terms = [
            function(ops, *(part * 1.0 for part in w[3 * number : 3 * number + 3]))
            for number, function in enumerate(functions)
        ]
        return sum(terms[1:], start=terms[0])

    found = derivatives(subject, loss, copies).reshape(len(functions), -1)
    for (name, (_, (low, high), total)), given in zip(TIES.items(), found, strict=True):
        inside = (given >= low - 1e-12).all() and (given <= high + 1e-12).all()
        assert inside, (
            f"derivatives of {name} where elements are equal: expected {low} to {high}, given {given}"
        )
        assert total is None or abs(given.sum() - total) < 1e-12, (
            f"derivatives of {name} where elements are equal: their sum is {given.sum()}, expected {total}: {given}"
        )


@check("gradients", capabilities=NEEDS)
def masked_logits(subject: Subject) -> None:
    """Minus infinity excludes an element: its derivative is 0, those of the others are those without it."""
    w = np.array([1.0, 2.0, 0.5])

    def loss(ops: Any, weights: Sequence[Any], tensors: Sequence[Any]) -> Any:
        logits = ops.where(tensors[0], weights[0], -np.inf)
        chosen = ops.log_softmax(logits)[1]
        return chosen + ops.logsumexp(logits) + ops.softmax(logits)[0]

    p = np.exp(w[:2]) / np.exp(w[:2]).sum()
    expected = np.array([0.0, 1.0]) - p + p + p[0] * (np.array([1.0, 0.0]) - p)
    given = derivatives(subject, loss, [w], [np.array([True, True, False])])
    assert_same(given, np.append(expected, 0.0), 1e-12)


@check("gradients", capabilities=NEEDS)
def empty_batch(subject: Subject) -> None:
    """Of no rows the derivatives are zeros; so are those of a loss that no variable reaches."""

    def loss(ops: Any, w: Sequence[Any], tensors: Sequence[Any]) -> Any:
        (x,) = tensors
        y = ops.linear(x, w[0], w[1])
        y = ops.layer_norm(y, w[1], w[1]) + ops.log_softmax(y) + ops.cumulative_sum(y, 0)
        return ops.sum(ops.max(y, 1)) + ops.sum(ops.take(y, ops.argmax(y, 1), 1))

    def unreached(ops: Any, w: Sequence[Any], tensors: Sequence[Any]) -> Any:
        return ops.sum(ops.stop_gradient(w[0])) + ops.sum(tensors[0])

    rows = {"x": FloatBox(shape=(2,), add_batch_rank=True)}
    starts = [[[1.0, 2.0], [3.0, 4.0]], [0.5, 0.5]]
    for name, function, size in (("no rows", loss, 0), ("a loss of constants", unreached, 3)):
        root = flat_gradients(function, [FloatBox(shape=(2, 2)), VECTOR], list(starts), ["x"])
        executor = subject.executor(root, rows, dtype="float64")
        assert_same(executor.execute("derivatives", np.ones((size, 2))), np.zeros(6), path=name)


class Turns:
    """Lets two calls overlap: both are in the middle of a graph function before the first one goes on and ends."""

    def __init__(self) -> None:
        self.number: count[int] | None = None
        self.second, self.first_ended = threading.Event(), threading.Event()

    def wait(self) -> None:
        """Wait for the other call, if these are the two."""
        if self.number is None:
            return
        call = next(self.number)
        if call == 0:
            self.second.wait(0.5)  # a backend that runs one call at a time cannot let the other one in
        elif call == 1:
            self.second.set()
            self.first_ended.wait(0.5)


@check("gradients", capabilities=NEEDS)
def in_threads(subject: Subject) -> None:
    """A derivative is right though another call begins or ends in the meantime."""
    turns = Turns()

    def loss(ops: Any, w: Sequence[Any], tensors: Sequence[Any]) -> Any:
        y = w[0] * tensors[0]
        turns.wait()
        return ops.sum(y * w[0])

    start = np.array([2.0, 3.0])
    root = flat_gradients(loss, [VECTOR], [start.copy()], ["x"])
    executor = subject.executor(root, {"x": VECTOR}, dtype="float64")
    inputs = [np.array([5.0, 7.0]) * number for number in range(20)]
    for method in ("derivatives", "loss"):
        executor.execute(method, inputs[0])
    turns.number = count()
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(executor.execute, "derivatives", x) for x in inputs[:2]]
        for call in calls:
            call.add_done_callback(lambda _: turns.first_ended.set())
        found = [call.result() for call in calls]
    assert_same(found, [2 * start * x for x in inputs[:2]], 1e-12, "two derivatives at a time")
    methods = ("derivatives", "loss") * 10
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(executor.execute, methods, inputs))
    expected = [
        2 * start * x if method == "derivatives" else np.sum(start * start * x)
        for method, x in zip(methods, inputs, strict=True)
    ]
    assert_same(found, expected, 1e-12, "derivatives and losses in four threads")
