import pytest

from rlgraph.core import BuildError, branch, gradients, loop


def test_gradients_move_up_to_their_loss(plan):
    def wiring(p, q, x):
        one = p.total(p.weigh(x))
        two = q.total(q.weigh(x))
        p.write(x)
        q.write(x)
        p.step(gradients(one, p.variables()))
        q.step(gradients(two, q.variables()))
        return one

    made = plan(wiring)
    functions = ["p._weigh", "p._total", "q._weigh", "q._total", "p._write", "q._write"]
    assert [name for name in plan.before(made) if "." in name] == [*functions, "p._step", "q._step"]
    # Everything but the gradients and the lists of variables stays in program order.
    after = [name for name in plan.after(made) if name != "VariablesOf"]
    assert [name for name in after if "." in name] == [*functions, "p._step", "q._step"]
    assert plan.after(made)[:2] == ["VariablesOf", "VariablesOf"]
    by_loss = {
        node.loss.source.node: i for i, node in enumerate(made.nodes) if type(node).__name__ == "Gradients"
    }
    assert len(by_loss) == 2
    position = {node.id: i for i, node in enumerate(made.nodes)}
    for loss, at in by_loss.items():
        assert position[loss] < at
        assert at == position[loss] + 1


def test_the_second_gradient_comes_before_the_first_step_writes(plan):
    """A step between two losses on one network: the second gradient needs the weights as they were."""

    def wiring(p, q, x):
        weighed = p.weigh(x)
        one, two = p.total(weighed), q.total(q.weigh(weighed))
        p.step(gradients(one, p.variables()))
        q.step(gradients(two, q.variables()))
        return one, two

    after = plan.after(plan(wiring))
    assert after.index("p._step") > max(i for i, name in enumerate(after) if name == "Gradients")


def test_the_slice_lies_between_the_variables_and_the_loss(plan):
    def wiring(p, q, x):
        prepared = p.pure(x)  # in front
        fixed = q.weigh(prepared)  # reads another variable
        loss = p.total(p.weigh(fixed))
        p.step(gradients(loss, p.variables()))
        return q.pure(fixed), loss  # beside

    made = plan(wiring)
    assert plan.slices(made) == [["p._total", "p._weigh"]]
    assert made.needs_gradients


def test_a_shared_forward_belongs_to_both_slices(plan):
    def wiring(p, q, x):
        shared = q.weigh(p.weigh(x))
        p.step(gradients(p.total(shared), p.variables()))
        q.step(gradients(q.total(shared), q.variables()))
        return shared

    assert plan.slices(plan(wiring)) == [["p._total", "p._weigh", "q._weigh"], ["q._total", "q._weigh"]]


def test_gradients_of_one_loss_stay_in_their_order(plan):
    def wiring(p, q, x):
        loss = p.total(q.weigh(p.weigh(x)))
        one, two = gradients(loss, p.variables()), gradients(loss, q.variables())
        p.step(one)
        q.step(two)
        return loss

    ids = [node.id for node in plan(wiring).nodes if type(node).__name__ == "Gradients"]
    assert ids == sorted(ids)


def test_a_host_function_in_front_is_no_obstacle(plan):
    def wiring(p, q, x):
        loss = p.total(p.weigh(q.host(x)))
        p.step(gradients(loss, p.variables()))
        return loss

    assert plan.slices(plan(wiring)) == [["p._total", "p._weigh"]]


def test_a_host_function_between_variables_and_loss(plan):
    def wiring(p, q, x):
        loss = p.total(q.host(p.weigh(x)))
        p.step(gradients(loss, p.variables()))
        return loss

    with pytest.raises(
        BuildError, match=r"root.gradients: the host function q._host lies between a differentiated"
    ):
        plan(wiring)


def test_a_loss_that_does_not_depend_on_the_variables(plan):
    def wiring(p, q, x):
        loss = p.total(q.weigh(x))
        p.step(gradients(loss, p.variables()))
        return loss

    with pytest.raises(BuildError, match="root.gradients: the loss does not depend on any of the variables"):
        plan(wiring)


def test_an_unused_gradient_is_dead(plan):
    def wiring(p, q, x):
        loss = p.total(p.weigh(x))
        gradients(loss, p.variables())
        return loss

    made = plan(wiring)
    assert plan.after(made) == ["p._weigh", "p._total"]
    assert not made.needs_gradients


def test_a_write_between_the_forward_and_the_loss(plan):
    """torch would take the derivative at the new weights, without a word where the write is a fused step."""

    def wiring(p, q, x):
        weighed = p.weigh(q.weigh(x))
        p.step(gradients(p.total(weighed), p.variables()))
        loss = q.total(weighed)  # from values of the old weights
        q.step(gradients(loss, q.variables()))
        return loss

    with pytest.raises(
        BuildError, match="root.gradients: p._step writes p/w between p._weigh, from which the loss"
    ):
        plan(wiring)


def test_a_write_to_what_the_loss_does_not_need(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        q.write(x)
        loss = p.total(weighed)
        p.step(gradients(loss, p.variables()))
        return loss

    assert len(plan(wiring).slices) == 1


# Regions.


def test_gradients_move_up_inside(plan):
    def wiring(p, q, x):
        def body(i):
            one, two = p.total(p.weigh(x)), q.total(q.weigh(x))
            p.write(x)
            q.write(x)
            p.step(gradients(one, p.variables()))
            q.step(gradients(two, q.variables()))
            return (), one

        return loop(2, body, collect=True)[1]

    made = plan(wiring)
    ((_, before),) = plan.before(made)
    assert before.index("p._write") < before.index("Gradients")
    ((_, after),) = plan.after(made)
    assert after == [
        *("VariablesOf", "VariablesOf"),
        *("p._weigh", "p._total", "Gradients", "q._weigh", "q._total", "Gradients"),
        *("p._write", "q._write", "p._step", "q._step"),
    ]
    assert plan.slices(made) == [["p._total", "p._weigh"], ["q._total", "q._weigh"]]


def test_a_gradient_moves_up_over_a_loop_that_writes(plan):
    def wiring(p, q, x):
        loss = p.total(p.weigh(x))
        loop(2, lambda i: p.write(x))
        p.step(gradients(loss, p.variables()))
        return loss

    made = plan(wiring)
    order = ["p._weigh", "p._total", "Gradients", ("Loop", ["p._write"]), "p._step"]
    assert plan.before(made) != plan.after(made)
    assert plan.after(made) == ["VariablesOf", *order]


def test_a_loop_on_the_way_is_in_the_slice_with_all_it_holds(plan):
    def wiring(p, q, x):
        prepared = loop(2, lambda i, v: p.pure(v), x)

        def body(i, v):
            return branch(q.positive(v), lambda: p.weigh(v), lambda: q.weigh(v))

        loss = p.total(loop(2, body, prepared))
        behind = loop(2, lambda i, v: q.pure(v), q.weigh(x))
        return loss, p.first(gradients(loss, p.variables())), behind

    made = plan(wiring)
    inside = ["Branch", "Loop", "p._total", "p._weigh", "q._positive", "q._weigh"]
    assert plan.slices(made) == [inside]


def test_a_path_that_runs_through_captured_values_only(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        loss = p.total(loop(2, lambda i, v: q.scale(v, weighed), x))
        return p.first(gradients(loss, p.variables())), loss

    assert plan.slices(plan(wiring)) == [["Loop", "p._total", "p._weigh", "q._scale"]]


def test_the_count_and_the_predicate_carry_no_derivative(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        left = loop(p.index(weighed), lambda i, v: q.pure(v), x)
        loss = p.total(branch(p.positive(weighed), lambda: left, lambda: x))
        return p.first(gradients(loss, p.variables()))

    with pytest.raises(BuildError, match="the loss does not depend on any of the variables"):
        plan(wiring)


def test_slices_inside_and_outside_of_a_loop(plan):
    def wiring(p, q, x):
        outside = p.total(p.weigh(x))
        p.step(gradients(outside, p.variables()))

        def body(i):
            inside = q.total(q.weigh(x))
            q.step(gradients(inside, q.variables()))
            return (), inside

        return outside, loop(2, body, collect=True)[1]

    assert plan.slices(plan(wiring)) == [["p._total", "p._weigh"], ["q._total", "q._weigh"]]
