import pytest

from rlgraph.core import (
    BuildError,
    Component,
    assemble,
    branch,
    build,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.plan import HostStep, walk_steps
from rlgraph.spaces import Dict, IntBox


def test_one_segment_without_host_functions(plan):
    made = plan(lambda p, q, x: p.pure(p.weigh(x)))
    assert plan.steps(made) == [("segment", "p._weigh", "p._pure")]
    (segment,) = made.steps
    assert [(leaf.source.name, spec.shape) for leaf, spec in segment.inputs] == [("x", (2,))]
    assert [leaf.source.node for leaf, _ in segment.outputs] == [made.nodes[-1].id]


def test_host_functions_cut(plan):
    def wiring(p, q, x, y):
        one = p.pure(x)
        two = q.host(one)
        return p.weigh(two), p.through(one)

    made = plan(wiring, arguments=("x", "y"))
    assert plan.steps(made) == [
        ("segment", "p._pure"),
        ("host", "q._host"),
        ("segment", "p._weigh", "p._through"),
    ]
    first, _, last = made.steps
    pure, host, weigh, through = (node.id for node in made.nodes)
    assert [leaf.source.node for leaf, _ in first.outputs] == [pure]
    assert {leaf.source.node for leaf, _ in last.inputs} == {pure, host}
    assert [leaf.source.node for leaf, _ in last.outputs] == [weigh, through]
    assert [first.name, last.name] == ["segment_0", "segment_1"]


def test_a_host_function_comes_as_early_as_it_can(plan):
    def wiring(p, q, x):
        one = p.weigh(x)
        p.write(x)
        two = q.host(x)
        three = q.host(p.pure(two))
        return p.weigh(one), q.pure(three)

    made = plan(wiring)
    assert plan.steps(made) == [
        ("host", "q._host"),
        ("segment", "p._weigh", "p._write", "p._pure"),
        ("host", "q._host"),
        ("segment", "p._weigh", "q._pure"),
    ]


def test_host_functions_stay_in_their_order(plan):
    def wiring(p, q, x):
        late = q.host(p.pure(x))
        early = p.host(x)
        return p.weigh(late), p.weigh(early)

    assert plan.steps(plan(wiring)) == [
        ("segment", "p._pure"),
        ("host", "q._host"),
        ("host", "p._host"),
        ("segment", "p._weigh", "p._weigh"),
    ]


def test_a_plan_of_host_functions_has_no_segment(plan):
    assert plan.steps(plan(lambda p, q, x: q.host(p.host(x)))) == [("host", "p._host"), ("host", "q._host")]


def test_leaves_of_a_container_cross_the_border_one_by_one():
    class Host(Component):
        @rlgraph_api
        def run(self):
            parts = self._parts()
            return self._use(parts["a"]), parts["b"]

        @graph_fn(host=True, spaces=Dict(a=float, b=IntBox(3), c=float))
        def _parts(self):
            return {}

        @graph_fn
        def _use(self, ops, a):
            return a * 2.0

    made = make_plan(build(assemble(Host(scope="root")), {}), "run")
    _, segment = made.steps
    assert [leaf.path for leaf, _ in segment.inputs] == [("a",)]
    assert [leaf.path for leaf, _ in segment.outputs] == [()]


def test_host_outputs_are_copied_where_their_buffer_could_change_under_them(plan):
    def returned(p, q, x):
        return p.host(x)

    def computed_with(p, q, x):
        return q.pure(p.host(x))

    def called_again(p, q, x):
        one = p.host(x)
        two = p.host(one)
        return q.pure(one), q.pure(two)

    def called_by_another(p, q, x):
        one = p.host(x)
        two = q.host(one)
        return p.pure(one), p.pure(two)

    def viewed(p, q, x):
        return q.through(p.host(x))

    def copies(wiring):
        return [bool(step.copies) for step in plan(wiring).steps if isinstance(step, HostStep)]

    assert copies(returned) == [True]
    assert copies(computed_with) == [False]
    assert copies(called_again) == [True, False]
    assert copies(called_by_another) == [False, False]
    assert copies(viewed) == [True]


def test_a_host_call_may_stand_within_a_slice_if_it_can_be_moved(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        noted = q.host(x)
        loss = p.total(weighed)
        p.step(gradients(loss, p.variables()))
        return loss, noted

    assert [step[0] for step in plan.steps(plan(wiring))] == ["host", "segment"]


def test_a_host_call_that_cuts_a_slice(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        q.host(weighed)
        loss = p.total(weighed)
        p.step(gradients(loss, p.variables()))
        return loss

    with pytest.raises(
        BuildError, match="a host function is called between a differentiated variable and the loss"
    ):
        plan(wiring)


# Regions.


def test_loops_without_host_calls_stay_in_their_segment(plan):
    def wiring(p, q, x):
        left = loop(2, lambda i, v: branch(p.positive(v), lambda: p.weigh(v), lambda: v), p.pure(x))
        return q.pure(left)

    inside = ("Loop", ["p._positive", ("Branch", ["p._weigh"], [])])
    assert plan.steps(plan(wiring)) == [("segment", "p._pure", inside, "q._pure")]


def test_a_host_call_inside_takes_the_loop_apart(plan):
    def wiring(p, q, x):
        def body(i, v):
            return p.weigh(q.host(p.pure(v)))

        return q.pure(loop(2, body, p.pure(x)))

    made = plan(wiring)
    inside = [("segment", "p._pure"), ("host", "q._host"), ("segment", "p._weigh")]
    assert plan.before(made) == ["p._pure", ("Loop", ["p._pure", "q._host", "p._weigh"]), "q._pure"]
    assert plan.steps(made) == [("segment", "p._pure"), ("loop", inside), ("segment", "q._pure")]
    assert [segment.name for segment in made.segments] == [f"segment_{i}" for i in range(4)]


def test_a_host_call_on_one_side_takes_the_branch_apart(plan):
    def wiring(p, q, x):
        found = branch(p.positive(x), lambda: p.weigh(q.host(x)), lambda: p.pure(x))
        return q.pure(found)

    assert plan.steps(plan(wiring)) == [
        ("segment", "p._positive"),
        ("branch", [("host", "q._host"), ("segment", "p._weigh")], [("segment", "p._pure")]),
        ("segment", "q._pure"),
    ]


def test_host_regions_keep_their_place(plan):
    """A single host call may overtake tensors that it does not need; a loop with one inside may not."""

    def wiring(p, q, x):
        weighed = p.weigh(x)
        left = loop(2, lambda i, v: q.host(v), x)
        p.write(x)
        other = q.host(x)
        return weighed, left, other

    assert plan.steps(plan(wiring)) == [
        ("segment", "p._weigh"),
        ("loop", [("host", "q._host")]),
        ("host", "q._host"),
        ("segment", "p._write"),
    ]


def test_what_enters_and_leaves_the_segments_of_a_host_loop(plan):
    def wiring(p, q, x):
        outside = p.weigh(x)

        def body(i, v):
            inner = p.scale(v, outside)
            q.host(inner)
            return p.pure(inner)

        return loop(2, body, x)

    ahead, first, second = plan(wiring).segments
    kinds = [[type(leaf.source).__name__ for leaf, _ in segment.inputs] for segment in (ahead, first, second)]
    assert kinds == [["Input"], ["Carried", "Output"], ["Output"]]
    assert [len(segment.outputs) for segment in (ahead, first, second)] == [1, 1, 1]


def test_host_outputs_in_a_loop_are_always_copied(plan):
    """The next iteration calls the function again."""

    def looped(p, q, x):
        return loop(2, lambda i, v: p.pure(q.host(v)), x)

    def in_a_branch_of_a_loop(p, q, x):
        def body(i, v):
            return branch(p.positive(v), lambda: p.pure(q.host(v)), lambda: v)

        return loop(2, body, x)

    def branched(p, q, x):
        return branch(p.positive(x), lambda: p.pure(q.host(x)), lambda: x)

    def handed_out_of_a_branch(p, q, x):
        return p.pure(branch(p.positive(x), lambda: q.host(x), lambda: x))

    def called_again_in_a_loop(p, q, x):
        one = q.host(x)
        return p.pure(loop(2, lambda i, v: p.scale(one, q.host(v)), x))

    def copies(wiring):
        return [bool(s.copies) for s in walk_steps(plan(wiring).steps) if isinstance(s, HostStep)]

    assert copies(looped) == [True]
    assert copies(in_a_branch_of_a_loop) == [True]
    assert copies(branched) == [False]
    assert copies(handed_out_of_a_branch) == [True]
    assert copies(called_again_in_a_loop) == [True, True]
