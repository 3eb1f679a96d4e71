"""Section ``loops``: `loop` and `branch`, wired around graph functions, variables and host functions, in float64."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rlgraph.components import Adam
from rlgraph.core import Component, branch, loop, rlgraph_api
from rlgraph.core.graph.emission import EMPTY
from rlgraph.spaces import Dict, FloatBox, Tuple
from rlgraph.testing.conformance.cell import INTEGER, NUMBER, Wired, derived, floats, integers, wired
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import NEEDS
from rlgraph.testing.conformance.probes import probe
from rlgraph.testing.conformance.randomness import draw


@check("loops")
def counts(subject: Subject) -> None:
    """As often as a number, an input or a computed value says; not at all below 1. Iterations count from 0."""

    def fixed(self: Any, x: Any) -> Any:
        return loop(4, lambda i, v: self.cell.add(self.cell.add(v, v), i), x)

    def given(self: Any, n: Any, x: Any) -> Any:
        return loop(n, lambda i, v: self.cell.add(v, v), x)

    def computed(self: Any, n: Any) -> Any:
        return loop(self.cell.add(n, 1), lambda i, v: loop(i, lambda j, w: self.cell.add(w, 1), v), 0)

    executor = wired(subject, fixed, given, computed, **{"fixed.x": INTEGER, "given.x": NUMBER, "n": INTEGER})
    assert_same(executor.execute("fixed", 1), np.asarray(((((1 * 2) * 2 + 1) * 2 + 2) * 2) + 3))
    for n, factor in ((1, 2.0), (4, 16.0), (0, 1.0), (-2, 1.0)):
        assert_same(executor.execute("given", n, 3.0), floats(3.0 * factor), path=f"with count {n}")
    assert_same(executor.execute("computed", 4), np.asarray(0 + 1 + 2 + 3 + 4))


@check("loops")
def carried(subject: Subject) -> None:
    """Carried values change all at once; numbers keep their kind, containers their structure."""

    def swapped(self: Any) -> Any:
        return loop(3, lambda i, a, b, c: (b, a, self.cell.add(c, a)), 2, 5, 0)

    def containers(self: Any, state: Any) -> Any:
        def body(i: Any, state: Any, pair: Any) -> Any:
            number = pair[1]
            inner = (self.cell.add(state["b"][0], state["a"]), state["b"][1])
            left = {"a": self.cell.add(state["a"], 1.0), "b": inner}
            return left, (self.cell.above(number, 1.0), self.cell.add(number, 0.5))

        return loop(3, body, state, (False, 0.5))

    executor = wired(subject, swapped, containers, state=Dict(a=NUMBER, b=Tuple(NUMBER, INTEGER)))
    assert_same(executor.execute("swapped"), integers(5, 2, 9))
    given = executor.execute("containers", {"a": 1.0, "b": (0.0, 7)})
    state = {"a": floats(4.0), "b": (floats(6.0), np.asarray(7))}
    assert_same(given, (state, (np.asarray(True), floats(2.0))))


@check("loops")
def collected(subject: Subject) -> None:
    """What an iteration collects it collects before the carried values change; stacked along a new first axis."""

    def run(self: Any, n: Any, x: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            rows = loop(2, lambda j: (None, self.cell.add(v, x)), collect=True)[1]
            return self.cell.add(v, v), {"old": v, "rest": (i, 0.5, rows)}

        return loop(n, body, x, collect=True)

    executor = wired(subject, run, n=INTEGER, x=FloatBox(shape=(1,), add_batch_rank=True))
    for n in (3, 1):
        left, found = executor.execute("run", n, floats([[1.0], [3.0]]))
        old = [[[1.0 * 2**k], [3.0 * 2**k]] for k in range(n)]
        rows = [[np.add(row, [[1.0], [3.0]])] * 2 for row in old]
        assert_same(left, floats([[1.0 * 2**n], [3.0 * 2**n]]), path="carried")
        rest = (np.arange(n), floats([0.5] * n), floats(rows))
        assert_same(found, {"old": floats(old), "rest": rest}, path="collected")


@check("loops")
def empty_collection(subject: Subject) -> None:
    """A collecting loop whose count is below 1 is refused, and says why; later calls are as if nothing was asked."""

    def run(self: Any, n: Any) -> Any:
        return loop(n, lambda i: (None, self.cell.add(i, i)), collect=True)[1]

    executor = wired(subject, run, n=INTEGER)
    for n in (1, 0, 3):
        try:
            given = executor.execute("run", n)
        except Exception as error:
            if n:
                raise
            assert EMPTY in str(error), f"the error says {error}"
        else:
            assert n, "a collecting loop ran without iterations"
            assert_same(given, 2 * np.arange(n), path=f"{n} iterations")


@check("loops")
def until(subject: Subject) -> None:
    """The loop ends with the first iteration whose new values say so."""

    def run(self: Any, n: Any, limit: Any) -> Any:
        return loop(n, lambda i, v: self.cell.add(v, v), 1.0, until=lambda v: self.cell.above(v, limit))

    executor = wired(subject, run, n=INTEGER, limit=NUMBER)
    for n, limit, expected in ((6, 5.0, 8.0), (6, 1e9, 64.0), (6, 0.0, 2.0), (0, 0.0, 1.0)):
        assert_same(executor.execute("run", n, limit), floats(expected), path=f"with limit {limit}")


@check("loops")
def written_for_the_next_iteration(subject: Subject) -> None:
    """Every iteration sees what the one before it has written; what follows the loop sees the last write."""

    def run(self: Any, n: Any, x: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            self.cell.write(self.cell.add(self.cell.weigh(2.0), v))
            return self.cell.add(v, x)

        return loop(n, body, x), self.cell.see()

    executor = wired(subject, run, n=INTEGER, x=NUMBER)
    # w <- 2 w + v: 1, 3, 8, 19
    assert_same(executor.execute("run", 3, 1.0), floats(4.0, 19.0))
    assert_same(executor.execute("run", 0, 1.0), floats(1.0, 19.0))
    assert_same(executor.get_weights(), {"cell/w": floats(19.0)}, path="get_weights()")


@check("loops")
def read_in_every_iteration(subject: Subject) -> None:
    """A variable that a loop writes is read in each iteration, although the read does not depend on it."""

    def run(self: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            total = self.cell.add(total, self.cell.see())
            self.cell.write(total)
            return total

        return loop(4, body, 0.0)

    # total <- total + w, w <- total: 1, 2, 4, 8
    executor = wired(subject, run)
    for expected in (8.0, 64.0):
        assert_same(executor.execute("run"), floats(expected))


@check("loops")
def views_are_kept(subject: Subject) -> None:
    """A value that shares memory with a variable is carried, captured and handed out as it was, whatever is written."""

    def previous(self: Any, x: Any) -> Any:
        def body(i: Any, last: Any, before: Any) -> Any:
            now = self.cell.view()
            self.cell.write(self.cell.add(self.cell.weigh(1.0), x))
            return now, last

        return loop(3, body, self.cell.view(), self.cell.view())

    def captured(self: Any, x: Any) -> Any:
        before = self.cell.view()

        def body(i: Any, v: Any) -> Any:
            self.cell.write(v)
            return self.cell.add(v, x)

        return loop(2, body, x), self.cell.add(before, 0.0)

    executor = wired(subject, previous, captured, x=NUMBER)
    first = executor.execute("previous", 0.5)
    expected = floats([2.0], [1.5])
    assert_same(first, expected, path="carried")
    assert_same(executor.execute("captured", 7.0), floats(21.0, [2.5]), path="captured")
    assert_same(first, expected, path="carried, after another call has written")


@check("loops")
def one_side_of_a_branch(subject: Subject) -> None:
    """Only the chosen side runs: only its writes and its host calls happen."""

    def run(self: Any, flag: Any, x: Any) -> Any:
        def then() -> Any:
            self.cell.write(x)
            return self.cell.weigh(2.0), {"x": x}

        return branch(flag, then, lambda: (self.cell.see(), {"x": 0.0})), self.cell.see()

    def count(self: Any, flag: Any) -> Any:
        branch(flag, self.cell.count, lambda: 0)
        return branch(flag, lambda: 0, self.cell.count)

    executor = wired(subject, run, count, flag=bool, x=NUMBER)
    assert_same(executor.execute("run", False, 7.0), ((floats(1.0), {"x": floats(0.0)}), floats(1.0)))
    assert_same(executor.execute("run", True, 7.0), ((floats(14.0), {"x": floats(7.0)}), floats(7.0)))
    assert_same(executor.execute("run", False, 9.0), ((floats(7.0), {"x": floats(0.0)}), floats(7.0)))
    assert_same([executor.execute("count", flag) for flag in (True, False, False)], list(integers(0, 2, 3)))


@check("loops")
def host_functions(subject: Subject) -> None:
    """Called once per iteration, in their order among reads and writes; also where they stand before a loop."""

    def inside(self: Any, n: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            number = self.cell.count()
            self.cell.write(self.cell.weigh(2.0))
            return self.cell.add(v, number), (number, self.cell.weigh(1.0))

        return loop(n, body, 0, collect=True)

    def before(self: Any) -> Any:
        number = self.cell.count()
        return loop(number, lambda i, v: self.cell.add(v, number), 0)

    executor = wired(subject, inside, before, n=INTEGER)
    expected = (np.asarray(6), (np.array([1, 2, 3]), floats([2.0, 4.0, 8.0])))
    assert_same(executor.execute("inside", 3), expected)
    assert_same(executor.execute("before"), np.asarray(16))
    assert_same(executor.execute("inside", 1)[1], (np.array([5]), floats([16.0])))


@check("loops")
def fused(subject: Subject) -> None:
    """Several calls as one program do what they do one after the other."""

    def write(self: Any, n: Any, x: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            self.cell.write(self.cell.add(self.cell.weigh(1.0), v))
            return self.cell.weigh(1.0)

        return loop(n, body, x)

    def look(self: Any, flag: Any, x: Any) -> Any:
        return branch(flag, lambda: self.cell.weigh(x), lambda: x)

    executor = wired(subject, write, look, n=INTEGER, x=NUMBER, flag=bool)
    # w <- w + v, v <- w: 4, 8
    given = executor.execute(
        [("look", True, 3.0), ("write", 2, 3.0), ("look", True, 3.0), ("look", False, 3.0)]
    )
    assert_same(given, floats(3.0, 8.0, 24.0, 3.0))


@check("loops")
def threads(subject: Subject) -> None:
    """Calls in several threads at a time lose no write and see none half done."""

    def run(self: Any, n: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            self.cell.write(self.cell.add(self.cell.weigh(1.0), 1.0))
            return self.cell.weigh(1.0)

        return loop(n, body, 0.0)

    executor = wired(subject, run, n=INTEGER)
    executor.execute("run", 1)
    with ThreadPoolExecutor(4) as pool:
        seen = sorted(float(value) for value in pool.map(lambda _: executor.execute("run", 5), range(40)))
    assert_same(seen, [2.0 + 5.0 * k for k in range(1, 41)])


@check("loops", operations=("random_uniform",))
def draws(subject: Subject) -> None:
    """Every iteration draws new numbers."""
    source = probe(draw, scope="source")

    def run(self: Any) -> Any:
        return loop(3, lambda i: (None, source.draw()), collect=True)[1]  # type: ignore[attr-defined]

    root = type("Root", (Component,), {"run": rlgraph_api(run)})(source, scope="root")
    executor = subject.executor(root)
    values = np.concatenate([executor.execute("run").copy(), executor.execute("run")])
    assert len(np.unique(values)) == values.size == 24, f"some of these numbers are equal: {values}"


@check("loops", capabilities=NEEDS)
def steps(subject: Subject) -> None:
    """Adam (Kingma and Ba, 2015, Algorithm 1) in a loop; it steps w along the derivative of w^2."""
    adam = Adam(0.1)

    def run(self: Any, n: Any) -> Any:
        def body(i: Any) -> Any:
            loss = self.cell.weigh(self.cell.weigh(1.0))
            adam.step(self.cell.variables(), loss)
            return None, loss

        return loop(n, body, collect=True)[1]

    root = type("Root", (Wired,), {"run": rlgraph_api(run)})()
    root.add_components(adam)
    executor = subject.executor(root, {"n": INTEGER}, dtype="float64")
    w, first, second, losses = 1.0, 0.0, 0.0, []
    for step in range(1, 6):
        losses.append(w * w)
        first, second = 0.9 * first + 0.1 * 2 * w, 0.999 * second + 0.001 * (2 * w) ** 2
        w -= 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    given = np.concatenate([executor.execute("run", 2), executor.execute("run", 3)])
    assert_same(given, floats(losses), 1e-10, "losses")
    assert_same(executor.get_weights()["cell/w"], floats(w), 1e-10, "w")


@check("loops", capabilities=NEEDS)
def derivatives_through_loops(subject: Subject) -> None:
    """The derivatives of w^n x: by a loop, one that stops, its collected values, and one with a branch inside."""

    def power(self: Any, n: Any, x: Any) -> Any:
        return derived(self, loop(n, lambda i, v: self.cell.weigh(v), x))

    def stopped(self: Any, x: Any) -> Any:
        return derived(
            self, loop(9, lambda i, v: self.cell.weigh(v), x, until=lambda v: self.cell.above(v, 10.0))
        )

    def gathered(self: Any, x: Any) -> Any:
        values = loop(3, lambda i, v: (self.cell.weigh(v), self.cell.weigh(v)), x, collect=True)[1]
        return derived(self, self.cell.total(values))

    def chosen(self: Any, x: Any) -> Any:
        def body(i: Any, v: Any) -> Any:
            return branch(self.cell.above(i, 0), lambda: self.cell.weigh(v), lambda: self.cell.add(v, 1.0))

        return derived(self, loop(3, body, x))

    executor = wired(subject, power, stopped, gathered, chosen, n=INTEGER, x=NUMBER)
    executor.set_weights({"cell/w": np.asarray(3.0)})
    for n, expected in ((1, 2.0), (4, 2.0 * 4 * 27), (0, 0.0)):
        assert_same(executor.execute("power", n, 2.0), floats(expected), 1e-12, f"with count {n}")
    assert_same(
        executor.execute("stopped", 1.0), floats(27.0), 1e-12, "with until"
    )  # w^3 = 27 is the first above 10
    assert_same(
        executor.execute("gathered", 2.0), floats(2.0 * (1 + 2 * 3 + 3 * 9)), 1e-12, "of collected values"
    )
    assert_same(executor.execute("chosen", 2.0), floats(3.0 * 2 * 3), 1e-12, "with a branch")


@check("loops", capabilities=NEEDS)
def derivatives_of_what_enters(subject: Subject) -> None:
    """What a loop or branch takes from outside is data to a derivative by the same variable that is taken inside."""

    def run(self: Any, n: Any, x: Any) -> Any:
        outside = self.cell.weigh(x)

        def inside(i: Any, _: Any) -> Any:
            return derived(self, self.cell.weigh(self.cell.weigh(outside)))

        chosen = branch(self.cell.above(x, 0.0), lambda: inside(0, x), lambda: 0.0)
        return loop(n, inside, 0.0), chosen, derived(self, self.cell.weigh(outside))

    executor = wired(subject, run, n=INTEGER, x=NUMBER)
    executor.set_weights({"cell/w": np.asarray(3.0)})
    # w^2 (w x) inside, w (w x) outside
    assert_same(executor.execute("run", 2, 2.0), floats(2 * 3 * 6.0, 2 * 3 * 6.0, 2 * 3 * 2.0), 1e-12)
