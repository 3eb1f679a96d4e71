"""Equal calls become one, and only those."""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, branch, gradients, loop, rlgraph_api
from rlgraph.core.graph import pipeline
from rlgraph.core.graph.nodes import Const, GraphFunctionCall, Input, Output, Ref
from rlgraph.core.graph.passes.merging import merge_equal_calls
from rlgraph.core.ops import Effects
from rlgraph.spaces import FloatBox

VECTOR = FloatBox(shape=(2,))


def test_a_shared_network_is_evaluated_once(plan):
    def wiring(p, q, x):
        value = q.pure(p.weigh(x))
        advantage = q.total(p.weigh(x))
        return value, advantage

    made = plan(wiring)
    assert plan.before(made) == ["p._weigh", "q._pure", "p._weigh", "q._total"]
    assert plan.after(made) == ["p._weigh", "q._pure", "q._total"]


def test_a_chain_of_equal_calls_is_merged_link_by_link(plan):
    made = plan(lambda p, q, x: (q.total(q.pure(p.weigh(x))), q.total(q.pure(p.weigh(x)))))
    assert plan.before(made) == ["p._weigh", "q._pure", "q._total"] * 2
    assert plan.after(made) == ["p._weigh", "q._pure", "q._total"]
    assert len(set(made.results.items[0][1:] + made.results.items[1][1:])) == 1


def test_results_and_all_outputs_are_renamed(plan):
    def wiring(p, q, x):
        one, two = p.two(x), p.two(x)
        return {"a": one[0], "b": (two[0], two[1])}, q.pure(two[1])

    made = plan(wiring)
    assert plan.after(made) == ["p._two", "q._pure"]
    first = made.nodes[0].id
    assert str(made.results).count(f"node={first}") == 3
    assert made.nodes[1].arguments == (("x", Ref(Output(first, 1))),)


def test_an_argument_that_comes_back_is_another_name_for_it(plan):
    def wiring(p, q, x):
        seen = p.pure(x)
        there, weighed = q.same(x, seen)
        again, _ = p.same(weighed, there)
        return q.total(again), weighed, loop(2, lambda i, v: p.same(v, q.pure(v))[0], again)

    made = plan(wiring)
    assert plan.after(made) == ["p._pure", "q._same", "q._total", ("Loop", ["q._pure"])]
    pure, same, total, _ = made.nodes
    assert same.arguments == (("x", Ref(Input("run", "x"))), ("y", Ref(Output(pure.id))))
    assert total.arguments == (("x", Ref(Output(pure.id))),)
    assert dict(made.results.items)[1] == Ref(Output(same.id, 1))


def test_an_argument_that_comes_back_of_two_equal_calls(plan):
    """The second call is merged into the first, which is but another name for its argument."""

    def wiring(p, q, x):
        return tuple(p.weigh(q.same(x, p.pure(x))[0]) for _ in range(2))

    assert plan.after(plan(wiring)) == ["p._pure", "p._weigh"]


def test_who_has_kernels_is_called(plan):
    """A kernel that watches what goes by does so."""
    assert plan.after(plan(lambda p, q, x: p.declared(x))) == ["p._declared"]


def test_another_component_function_or_argument(plan):
    def wiring(p, q, x, y):
        return p.pure(x), q.pure(x), p.total(x), p.pure(y), p.pure(p.scale(x, 2.0))

    made = plan(wiring, ("x", "y"))
    assert plan.after(made) == plan.before(made)


def test_constants(plan):
    """Numbers are compared by what they are: 0.0 and -0.0 are two."""

    def calls(*factors):
        return len(plan.after(plan(lambda p, q, x: tuple(p.scale(x, factor) for factor in factors))))

    assert calls(2.0, 2.0) == 1
    assert calls(2.0, 3.0) == 2
    assert calls(0.0, -0.0) == 2
    assert calls(float("1e300"), 1e300) == 1
    array = np.float64(2.0)
    assert calls(array, array) == 1


def test_constants_of_other_types_are_others():
    def node(id_, value):
        return GraphFunctionCall(id_, None, "c", "f", (("x", Const(value)),))

    def left(*values):
        nodes = [node(i, value) for i, value in enumerate(values)]
        return len(merge_equal_calls(nodes, Const(None), dict.fromkeys(range(len(nodes)), Effects()))[0])

    assert left(1, 1.0, True, "1", "True", None) == 6
    assert left(1, 1, "a", "a", None, None, False, False) == 4
    array = np.zeros(2)
    assert left(array, array) == 1
    assert left(array, np.zeros(2)) == 2


def test_containers(plan):
    def wiring(p, q, x, y):
        return (
            p.parts({"a": x, "b": y}),
            p.parts({"b": y, "a": x})["a"],
            p.parts({"a": y, "b": x}),
        )

    made = plan(wiring, ("x", "y"))
    assert plan.before(made) == ["p._parts"] * 3
    assert plan.after(made) == ["p._parts"] * 2


# Writes.


def test_a_read_before_and_one_behind_a_write(plan):
    def wiring(p, q, x):
        before = p.weigh(x), p.weigh(x)
        p.write(x)
        return before, p.weigh(x), p.weigh(x)

    made = plan(wiring)
    assert plan.before(made) == ["p._weigh", "p._weigh", "p._write", "p._weigh", "p._weigh"]
    assert plan.after(made) == ["p._weigh", "p._write", "p._weigh"]


def test_a_write_to_another_variable_and_calls_that_read_none(plan):
    def wiring(p, q, x):
        one = p.weigh(x), p.pure(x)
        q.write(x)
        p.write(x)
        return one, q.pure(x), p.pure(x)

    made = plan(wiring)
    assert plan.after(made) == ["p._weigh", "p._pure", "q._write", "p._write", "q._pure"]


def test_what_writes_is_never_merged(plan):
    """Nor is what draws: a draw writes its stream."""
    made = plan(lambda p, q, x: (p.count(x), p.count(x), p.write(x), p.write(x)))
    assert plan.after(made) == plan.before(made) == ["p._count", "p._count", "p._write", "p._write"]


def test_whatever_its_effects_write_is_not_merged():
    nodes = [GraphFunctionCall(i, None, "c", "draw", ()) for i in range(4)]
    stream = Effects(writes=frozenset({"c/stream"}))
    assert merge_equal_calls(nodes, Const(None), dict.fromkeys(range(4), stream))[0] == nodes
    pure = dict.fromkeys(range(4), Effects())
    assert merge_equal_calls(nodes, Const(None), pure)[0] == nodes[:1]
    # The third is a draw: those around it are merged all the same, they read nothing.
    assert merge_equal_calls(nodes, Const(None), {**pure, 2: stream})[0] == [nodes[0], nodes[2]]


def test_host_calls_are_not_merged(plan):
    made = plan(lambda p, q, x: (q.host(x), q.host(x)))
    assert plan.after(made) == ["q._host", "q._host"]


def test_derivatives_are_not_merged(plan):
    def wiring(p, q, x):
        one, two = (p.total(p.weigh(x)) for _ in range(2))
        for loss in (one, two):
            q.step(gradients(loss, p.variables())) if loss is one else p.step(gradients(loss, p.variables()))
        return one

    made = plan(wiring)
    assert plan.after(made).count("Gradients") == 2
    assert plan.after(made).count("p._weigh") == 1


# Loops and branches.


def test_an_iteration_sees_what_was_computed_before_the_loop(plan):
    def wiring(p, q, x):
        one = p.pure(x), p.weigh(x)
        left = loop(2, lambda i, v: q.through(p.scale(p.pure(x), p.weigh(x))), q.through(x))
        return one, left, p.pure(x)

    made = plan(wiring)
    inside = ["p._pure", "p._weigh", "p._scale", "q._through"]
    assert plan.before(made) == ["p._pure", "p._weigh", "q._through", ("Loop", inside), "p._pure"]
    assert plan.after(made) == ["p._pure", "p._weigh", "q._through", ("Loop", inside[2:])]


def test_what_an_iteration_computes_stays_inside(plan):
    def wiring(p, q, x):
        left = loop(2, lambda i, v: p.scale(v, p.total(x)), x)
        return left, p.total(x), loop(2, lambda i, v: p.scale(v, p.total(x)), x)

    made = plan(wiring)
    loops = ("Loop", ["p._total", "p._scale"])
    assert plan.before(made) == [loops, "p._total", loops]
    assert plan.after(made) == [loops, "p._total", ("Loop", ["p._scale"])]


def test_equal_calls_inside_one_iteration(plan):
    made = plan(lambda p, q, x: loop(2, lambda i, v: p.scale(p.pure(v), p.pure(v)), x))
    assert plan.before(made) == [("Loop", ["p._pure", "p._pure", "p._scale"])]
    assert plan.after(made) == [("Loop", ["p._pure", "p._scale"])]


def test_a_read_of_what_the_loop_writes_later(plan):
    def wiring(p, q, x):
        before = p.weigh(x)

        def body(i, v):
            first = p.weigh(x)
            p.write(v)
            return p.scale(first, p.weigh(x))

        return before, loop(2, body, x), p.weigh(x)

    made = plan(wiring)
    assert plan.after(made) == [
        "p._weigh",
        ("Loop", ["p._weigh", "p._write", "p._weigh", "p._scale"]),
        "p._weigh",
    ]


def test_a_read_of_what_an_inner_loop_writes(plan):
    def wiring(p, q, x):
        before = p.weigh(x)

        def outer(i, v):
            seen = p.weigh(x)
            loop(2, lambda j: p.write(x))
            return p.scale(v, seen)

        return before, loop(2, outer, x)

    made = plan(wiring)
    assert plan.after(made) == ["p._weigh", ("Loop", ["p._weigh", ("Loop", ["p._write"]), "p._scale"])]


def test_branches(plan):
    """Each side sees what stood before; neither sees the other, and what is behind sees neither."""

    def wiring(p, q, x):
        before = p.pure(x), p.weigh(x)
        found = branch(
            p.positive(x),
            lambda: (p.scale(p.pure(x), p.weigh(x)), p.total(x), p.write(x))[0],
            lambda: (p.scale(p.weigh(x), 2.0), p.total(x))[0],
        )
        return before, found, p.total(x), p.weigh(x)

    made = plan(wiring)
    assert plan.after(made) == [
        "p._pure",
        "p._weigh",
        "p._positive",
        ("Branch", ["p._scale", "p._write"], ["p._scale"]),
        "p._total",
        "p._weigh",
    ]


def test_a_side_that_writes_does_not_change_the_other(plan):
    def wiring(p, q, x):
        before = p.weigh(x)

        def writes():
            p.write(x)
            return p.weigh(x)

        return before, branch(p.positive(x), writes, lambda: p.weigh(x))

    made = plan(wiring)
    assert plan.after(made) == ["p._weigh", "p._positive", ("Branch", ["p._write", "p._weigh"], [])]


@pytest.mark.parametrize("kind", ["loop", "branch"])
def test_a_derivative_inside_keeps_its_forward_inside(plan, kind):
    """Else it would be the derivative of a loss from outside; what it is not taken by is still merged."""

    def wiring(p, q, x):
        before = p.total(p.weigh(q.weigh(x)))

        def body():
            loss = p.total(p.weigh(q.weigh(x)))
            return p.first(gradients(loss, p.variables()))

        if kind == "loop":
            return before, loop(2, lambda i, v: body(), x)
        return before, branch(p.positive(x), body, lambda: x)

    made = plan(wiring)
    forward = ["q._weigh", "p._weigh", "p._total"]
    inside = plan.after(made)[-1][1]
    assert plan.before(made)[-1][1] == [*forward, "VariablesOf", "Gradients", "p._first"]
    assert plan.after(made)[:3] == forward
    assert inside == ["VariablesOf", "p._weigh", "p._total", "Gradients", "p._first"]
    assert plan.slices(made) == [["p._total", "p._weigh"]]


def test_names_of_merged_calls_reach_into_regions(plan):
    def wiring(p, q, x):
        one, two = p.pure(x), p.pure(x)
        left = loop(2, lambda i, v: p.scale(v, two), two)
        return one, branch(p.positive(two), lambda: two, lambda: left)

    made = plan(wiring)
    first = made.nodes[0].id
    assert plan.after(made) == ["p._pure", ("Loop", ["p._scale"]), "p._positive", ("Branch", [], [])]
    text = str(made.nodes) + str(made.results)
    assert f"Output(node={first}, index=0)" in text
    calls = sorted(made.built.graph.nodes)
    second = next(
        i for i in calls if i > first and str(made.built.graph.nodes[i]).startswith("GraphFunctionCall")
    )
    assert f"Output(node={second}, index=0)" not in text


# Numbers.


def test_results_are_those_without_the_pass(plan, monkeypatch, backend):
    class Root(Component):
        def __init__(self):
            self.p, self.q = plan.pieces()
            super().__init__(self.p, self.q, scope="root")

        @rlgraph_api
        def run(self, x, y):
            p, q = self.p, self.q
            before = p.weigh(x), p.weigh(x), q.pure(p.weigh(y))

            def body(i, v):
                seen = p.weigh(x)
                p.write(q.scale(v, 0.5))
                return p.scale(p.weigh(x), 0.5), (seen, q.weigh(x), p.pure(v), p.pure(v))

            left, collected = loop(3, body, y, collect=True)
            found = branch(p.positive(left), lambda: (p.write(x), p.weigh(y))[1], lambda: p.weigh(y))
            return before, left, collected, found, p.weigh(y), p.weigh(x)

    def results(merging):
        if not merging:
            monkeypatch.setattr(pipeline, "merge_equal_calls", lambda nodes, results, *_: (nodes, results))
        made = GraphExecutor(Root(), {"x": VECTOR, "y": VECTOR}, backend=backend)
        nodes = len(str(made.plan("run").nodes))
        flat = []
        for y in ([1.0, 2.0], [-3.0, 0.5]):
            outputs = made.execute("run", np.float32([0.5, -2.0]), np.float32(y))
            flat.extend(leaf.ravel() for leaf in leaves(outputs))
        return nodes, np.concatenate(flat), made.get_weights()

    nodes, values, weights = results(merging=True)
    all_nodes, expected, expected_weights = results(merging=False)
    assert nodes < all_nodes
    np.testing.assert_array_equal(values, expected)
    assert {name: x.tolist() for name, x in weights.items()} == {
        name: x.tolist() for name, x in expected_weights.items()
    }


def leaves(value):
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield np.asarray(value)
