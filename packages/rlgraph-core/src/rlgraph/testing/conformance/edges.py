"""Section ``edges``: ties, NaN, large numbers, empty batches, and arguments that must not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import TensorSpec, leaves_of
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.calls import arrays_of, calls_component, closed, in_dtype
from rlgraph.testing.conformance.checks import Subject, check, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.operations import OPERATION_ENTRIES, calls_of, shown
from rlgraph.testing.conformance.probes import probe
from rlgraph.testing.operations import SIZES, Call, concrete

NAN, INF, LN2 = float("nan"), float("inf"), float(np.log(2.0))

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
    "ops.relu of a NaN": (lambda ops, x: ops.relu(x), [[NAN, -1.0]], [NAN, 0.0]),
    "ops.clip of a NaN": (lambda ops, x: ops.clip(x, -1.0, 1.0), [[NAN, INF, -INF]], [NAN, 1.0, -1.0]),
    "ops.isnan": (lambda ops, x: ops.isnan(x), [[NAN, INF, -INF, 0.0]], [True, False, False, False]),
    "ops.isinf": (lambda ops, x: ops.isinf(x), [[NAN, INF, -INF, 0.0]], [False, True, True, False]),
    "ops.isfinite": (lambda ops, x: ops.isfinite(x), [[NAN, INF, -INF, 0.0]], [False, False, False, True]),
    "ops.sign of zeros": (lambda ops, x: ops.sign(x), [[-2.0, -0.0, 0.0, 2.0]], [-1.0, 0.0, 0.0, 1.0]),
    "ops.max of minus infinity": (lambda ops, x: ops.max(x, 0), [[-INF, -INF]], -INF),
    "ops.min of infinity": (lambda ops, x: ops.min(x, 0), [[INF, INF]], INF),
    "ops.log of zero": (lambda ops, x: ops.log(x), [[0.0, -1.0]], [-INF, NAN]),
    "ops.log_softmax of minus infinity": (lambda ops, x: ops.log_softmax(x), [[0.0, -INF]], [0.0, -INF]),
    "ops.softmax of minus infinity": (lambda ops, x: ops.softmax(x), [[0.0, -INF]], [1.0, 0.0]),
    "ops.logsumexp of minus infinity": (
        lambda ops, x: ops.logsumexp(x, axis=-1),
        [[[-INF, -INF], [0.0, -INF]]],
        [-INF, 0.0],
    ),
    "ops.logaddexp of minus infinity": (
        lambda ops, x, y: ops.logaddexp(x, y),
        [[-INF, -INF, 0.0], [-INF, 0.0, -INF]],
        [-INF, 0.0, 0.0],
    ),
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
    "// of negative floats": (
        lambda ops, x, y: x // y,
        [[-3.0, 3.0, 3.0, -3.0], [2.0, 2.0, -2.0, -2.0]],
        [-2.0, 1.0, -2.0, 1.0],
    ),
    "% of negative floats": (
        lambda ops, x, y: x % y,
        [[-3.0, 3.0, 3.0, -3.0], [2.0, 2.0, -2.0, -2.0]],
        [1.0, 1.0, -1.0, -1.0],
    ),
    "/ by zero": (lambda ops, x: x / 0.0, [[1.0, -1.0, 0.0]], [INF, -INF, NAN]),
    "** of negatives": (
        lambda ops, x, y: x**y,
        [[-2.0, -2.0, 0.0, 0.0, -0.5], [2.0, 3.0, 0.0, 2.0, 0.5]],
        [4.0, -8.0, 1.0, 0.0, NAN],
    ),
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
    with np.errstate(all="ignore"):
        (given,) = executor.execute("results", *arrays)
    assert_same(given, _typed(expected), 1e-6, f"{name}, given {', '.join(map(str, arguments))}")


def _identifier(name: str) -> str:
    words = name.removeprefix("ops.")
    for sign, word in (("//", "floor_division"), ("**", "power"), ("/", "division"), ("%", "remainder")):
        words = words.replace(sign, word)
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
    "ops.linear": lambda ops, x, w, steps: ops.linear(x, w, w[0]),
    "ops.layer_norm": lambda ops, x, w, steps: ops.layer_norm(x, w[0], w[1]),
    "ops.einsum": lambda ops, x, w, steps: ops.einsum("tbi,ij->tbj", steps, w),
    "ops.conv2d": lambda ops, x, w, steps: ops.conv2d(x[:, None, :, None], w[:1, :2, None, None]),
    "ops.conv2d_transpose": lambda ops, x, w, steps: ops.conv2d_transpose(
        x[:, None, :, None], w[:1, :2, None, None]
    ),
    "ops.max_pool2d": lambda ops, x, w, steps: ops.max_pool2d(x[:, None, :, None], (1, 2)),
    "ops.avg_pool2d": lambda ops, x, w, steps: ops.avg_pool2d(x[:, None, :, None], (1, 2)),
    "ops.max along the columns": lambda ops, x, w, steps: ops.max(x, 1),
    "ops.logsumexp along the columns": lambda ops, x, w, steps: ops.logsumexp(x, 1),
    "ops.prod over the rows": lambda ops, x, w, steps: ops.prod(x, 0),
    "ops.all": lambda ops, x, w, steps: ops.all(x < 0.0),
    "ops.any": lambda ops, x, w, steps: ops.any(x > 0.0),
    "ops.count_nonzero": lambda ops, x, w, steps: ops.count_nonzero(x),
    "ops.top_k": lambda ops, x, w, steps: ops.top_k(x, 2),
    "ops.argsort": lambda ops, x, w, steps: ops.argsort(x, 0),
    "ops.take_along_axis": lambda ops, x, w, steps: ops.take_along_axis(x, ops.argsort(x, 1), 1),
    "ops.boolean_mask": lambda ops, x, w, steps: ops.boolean_mask(x, x[:, 0] > 0.0),
    "ops.repeat": lambda ops, x, w, steps: ops.repeat(x, 2, 0),
    "ops.tile": lambda ops, x, w, steps: ops.tile(x, (2, 1)),
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


#: Integers whose sums no float64 holds exactly, and bytes.
LARGE, BYTES = np.array([2**53 + 1, 2**53, -(2**24) - 2]), np.array([200, 100, 1], np.uint8)
#: Functions of `LARGE` and `BYTES`, and what they are.
INTEGERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "n + 1": (lambda ops, n, b: n + 1, [2**53 + 2, 2**53 + 1, -(2**24) - 1]),
    "n * 3": (lambda ops, n, b: n * 3, [3 * 2**53 + 3, 3 * 2**53, -3 * 2**24 - 6]),
    "n // 1": (lambda ops, n, b: n // 1, LARGE.tolist()),
    "n % 2": (lambda ops, n, b: n % 2, [1, 0, 0]),
    "n == n[1]": (lambda ops, n, b: n == n[1], [False, True, False]),
    "n > n[1]": (lambda ops, n, b: n > n[1], [True, False, False]),
    "ops.sum(n)": (lambda ops, n, b: ops.sum(n), 2**54 - 2**24 - 1),
    "ops.max(n)": (lambda ops, n, b: ops.max(n), 2**53 + 1),
    "ops.argmax(n)": (lambda ops, n, b: ops.argmax(n, 0), 0),
    "ops.cumulative_sum(n)": (
        lambda ops, n, b: ops.cumulative_sum(n, 0),
        [2**53 + 1, 2**54 + 1, 2**54 - 2**24 - 1],
    ),
    "ops.sort(n)": (lambda ops, n, b: ops.sort(n), [-(2**24) - 2, 2**53, 2**53 + 1]),
    "ops.where(n > 0, n, 0)": (lambda ops, n, b: ops.where(n > 0, n, 0), [2**53 + 1, 2**53, 0]),
    "ops.abs(n)": (lambda ops, n, b: ops.abs(n), [2**53 + 1, 2**53, 2**24 + 2]),
    "ops.astype(b, 'float32')": (lambda ops, n, b: ops.astype(b, "float32"), [200.0, 100.0, 1.0]),
    "ops.astype(b, 'int64')": (lambda ops, n, b: ops.astype(b, "int64"), [200, 100, 1]),
    "b > 127": (lambda ops, n, b: b > 127, [True, False, False]),
    "ops.max(b)": (lambda ops, n, b: ops.max(b), np.uint8(200)),
    "b // 3": (lambda ops, n, b: b // 3, np.array([66, 33, 0], np.uint8)),
    "b + 100": (lambda ops, n, b: b + 100, np.array([44, 200, 101], np.uint8)),
}


@check("edges")
def integers_are_exact(subject: Subject) -> None:
    """No integer takes a detour through floats or fewer bits; bytes have no sign, and wrap around."""

    def run(self: Any, ops: Any, n: Any, b: Any) -> Any:
        return {name: function(ops, n, b) for name, (function, _) in INTEGERS.items()}

    spaces = {"n": IntBox(shape=(3,)), "b": IntBox(256, shape=(3,), dtype="uint8")}
    given = subject.executor(probe(run), spaces).execute("run", LARGE.copy(), BYTES.copy())
    for name, (_, expected) in INTEGERS.items():
        assert_same(given[name], _typed(expected), path=f"{name}, given n = {LARGE}, b = {BYTES}")


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
