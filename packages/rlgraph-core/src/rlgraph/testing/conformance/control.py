"""Section ``control``: control flow over data in graph functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import NEEDS, derivatives
from rlgraph.testing.conformance.probes import probe

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
OPEN = {"x": FloatBox(shape=(2,), add_batch_rank=True)}


@check("control", operations=("cond",))
def cond(subject: Subject) -> None:
    """The branch that the value chooses, and no other."""

    def run(self: Any, ops: Any, x: Any) -> Any:
        return ops.cond(ops.sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)

    executor = subject.executor(probe(run), OPEN)
    assert_same(executor.execute("run", X), X * 2, path="where the condition holds")
    assert_same(executor.execute("run", -X), -X - 1, path="where it does not hold")


@check("control", operations=("while_loop",))
def while_loop(subject: Subject) -> None:
    """As often as the values ask for, and not more often than the limit allows."""

    def run(self: Any, ops: Any, x: Any) -> Any:
        def below(carry: Any) -> Any:
            return ops.sum(carry) < 100.0

        return ops.while_loop(below, lambda carry: carry * 2.0, x), ops.while_loop(
            below, lambda carry: carry * 2.0, x, max_iterations=2
        )

    executor = subject.executor(probe(run), OPEN)
    assert_same(executor.execute("run", X), (X * 8, X * 4))
    assert_same(executor.execute("run", X * 100), (X * 100, X * 100))


@check("control", operations=("scan",))
def scan(subject: Subject) -> None:
    """Along an open axis, from either end."""

    def run(self: Any, ops: Any, x: Any) -> Any:
        def body(carry: Any, row: Any) -> Any:
            carry = 0.5 * carry + row
            return carry, carry * 10.0

        start = ops.zeros((2,))
        return ops.scan(body, start, x), ops.scan(body, start, x, reverse=True)

    given = subject.executor(probe(run), OPEN).execute("run", X)
    forward = np.array([[1.0, 2.0], [3.5, 5.0], [6.75, 8.5]], np.float32)
    backward = np.array([[3.75, 5.5], [5.5, 7.0], [5.0, 6.0]], np.float32)
    assert_same(given, ((forward[-1], forward * 10), (backward[0], backward * 10)), 1e-6)


@check("control", operations=("cond", "while_loop", "scan", "map"))
def structures(subject: Subject) -> None:
    """Dicts and tuples keep their parts, in whatever order they are written; slices along a later axis."""

    def run(self: Any, ops: Any, x: Any, y: Any) -> Any:
        start = {"b": x, "a": y, "c": (x[0], ops.sum(x))}

        def step(carry: Any) -> Any:
            row, total = carry["c"]
            return {"a": carry["a"] + 1.0, "b": carry["b"] * 2.0, "c": (row + 1.0, total + 1.0)}

        def body(carry: Any, item: Any) -> Any:
            return {"n": carry["n"] + 1.0, "m": carry["m"] * item["x"][0]}, (
                item["y"],
                item["x"] + carry["n"],
            )

        init, items = {"m": ops.ones(()), "n": ops.zeros(())}, {"y": y, "x": x}
        return {
            "cond": ops.cond(ops.sum(x) > 0.0, lambda: start, lambda: step(start)),
            "cond not": ops.cond(ops.sum(x) < 0.0, lambda: start, lambda: step(start)),
            "while_loop": ops.while_loop(lambda carry: carry["c"][1] < 100.0, step, start, 2),
            "scan": ops.scan(body, init, items, axis=1),
            "scan in reverse": ops.scan(body, init, items, reverse=True, axis=1),
            "map": ops.map(
                lambda item: {"t": item["x"] * item["x"][0], "s": item["y"] - item["x"]}, items, axis=1
            ),
        }

    x, y = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]])
    spaces = {"x": FloatBox(shape=(2, 3)), "y": FloatBox(shape=(2, 3))}
    given = subject.executor(probe(run), spaces, dtype="float64").execute("run", x, y)

    def steps(count: int) -> Any:
        return {"b": x * 2.0**count, "a": y + count, "c": (x[0] + count, np.asarray(21.0 + count))}

    last = {"m": np.asarray(6.0), "n": np.asarray(3.0)}
    expected = {
        "cond": steps(0),
        "cond not": steps(1),
        "while_loop": steps(2),
        "scan": (last, (y, x + np.arange(3.0))),
        "scan in reverse": (last, (y, x + np.arange(3.0)[::-1])),
        "map": {"t": x * x[0], "s": y - x},
    }
    for name, value in expected.items():
        assert_same(given[name], value, 1e-12, f"ops.{name}")


@check("control", operations=("scan",))
def scan_of_nothing(subject: Subject) -> None:
    """Over no steps: empty results of the sizes that steps would have, and the first carried value. Over one: one."""

    def run(self: Any, ops: Any, x: Any, start: Any) -> Any:
        def body(carry: Any, row: Any) -> Any:
            return carry + row, (ops.concat([carry, carry], axis=1), ops.sum(carry))

        return ops.scan(body, start, x)

    steps_of_rows = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {"x": steps_of_rows, "start": OPEN["x"]}
    executor = subject.executor(probe(run), spaces)
    for steps in (0, 1, 2):
        last, (rows, sums) = executor.execute("run", np.ones((steps, 3, 2), np.float32), X)
        assert_same(last, X + steps, 1e-6)
        assert (rows.shape, sums.shape) == ((steps, 3, 4), (steps,)), (
            f"{steps} steps: {rows.shape}, {sums.shape}"
        )


@check("control", operations=("map",))
def map_(subject: Subject) -> None:
    """Every row on its own, in order; also of one row and of none."""

    def run(self: Any, ops: Any, x: Any) -> Any:
        return ops.map(lambda row: row * ops.sum(row), x)

    executor = subject.executor(probe(run), OPEN)
    for rows in (3, 1, 0):
        x = X[:rows]
        assert_same(executor.execute("run", x), x * x.sum(1, keepdims=True), 1e-6, f"of {rows} rows")


@check("control", capabilities=NEEDS, operations=("cond", "scan"))
def derivatives_through_control_flow(subject: Subject) -> None:
    """The derivatives of w_0 w_1 w_2 by a scan, and of the chosen branch."""
    w = np.array([2.0, 3.0, 5.0])

    def product(ops: Any, weights: Sequence[Any], _: Any) -> Any:
        start = ops.ones(())
        result, _ys = ops.scan(lambda carry, x: (carry * x, ()), start, weights[0] * 1.0)
        return result

    assert_same(derivatives(subject, product, [w]), np.array([15.0, 10.0, 6.0]), 1e-12)

    def chosen(ops: Any, weights: Sequence[Any], _: Any) -> Any:
        x = weights[0] * 1.0
        return ops.cond(ops.sum(x) > 0.0, lambda: ops.sum(x * x), lambda: ops.sum(x))

    assert_same(derivatives(subject, chosen, [w]), 2 * w, 1e-12)


@check("control", capabilities=NEEDS, operations=("while_loop", "scan"))
def derivatives_of_loops(subject: Subject) -> None:
    """Of loops with a limit: with no iteration, with one, with some that end early; of a scan in reverse."""
    w = np.array([2.0, 3.0])

    def powers(limit: float, count: int) -> Any:
        def loss(ops: Any, weights: Sequence[Any], _: Any) -> Any:
            x = weights[0] * 1.0
            left = ops.while_loop(lambda carry: ops.sum(carry) < limit, lambda carry: carry * x, x, count)
            return ops.sum(left)

        return loss

    for limit, count, exponent in ((0.0, 3, 1), (6.0, 3, 2), (1e9, 0, 1), (1e9, 2, 3)):
        expected = exponent * w ** (exponent - 1)
        path = f"a loop of x until its sum is {limit:g}, at most {count} times"
        assert_same(derivatives(subject, powers(limit, count), [w]), expected, 1e-12, path)

    def reverse(ops: Any, weights: Sequence[Any], _: Any) -> Any:
        result, ys = ops.scan(lambda c, x: (c * x + x, c * 2.0), ops.ones(()), weights[0] * 1.0, reverse=True)
        return result + ops.sum(ys)

    # c1 = 2 w1, c0 = c1 w0 + w0; ys are 2 c1 and 2.
    expected = np.array([2 * w[1] + 1, 2 * w[0] + 4])
    assert_same(derivatives(subject, reverse, [w]), expected, 1e-12, "a scan in reverse")
