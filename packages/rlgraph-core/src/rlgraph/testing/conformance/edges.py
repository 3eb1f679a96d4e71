"""Section ``edges``: ties, NaN, large numbers, empty batches, and arguments that must not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import TensorSpec, leaves_of
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.calls import arrays_of, calls_component, closed, in_dtype
from rlgraph.testing.conformance.checks import Subject, check, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.operations import OPERATION_ENTRIES, calls_of, shown
from rlgraph.testing.conformance.probes import probe
from rlgraph.testing.operations import SIZES, Call, concrete

NAN, LN2 = float("nan"), float(np.log(2.0))

#: What is computed -> (function, arguments, expected result), in float32 and int64.
EDGES: dict[str, tuple[Callable[..., Any], Sequence[Any], Any]] = {
    "ops.round of halves": (lambda ops, x: ops.round(x), [[0.5, 1.5, 2.5, -1.5]], [0.0, 2.0, 2.0, -2.0]),
    "ops.trunc of negatives": (lambda ops, x: ops.trunc(x), [[-1.5, 1.5]], [-1.0, 1.0]),
    "ops.argmax of equal elements": (
        lambda ops, x: ops.argmax(x, -1),
        [[[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]]],
        [1, 0],
    ),
    "ops.argmin of equal elements": (
        lambda ops, x: ops.argmin(x, -1),
        [[[3.0, 1.0, 1.0], [2.0, 2.0, 3.0]]],
        [1, 0],
    ),
    "ops.max of a NaN": (lambda ops, x: ops.max(x), [[1.0, NAN, 2.0]], NAN),
    "ops.min of a NaN": (lambda ops, x: ops.min(x), [[1.0, NAN, 2.0]], NAN),
    "ops.maximum of a NaN": (lambda ops, x: ops.maximum(x, 0.0), [[NAN, -1.0]], [NAN, 0.0]),
    "ops.minimum of a NaN": (lambda ops, x: ops.minimum(x, 0.0), [[NAN, 1.0]], [NAN, 0.0]),
    "ops.where beside a NaN": (lambda ops, x: ops.where(x > 0.0, x, 0.0), [[NAN, 1.0]], [0.0, 1.0]),
    "ops.log_softmax of large numbers": (
        lambda ops, x: ops.log_softmax(x),
        [[1e4, 0.0, -1e4]],
        [0.0, -1e4, -2e4],
    ),
    "ops.softmax of large numbers": (lambda ops, x: ops.softmax(x), [[1e4, 0.0]], [1.0, 0.0]),
    "ops.logsumexp of large numbers": (
        lambda ops, x: ops.logsumexp(x, axis=-1),
        [[[1e4, 1e4], [-1e4, -1e4]]],
        [1e4 + LN2, -1e4 + LN2],
    ),
    "ops.logaddexp of large numbers": (
        lambda ops, x: ops.logaddexp(x, x),
        [[1e4, -1e4]],
        [1e4 + LN2, -1e4 + LN2],
    ),
    "ops.softplus of large numbers": (lambda ops, x: ops.softplus(x), [[1e4, -1e4]], [1e4, 0.0]),
    "ops.log_sigmoid of large numbers": (lambda ops, x: ops.log_sigmoid(x), [[1e4, -1e4]], [0.0, -1e4]),
    "ops.sigmoid of large numbers": (lambda ops, x: ops.sigmoid(x), [[1e4, -1e4]], [1.0, 0.0]),
    "ops.elu of large numbers": (lambda ops, x: ops.elu(x), [[1e4, -1e4]], [1e4, -1.0]),
    "ops.log1p of small numbers": (lambda ops, x: ops.log1p(x), [[1e-10, -1e-10]], [1e-10, -1e-10]),
    "ops.expm1 of small numbers": (lambda ops, x: ops.expm1(x), [[1e-10, -1e-10]], [1e-10, -1e-10]),
    "ops.cumulative_prod with a zero": (
        lambda ops, x: ops.cumulative_prod(x, 0),
        [[2.0, 0.0, 3.0]],
        [2.0, 0.0, 0.0],
    ),
    "ops.std of equal numbers": (lambda ops, x: ops.std(x), [[3.0, 3.0]], 0.0),
    "ops.searchsorted left": (lambda ops, x, y: ops.searchsorted(x, y), [[1, 2, 2, 3], [0, 2, 4]], [0, 1, 4]),
    "ops.searchsorted right": (
        lambda ops, x, y: ops.searchsorted(x, y, side="right"),
        [[1, 2, 2, 3], [0, 2, 3]],
        [0, 3, 4],
    ),
    "ops.segment_sum of nothing": (
        lambda ops, x, ids: ops.segment_sum(x, ids, num_segments=3),
        [[1.0, 2.0, 4.0], [2, 0, 2]],
        [2.0, 0.0, 5.0],
    ),
    "ops.boolean_mask of nothing": (lambda ops, x: ops.boolean_mask(x, x > 2.0), [[1.0, 2.0]], np.zeros(0)),
    "ops.clip at its bounds": (
        lambda ops, x: ops.clip(x, -1.0, 1.0),
        [[-2.0, -1.0, 0.5, 3.0]],
        [-1, -1, 0.5, 1],
    ),
    "// of negative integers": (lambda ops, x, y: x // y, [[-7, 7, 7], [2, -2, 2]], [-4, -4, 3]),
    "% of negative integers": (lambda ops, x, y: x % y, [[-7, 7, 7], [3, -3, 3]], [2, -2, 1]),
    "// of negative floats": (lambda ops, x: x // 2.0, [[-3.0, 3.0]], [-2.0, 1.0]),
    "% of negative floats": (lambda ops, x: x % 2.0, [[-3.0, 3.0]], [1.0, 1.0]),
}


def _typed(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def _apply(ops: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(ops, *args, **kwargs)


def _spec(array: np.ndarray) -> TensorSpec:
    return TensorSpec(array.shape, str(array.dtype))


def _edge(subject: Subject, name: str) -> None:
    """One entry of `EDGES`."""
    function, arguments, expected = EDGES[name]
    arrays = [_typed(argument) for argument in arguments]
    executor = subject.executor(*calls_component(_apply, [Call([function, *map(_spec, arrays)])]))
    (given,) = executor.execute("results", *arrays)
    assert_same(given, _typed(expected), 1e-6, f"{name}, given {', '.join(map(str, arguments))}")


def _identifier(name: str) -> str:
    words = name.removeprefix("ops.").replace("//", "floor_division").replace("%", "remainder")
    return words.replace(":", "").replace(" ", "_")


check_each("edges", {_identifier(name): name for name in EDGES})(_edge)


#: Functions of ``x [B, 3]``, ``w [3, 3]`` and ``steps [T, B, 3]`` that are defined for no rows and no steps.
EMPTY: dict[str, Callable[..., Any]] = {
    "ops.matmul": lambda ops, x, w, steps: ops.matmul(x, w),
    "ops.sum over the rows": lambda ops, x, w, steps: ops.sum(x, 0),
    "ops.sum": lambda ops, x, w, steps: ops.sum(x),
    "ops.softmax": lambda ops, x, w, steps: ops.softmax(x),
    "ops.argmax along the columns": lambda ops, x, w, steps: ops.argmax(x, 1),
    "ops.concat": lambda ops, x, w, steps: ops.concat([x, w]),
    "ops.stack": lambda ops, x, w, steps: ops.stack([x, x], 1),
    "ops.where": lambda ops, x, w, steps: ops.where(x > 0.0, x, 1.0),
    "ops.take": lambda ops, x, w, steps: ops.take(w, ops.argmax(x, 1)),
    "ops.one_hot": lambda ops, x, w, steps: ops.one_hot(ops.argmax(x, 1), 3),
    "ops.sort": lambda ops, x, w, steps: ops.sort(x, 0),
    "ops.flatten": lambda ops, x, w, steps: ops.flatten(x, 0),
    "ops.cumulative_sum": lambda ops, x, w, steps: ops.cumulative_sum(x, 0),
    "ops.segment_sum": lambda ops, x, w, steps: ops.segment_sum(x, ops.argmax(x, 1), num_segments=2),
    "ops.linear_recurrence": lambda ops, x, w, steps: ops.linear_recurrence(steps, 0.5, x),
}


@check("edges")
def empty_batches(subject: Subject) -> None:
    """No rows and no steps: shapes, dtypes and sums as on the reference."""

    def run(self: Any, ops: Any, x: Any, w: Any, steps: Any) -> Any:
        return {name: function(ops, x, w, steps) for name, function in EMPTY.items()}

    rows = FloatBox(shape=(3,), add_batch_rank=True)
    timed = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {"x": rows, "w": FloatBox(shape=(3, 3)), "steps": timed}
    executor, w = subject.executor(probe(run), spaces), np.eye(3, dtype=np.float32)
    for steps, count in ((0, 0), (2, 0), (0, 2)):
        x, sequences = np.ones((count, 3), np.float32), np.ones((steps, count, 3), np.float32)
        expected = {name: function(NumpyOps("float32"), x, w, sequences) for name, function in EMPTY.items()}
        assert_same(executor.execute("run", x, w, sequences), expected, 1e-6, f"{count} rows, {steps} steps")


@check("edges")
def arguments_are_left_alone(subject: Subject) -> None:
    """No operation writes into a tensor that it is given."""
    entries = [entry for entry in OPERATION_ENTRIES.values() if entry.dtype == "float32"]
    calls = []
    for entry in entries:
        call = closed(in_dtype(calls_of(entry.key)[0], "float32"), SIZES[0])
        calls.append(Call([entry.run, *call.args], call.kwargs))

    def then_look(ops: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        function(ops, *args, **kwargs)
        return tuple(ops.where(x == x, x, x) for x in leaves_of(args) if hasattr(x, "dtype"))

    rng = np.random.default_rng(0)
    numbers = [concrete(call, SIZES[0], rng) for call in calls]
    executor = subject.executor(*calls_component(then_look, calls))
    inputs = [arrays_of(n.args) for n in numbers]
    with np.errstate(all="ignore"):
        given = executor.execute("results", *(array.copy() for arrays in inputs for array in arrays))
    for entry, call, after, before in zip(entries, calls, given, inputs, strict=True):
        name = shown(entry.key, Call(call.args[1:], call.kwargs))
        assert_same(after, tuple(before), path=f"the arguments of {name}, after the call")
