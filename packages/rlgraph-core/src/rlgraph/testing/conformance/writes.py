"""Section ``variables``: writes of every dtype, of rows at any indices and of one variable into another; operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.probes import probe

#: Integers that no float holds exactly.
LARGE = np.array([2**53 + 1, -(2**62) - 1, 2**24 + 1])
BYTES = IntBox(256, shape=(3,), dtype="uint8")
DTYPES: dict[str, tuple[Any, Any]] = {
    "floats": (FloatBox(shape=(3,)), 1.0),
    "flags": (BoolBox(shape=(3,)), True),
    "counts": (IntBox(shape=(3,)), 7),
    "bytes": (BYTES, 3),
}


def _read_all(self: Any, ops: Any) -> Any:
    return {name: ops.read(getattr(self, name)) for name in DTYPES}


@check("variables")
def writes_of_every_dtype(subject: Subject) -> None:
    """Integers and bools are written as they are, without a detour through floats; a Python number fills a variable."""

    def write(self: Any, ops: Any, floats: Any, flags: Any, counts: Any, bytes_: Any) -> Any:
        for name, value in zip(DTYPES, (floats, flags, counts, bytes_), strict=True):
            ops.assign(getattr(self, name), value)
        return _read_all(self, ops)

    def add(self: Any, ops: Any, counts: Any) -> Any:
        ops.assign_add(self.floats, 0.5)
        ops.assign_add(self.counts, counts)
        ops.assign_add(self.bytes, 1)
        return _read_all(self, ops)

    def fill(self: Any, ops: Any) -> Any:
        for name, number in zip(DTYPES, (0.25, False, 2**40 + 1, 255), strict=True):
            ops.assign(getattr(self, name), number)
        return _read_all(self, ops)

    spaces = {name: space for name, (space, _) in DTYPES.items()}
    spaces["bytes_"] = spaces.pop("bytes")
    executor = subject.executor(probe(write, add, fill, variables=DTYPES), spaces)
    floats, flags = np.array([0.1, -2.0, 3e8], np.float32), np.array([False, True, False])
    bytes_ = np.array([254, 128, 0], np.uint8)
    expected = {"floats": floats, "flags": flags, "counts": LARGE, "bytes": bytes_}
    given = executor.execute("write", floats.copy(), flags.copy(), LARGE.copy(), bytes_.copy())
    assert_same(given, expected, path="after ops.assign of tensors")
    expected |= {"floats": floats + np.float32(0.5), "counts": LARGE + 1, "bytes": bytes_ + np.uint8(1)}
    given = executor.execute("add", np.ones(3, np.int64))
    assert_same(given, expected, path="after ops.assign_add")
    expected = {
        name: np.full(3, number, expected[name].dtype)
        for name, number in zip(DTYPES, (0.25, False, 2**40 + 1, 255), strict=True)
    }
    assert_same(executor.execute("fill"), expected, path="after ops.assign of numbers")
    weights = {f"probe/{name}": value for name, value in expected.items()}
    assert_same(executor.get_weights(), dict(sorted(weights.items())), path="get_weights()")


@check("variables")
def one_variable_from_another(subject: Subject) -> None:
    """What is assigned is the value of now: later writes to one of both variables do not change the other."""

    def copy(self: Any, ops: Any) -> Any:
        ops.assign(self.target, self.source)
        ops.assign_add(self.target, 1.0)
        first = ops.stack([self.source, self.target])
        ops.assign(self.source, self.target)
        ops.assign_add(self.source, self.source)
        return first, ops.stack([self.source, self.target])

    def add(self: Any, ops: Any, x: Any) -> Any:
        ops.assign_add(self.target, x)
        return ops.stack([self.source, self.target])

    vector = FloatBox(shape=(2,))
    variables = {"source": (vector, [1.0, 2.0]), "target": (vector, 0.0)}
    executor = subject.executor(probe(copy, add, variables=variables), {"x": vector})
    expected = ([[1.0, 2.0], [2.0, 3.0]], [[4.0, 6.0], [2.0, 3.0]])
    assert_same(executor.execute("copy"), tuple(np.array(rows, np.float32) for rows in expected))
    given = executor.execute("add", np.array([10.0, 10.0], np.float32))
    assert_same(given, np.array([[4.0, 6.0], [12.0, 13.0]], np.float32), path="in the next call")


@check("variables", operations=("scatter_update", "scatter_add"))
def rows_at_any_indices(subject: Subject) -> None:
    """Indices with two axes, one, or none; no index at all."""

    def write(self: Any, ops: Any, indices: Any, values: Any, one: Any, row: Any) -> Any:
        ops.scatter_update(self.table, indices, values)
        before = self.table * 1.0
        ops.scatter_add(self.table, indices, values)
        ops.scatter_add(self.sums, indices, values)
        ops.scatter_update(self.table, one, row)
        return before, self.table * 1.0, self.sums * 1.0

    rows, zeros = (4, 3), (FloatBox(shape=(4, 3)), 0.0)
    spaces = {
        "indices": IntBox(4, shape=(2,), add_batch_rank=True),
        "values": FloatBox(shape=(2, 3), add_batch_rank=True),
        "one": IntBox(4),
        "row": FloatBox(shape=(3,)),
    }
    executor = subject.executor(probe(write, variables={"table": zeros, "sums": zeros}), spaces)
    values = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    table, sums, row = np.zeros(rows, np.float32), np.zeros(rows, np.float32), np.full(3, 9.0, np.float32)
    table[[3, 0, 1, 2]] = values.reshape(4, 3)
    after = 2 * table
    after[2] = 9.0
    sums[[3, 0, 1, 2]] = values.reshape(4, 3)
    given = executor.execute("write", np.array([[3, 0], [1, 2]]), values, 2, row)
    assert_same(given, (table, after, sums), path="at indices with two axes")
    given = executor.execute("write", np.zeros((0, 2), np.int64), values[:0], 0, row)
    table, after = after, after.copy()
    after[0] = 9.0
    assert_same(given, (table, after, sums), path="at no index")
    sums[1] += values.reshape(4, 3).sum(0)
    given = executor.execute(
        "write", np.ones((2, 2), np.int64), np.broadcast_to(values, values.shape), 0, row
    )
    assert_same(given[2], sums, path="the sum of rows at an index that comes four times")


@check("variables")
def arrays_of_any_layout(subject: Subject) -> None:
    """Arguments and weights may be parts of arrays, reversed, transposed, in Fortran's order or broadcast."""

    def write(self: Any, ops: Any, x: Any) -> Any:
        ops.assign(self.kept, x)
        return x * 2.0, ops.sum(x, 0)

    numbers = np.arange(24, dtype=np.float32).reshape(4, 6)
    layouts = {
        "a part": numbers[:3, 1:5],
        "every second": np.arange(48, dtype=np.float32).reshape(6, 8)[::2, ::2],
        "reversed": numbers[:3, :4][::-1, ::-1],
        "transposed": numbers[:, :3].T,
        "in Fortran's order": np.asfortranarray(numbers[:3, :4]),
        "broadcast": np.broadcast_to(numbers[0, :4], (3, 4)),
    }
    space = FloatBox(shape=(3, 4))
    executor = subject.executor(probe(write, variables={"kept": (space, 0.0)}), {"x": space})
    for name, x in layouts.items():
        plain = np.array(x.tolist(), np.float32)
        given = executor.execute("write", x)
        assert_same(given, (plain * 2, plain.sum(0)), 1e-6, f"of an array that is {name}")
        assert_same(
            executor.get_weights(), {"probe/kept": plain}, path=f"written from an array that is {name}"
        )
        executor.set_weights({"probe/kept": np.zeros_like(plain)})
        executor.set_weights({"probe/kept": x})
        assert_same(
            executor.get_weights(), {"probe/kept": plain}, path=f"set_weights of an array that is {name}"
        )


@check("variables")
def executors_are_independent(subject: Subject) -> None:
    """Executors of equal graphs have variables, and settings, of their own."""

    def add(self: Any, ops: Any, x: Any) -> Any:
        ops.assign_add(self.total, x)
        return x * 2.0

    variables, spaces = {"total": (FloatBox(), 1.0)}, {"x": FloatBox()}
    executors = [
        subject.executor(probe(add, variables=variables), spaces, dtype=dtype)
        for dtype in ("float32", "float32", "float64")
    ]
    for step in (1.0, 2.0, 3.0):
        for number, (executor, x) in enumerate(zip(executors, (10.0, 1.0, 0.1), strict=True)):
            dtype = np.float64 if number == 2 else np.float32
            path = f"executor {number} in step {step:g}"
            assert_same(executor.execute("add", x), np.asarray(2.0 * x, dtype), 1e-6, path)
            weights = {"probe/total": np.asarray(1.0 + step * x, dtype)}
            assert_same(executor.get_weights(), weights, 1e-12 if number == 2 else 1e-6, path)


#: Functions of ``w [3]``, ``m [3, 4]`` (floats), ``n [3]`` (int64) and ``f [3]`` (bool).
OPERANDS: dict[str, Callable[..., Any]] = {
    "2.0 - w": lambda ops, w, m, n, f: 2.0 - w,
    "2.0 / w": lambda ops, w, m, n, f: 2.0 / w,
    "2.0 ** w": lambda ops, w, m, n, f: 2.0**w,
    "w ** 2.0": lambda ops, w, m, n, f: w**2.0,
    "7.0 // w": lambda ops, w, m, n, f: 7.0 // w,
    "w % 0.75": lambda ops, w, m, n, f: w % 0.75,
    "7 - n": lambda ops, w, m, n, f: 7 - n,
    "n // 2": lambda ops, w, m, n, f: n // 2,
    "-7 // n": lambda ops, w, m, n, f: -7 // n,
    "-7 % n": lambda ops, w, m, n, f: -7 % n,
    "-n": lambda ops, w, m, n, f: -n,
    "w < 1.5": lambda ops, w, m, n, f: w < 1.5,
    "w >= w[0]": lambda ops, w, m, n, f: w >= w[0],
    "n == 2": lambda ops, w, m, n, f: n == 2,
    "n != n": lambda ops, w, m, n, f: n != n,
    "~f": lambda ops, w, m, n, f: ~f,
    "f & (w > 1.5)": lambda ops, w, m, n, f: f & (w > 1.5),
    "(w > 1.5) | f": lambda ops, w, m, n, f: (w > 1.5) | f,
    "f ^ f": lambda ops, w, m, n, f: f ^ f,
    "m * w[:, None]": lambda ops, w, m, n, f: m * w[:, None],
    "ops.permute_dims(m, (1, 0)) @ m": lambda ops, w, m, n, f: ops.permute_dims(m, (1, 0)) @ m,
    "w[-1]": lambda ops, w, m, n, f: w[-1],
    "w[..., None]": lambda ops, w, m, n, f: w[..., None],
    "m[-1, 0]": lambda ops, w, m, n, f: m[-1, 0],
    "m[:, -2]": lambda ops, w, m, n, f: m[:, -2],
    "m[1:, ::2]": lambda ops, w, m, n, f: m[1:, ::2],
    "m[:-1, None, -2:]": lambda ops, w, m, n, f: m[:-1, None, -2:],
    "m[..., 1]": lambda ops, w, m, n, f: m[..., 1],
    "n[1]": lambda ops, w, m, n, f: n[1] * 1,
    "f[:2]": lambda ops, w, m, n, f: f[:2],
    "ops.astype(n, w.dtype)": lambda ops, w, m, n, f: ops.astype(n, w.dtype),
    "ops.where(f, w, n)": lambda ops, w, m, n, f: ops.where(f, w, ops.astype(n, "float")),
    "ops.concat([w, m[0]])": lambda ops, w, m, n, f: ops.concat([w, m[0]]),
    "ops.zeros(m.shape)": lambda ops, w, m, n, f: ops.zeros(m.shape),
}


@check("variables")
def operands(subject: Subject) -> None:
    """Operators on either side, indexing and attributes of variables, and of what a method is given."""
    arrays = {
        "w": np.array([0.5, 2.0, -1.5], np.float32),
        "m": np.arange(12, dtype=np.float32).reshape(3, 4) - 5.5,
        "n": np.array([2, -3, 5]),
        "f": np.array([True, False, True]),
    }
    spaces = {
        "w": FloatBox(shape=(3,)),
        "m": FloatBox(shape=(3, 4)),
        "n": IntBox(shape=(3,)),
        "f": BoolBox(shape=(3,)),
    }

    def of_variables(self: Any, ops: Any) -> Any:
        return [function(ops, self.w, self.m, self.n, self.f) for function in OPERANDS.values()]

    def of_arguments(self: Any, ops: Any, w: Any, m: Any, n: Any, f: Any) -> Any:
        return [function(ops, w, m, n, f) for function in OPERANDS.values()]

    variables = {name: (space, arrays[name].tolist()) for name, space in spaces.items()}
    executor = subject.executor(probe(of_variables, of_arguments, variables=variables), spaces)
    ops = NumpyOps("float32")
    for origin, given in (
        ("variables", executor.execute("of_variables")),
        ("arguments", executor.execute("of_arguments", *(array.copy() for array in arrays.values()))),
    ):
        for (name, function), result in zip(OPERANDS.items(), given, strict=True):
            assert_same(result, function(ops, *arrays.values()), 1e-6, f"{name} of {origin}")
