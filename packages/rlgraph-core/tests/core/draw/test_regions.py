"""Values that go through loops and branches are drawn from the call that made them to the call that takes them."""

from rlgraph.core import Component, assemble, branch, build, graph_fn, loop, rlgraph_api
from rlgraph.core.draw import draw
from rlgraph.spaces import FloatBox, IntBox


class Part(Component):
    @rlgraph_api
    def one(self, x):
        return self._one(x)

    @rlgraph_api
    def flag(self, x):
        return self._flag(x)

    @graph_fn
    def _one(self, ops, x):
        return x + 1.0

    @graph_fn
    def _flag(self, ops, x):
        return x > 0.0


def wires(wiring):
    """The wires of a root ``run(self, n, x)`` made of ``wiring(a, b, c, n, x)``."""
    parts = [Part(scope=scope) for scope in "abc"]

    class Root(Component):
        @rlgraph_api
        def run(self, n, x):
            return wiring(*parts, n, x)

    built = build(assemble(Root(*parts, scope="root")), {"n": IntBox(), "x": FloatBox()})
    lines = draw(built).text().splitlines()
    return sorted(line.strip().partition(":")[0] for line in lines if " -> " in line)


def test_into_round_and_out_of_a_loop():
    def wiring(a, b, c, n, x):
        return c.one(loop(n, lambda i, v: b.one(v), a.one(x)))

    assert wires(wiring) == [
        "a.one -> b.one",
        "a.one -> c.one",  # where the loop does not run
        "b.one -> c.one",
        "c.one -> output run",
        "input run -> a.one",
    ]


def test_captured_and_collected_values():
    def wiring(a, b, c, n, x):
        outside = a.one(x)

        def body(i, v):
            return c.one(v), {"y": b.one(outside)}

        return loop(2, body, x, collect=True)[1]["y"]

    assert wires(wiring) == [
        "a.one -> b.one",
        "b.one -> output run",
        "input run -> a.one",
        "input run -> c.one",
    ]


def test_both_sides_of_a_branch_in_a_loop():
    def wiring(a, b, c, n, x):
        return loop(2, lambda i, v: branch(c.flag(v), lambda: a.one(v), lambda: b.one(v)), x)

    assert wires(wiring) == [
        "a.one -> b.one",
        "a.one -> c.flag",
        "a.one -> output run",
        "b.one -> a.one",
        "b.one -> c.flag",
        "b.one -> output run",
        "input run -> a.one",
        "input run -> b.one",
        "input run -> c.flag",
        "input run -> output run",
    ]
