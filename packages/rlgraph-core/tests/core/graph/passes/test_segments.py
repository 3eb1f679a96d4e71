import pytest

from rlgraph.core import BuildError, Component, assemble, build, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.plan import HostStep
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
