"""Mistakes with loops and branches: each is found at assembly or build, with its place and what to do."""

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    GraphExecutor,
    branch,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, IntBox, Tuple

# The wirings use some of the components, and mostly not all of them.
pytestmark = pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")

NUMBER, INTEGER = FloatBox(), IntBox()
BATCH = FloatBox(shape=(2,), add_batch_rank=True)


@pytest.fixture
def refused(executor, cell, other, counter):
    """``refused(wiring, message, **spaces)``: a root ``run(self, x)`` made of ``wiring(cell, other, counter, x)``."""

    def check(wiring, message, x=NUMBER, error=BuildError):
        def run(self, x):
            return wiring(cell, other, counter, x)

        with pytest.raises(error) as caught:
            made = executor(run, cell, other, counter, x=x)
            made.plan("run")
        assert message in str(caught.value)

    return check


@pytest.fixture
def miswired(refused):
    return lambda wiring, message, **spaces: refused(wiring, message, error=AssemblyError, **spaces)


# The place.


def test_outside_of_an_api_method(cell):
    for call, name in (
        (lambda: loop(3, lambda i: None), "loop(count, body)"),
        (lambda: branch(True, lambda: None, lambda: None), "branch(predicate, then, otherwise)"),
    ):
        with pytest.raises(AssemblyError) as caught:
            call()
        assert f"{name} can only be called while a component graph is assembled" in str(caught.value)


# Counts.


@pytest.mark.parametrize("count", [0, -1, True, 2.0, None, "3"])
def test_a_count_that_is_none(miswired, count):
    miswired(
        lambda cell, other, counter, x: loop(count, lambda i, v: v, x),
        f"root: loop: count must be an integer of at least 1 or a symbol of one, given {count!r}",
    )


@pytest.mark.parametrize("count", [0, True, 2.5])
def test_a_constant_count_that_comes_through_a_container(executor, count):
    class Repeat(Component):
        @rlgraph_api
        def call(self, x, options):
            return loop(options[0], lambda i, v: v, x)

    repeat = Repeat(scope="repeat")
    with pytest.raises(
        BuildError, match=f"repeat.loop: the count must be one integer, at least 1, given {count}"
    ):
        executor(lambda self, x: repeat.call(x, (count,)), repeat, x=NUMBER)


@pytest.mark.parametrize("space", [NUMBER, FloatBox(shape=(2,)), bool, IntBox(shape=(2,)), Tuple(INTEGER)])
def test_a_count_symbol_that_is_not_one_integer(refused, space):
    refused(
        lambda cell, other, counter, x: loop(x, lambda i: counter.tick()),
        "root.loop: the count must be one integer, at least 1, given",
        x=space,
    )


# Carried values.


def test_a_carried_space_that_changes(refused):
    refused(
        lambda cell, other, counter, x: loop(3, lambda i, v: cell.total(v), x),
        "root.loop: carried value 0 enters the loop as float64[B, 2] and leaves the body as float64[]: every "
        "iteration must hand on what it was given",
        x=BATCH,
    )


def test_a_carried_dtype_that_changes_deep_inside(refused):
    refused(
        lambda cell, other, counter, x: loop(
            3, lambda i, a, b: (a, {"p": (b["p"][0], cell.to_float(b["p"][1]))}), 1.0, {"p": (x, 3)}
        ),
        "root.loop: carried value 1.p.1 enters the loop as int64[] and leaves the body as float64[]",
    )


def test_a_number_that_began_whole(refused):
    refused(
        lambda cell, other, counter, x: loop(3, lambda i, v: cell.add(x, x), 0),
        "root.loop: carried value 0 enters the loop as int64[] and leaves the body as float64[]",
    )


def test_a_carried_container_that_loses_a_part(refused):
    refused(
        lambda cell, other, counter, x: loop(3, lambda i, v: {"a": v["a"]}, {"a": x, "b": x}),
        "root.loop: carried value 0 enters the loop as {a: float64[], b: float64[]} and leaves the body as "
        "{a: float64[]}",
    )


def test_a_batch_that_changes_its_place(refused):
    refused(
        lambda cell, other, counter, x: loop(3, lambda i, v: cell.reshape(v, (2, -1)), x),
        "enters the loop as float64[B, 2] and leaves the body as float64[2, B]",
        x=BATCH,
    )


@pytest.mark.parametrize("returned", [None, (), 1, 3])
def test_another_number_of_carried_values(miswired, returned):
    def wiring(cell, other, counter, x):
        values = returned if returned in (None, ()) else (x,) * returned
        return loop(2, lambda i, a, b: values, x, x)

    miswired(wiring, "root: loop: it carries 2 values, and its body returned ")


def test_a_body_that_forgets_its_return(miswired):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i, v: None, x),
        "root: loop: it carries 1 value, and its body returned None; the body returns what the next iteration",
    )


def test_a_body_that_returns_what_nothing_carries(miswired):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i: x),
        "root: loop: it carries 0 values, and its body returned Symbol(x); the body returns what",
    )


@pytest.mark.parametrize(
    ("wiring", "message"),
    [
        (lambda x: loop(2, lambda v: v, x), "loop: body(i, *carried) is called with 2 values here: too many"),
        (
            lambda x: loop(2, lambda i, v, w: v, x),
            "loop: body(i, *carried) is called with 2 values here: missing",
        ),
        (lambda x: loop(2, x, x), "loop: body(i, *carried) must be a function, given Symbol(x)"),
        (
            lambda x: loop(2, lambda i, v: v, x, until=lambda: x),
            "loop: until(*carried) is called with 1 value here: too many",
        ),
        (
            lambda x: branch(x, lambda: x, lambda v: v),
            "branch: otherwise(*arguments) is called with 0 values here: missing",
        ),
        (lambda x: branch(x, x, lambda: x), "branch: then(*arguments) must be a function, given Symbol(x)"),
    ],
)
def test_wiring_that_does_not_take_what_it_is_given(miswired, wiring, message):
    miswired(lambda cell, other, counter, x: wiring(x), f"root: {message}")


def test_sizes_that_are_equal_and_do_not_say_so():
    class Steps(Component):
        def __init__(self, rank):
            super().__init__(scope="steps")
            self.rank = rank

        @rlgraph_api
        def call(self, x):
            return loop(3, lambda i, state: self._step(state), x)

        @graph_fn(host=True, spaces=lambda self, x: FloatBox(add_batch_rank=self.rank))
        def _step(self, state):
            return state + 1.0

    space = FloatBox(add_batch_rank="env")
    with pytest.raises(
        BuildError, match=r"leaves the body as .*If these sizes are equal, .*add_batch_rank=\"name\""
    ):
        GraphExecutor(Steps(rank=True), {"x": space}, backend="numpy")
    stepped = GraphExecutor(Steps(rank="env"), {"x": space}, backend="numpy").execute("call", [0.0, 1.0])
    np.testing.assert_array_equal(stepped, [3.0, 4.0])


@pytest.mark.parametrize("thing", [None, "text", np.zeros(2)])
def test_carried_things_that_are_no_tensors(refused, thing):
    refused(
        lambda cell, other, counter, x: loop(2, lambda i, v: v, thing),
        "root.loop: only tensors and numbers enter or leave a region, given ",
    )


def test_carried_variables(refused):
    refused(
        lambda cell, other, counter, x: (cell.weigh(x), loop(2, lambda i, v: v, cell.variables())),
        "root.loop: only tensors and numbers enter or leave a region, given <1 variables>; lists of variables can be "
        "asked for inside",
    )


def test_derivatives_that_leave(refused):
    def wiring(cell, other, counter, x):
        return loop(2, lambda i: ((), gradients(cell.weigh(x), cell.variables())), collect=True)[1]

    refused(wiring, "root.loop: only tensors and numbers enter or leave a region, given <1 gradients>")


# until and collect.


def test_until_with_collect(miswired):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i, v: (v, v), x, until=lambda v: True, collect=True),
        "root: loop: until= and collect=True exclude each other: how much is collected would be open",
    )


@pytest.mark.parametrize("returned", ["x", 1, 0.5])
def test_until_that_is_no_bool(refused, returned):
    refused(
        lambda cell, other, counter, x: loop(
            2, lambda i, v: v, x, until=lambda v: v if returned == "x" else returned
        ),
        "root.loop: until= must give one bool, given ",
    )


def test_until_of_many_bools(refused):
    refused(
        lambda cell, other, counter, x: loop(2, lambda i, v: v, x, until=lambda v: cell.above(v, 0.0)),
        "root.loop: until= must give one bool, given bool[B, 2]",
        x=BATCH,
    )


def test_until_that_forgets_its_return(miswired):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i, v: v, x, until=lambda v: None),
        "root: loop: until= returned None; it returns one bool of the new carried values",
    )


@pytest.mark.parametrize("returned", [lambda x: x, lambda x: (x, x, x), lambda x: None])
def test_collect_wants_a_pair(miswired, returned):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i, v: returned(x), x, collect=True),
        "root: loop: with collect=True the body returns (carried, collected), given ",
    )


def test_collect_of_nothing(miswired):
    miswired(
        lambda cell, other, counter, x: loop(2, lambda i, v: (v, None), x, collect=True),
        "root: loop: collect=True and the body collects None",
    )


# Branches.


@pytest.mark.parametrize("predicate", [True, None, 1])
def test_a_predicate_that_is_no_symbol(miswired, predicate):
    miswired(
        lambda cell, other, counter, x: branch(predicate, lambda: x, lambda: x),
        f"root: branch: the predicate is no symbol but {predicate!r}: use a Python `if`",
    )


@pytest.mark.parametrize(("space", "shown"), [(INTEGER, "int64[]"), (BATCH, "float64[B, 2]")])
def test_a_predicate_that_is_not_one_bool(refused, space, shown):
    refused(
        lambda cell, other, counter, x: branch(x, lambda: x, lambda: x),
        f"root.branch: the predicate must be one bool, given {shown}",
        x=space,
    )


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (lambda cell, x: (x, cell.total(x)), "the result is float64[B, 2] on the one side and float64[]"),
        (
            lambda cell, x: ({"a": (x, 1)}, {"a": (x, 1.0)}),
            "value a.1 is int64[] on the one side and float64[]",
        ),
        (lambda cell, x: ({"a": x}, {"b": x}), "the result is {a: float64[B, 2]} on the one side and {b:"),
        (
            lambda cell, x: (x, (x, x)),
            "the result is float64[B, 2] on the one side and (float64[B, 2], float64",
        ),
    ],
)
def test_sides_of_different_spaces(refused, sides, message):
    def wiring(cell, other, counter, x):
        positive = cell.above(cell.total(x), 0.0)
        return branch(positive, lambda: sides(cell, x)[0], lambda: sides(cell, x)[1])

    refused(wiring, f"root.branch: {message}", x=BATCH)


def test_one_side_gives_something_and_the_other_nothing(refused):
    refused(
        lambda cell, other, counter, x: branch(cell.above(x, 0.0), lambda: x, lambda: None),
        "root.branch: the result is float64[] on the one side and () on the other",
    )


# What is made inside is used outside.


def test_a_value_from_inside_of_a_loop(refused):
    def wiring(cell, other, counter, x):
        kept = []

        def body(i, v):
            kept.append(cell.add(v, 1.0))
            return kept[0]

        loop(2, body, x)
        return cell.weigh(kept[0])

    refused(
        wiring,
        "cell._weigh: it uses a value of cell._add that was made inside of a loop or branch, or in another API "
        "method: return it from there, a body as carried or collected",
    )


def test_the_number_of_an_iteration_behind_the_loop(refused):
    def wiring(cell, other, counter, x):
        kept = []
        loop(2, lambda i, v: (kept.append(i), v)[1], x)
        return kept[0]

    refused(
        wiring, "what root.run returns: it uses a value of root.loop that was made inside of a loop or branch"
    )


def test_a_carried_value_of_another_loop(refused):
    def wiring(cell, other, counter, x):
        kept = []
        loop(2, lambda i, v: (kept.append(v), v)[1], x)
        return loop(2, lambda i, v: kept[0], x)

    refused(wiring, "what the body of root.loop returns: it uses a value of root.loop that was made inside")


def test_a_value_of_the_other_side(refused):
    def wiring(cell, other, counter, x):
        kept = []

        def then():
            kept.append(cell.add(x, 1.0))
            return kept[0]

        return branch(cell.above(x, 0.0), then, lambda: cell.weigh(kept[0]))

    refused(wiring, "cell._weigh: it uses a value of cell._add that was made inside of a loop or branch")


# Derivatives.


def test_inside_of_a_loss_that_was_computed_outside(refused):
    def wiring(cell, other, counter, x):
        loss = cell.weigh(x)
        return loop(2, lambda i: cell.descend(gradients(loss, cell.variables()), 0.1))

    refused(
        wiring,
        "root.gradients: it is taken inside a loop or branch, and cell._weigh, which reads cell/w and from which the "
        "loss is computed, is called outside: call it inside as well",
    )


def test_inside_of_a_loss_that_began_outside(refused):
    """Of the one variable the derivative is there, of the other it is not."""

    def wiring(cell, other, counter, x):
        outside = other.weigh(cell.weigh(x))
        variables = cell.variables() + other.variables()
        return loop(2, lambda i, _: cell.first(gradients(cell.weigh(outside), variables)), 0.0)

    refused(
        wiring, "and other._weigh, which reads other/w and from which the loss is computed, is called outside"
    )


def test_a_derivative_of_derivatives(refused):
    def wiring(cell, other, counter, x):
        def body(i, v):
            loss = cell.weigh(v)
            return cell.add(v, cell.first(gradients(loss, cell.variables())))

        loss = cell.weigh(loop(2, body, cell.weigh(x)))
        return cell.first(gradients(loss, cell.variables()))

    refused(
        wiring,
        "root.gradients: the loss comes out of a loop or branch in which root.gradients is taken: derivatives of "
        "derivatives are not supported",
    )


def test_a_host_function_between_variable_and_loss(refused):
    def wiring(cell, other, counter, x):
        def body(i):
            loss = cell.add(cell.host_add(cell.weigh(x), 1.0), 0.0)
            cell.descend(gradients(loss, cell.variables()), 0.1)

        return loop(2, body)

    refused(
        wiring,
        "root.gradients: the host function cell._host_add lies between a differentiated variable and the loss",
    )


def test_a_host_function_in_a_loop_between_variable_and_loss(refused):
    def wiring(cell, other, counter, x):
        loss = loop(2, lambda i, v: cell.host_add(cell.weigh(v), 1.0), x)
        return cell.first(gradients(loss, cell.variables()))

    refused(
        wiring,
        "root.gradients: the host function cell._host_add lies between a differentiated variable and the loss",
    )


def test_a_host_function_cuts_a_slice_inside(refused):
    def wiring(cell, other, counter, x):
        def body(i):
            weighed = cell.weigh(x)
            cell.host_add(weighed, 1.0)
            cell.descend(gradients(cell.multiply(weighed, weighed), cell.variables()), 0.1)

        return loop(2, body)

    refused(
        wiring, "root.gradients: a host function is called between a differentiated variable and the loss"
    )


def test_a_write_between_forward_and_loss_inside(refused):
    def wiring(cell, other, counter, x):
        def body(i):
            weighed = cell.weigh(x)
            cell.write(x)
            cell.descend(gradients(cell.multiply(weighed, weighed), cell.variables()), 0.1)

        return loop(2, body)

    refused(
        wiring,
        "root.gradients: cell._write writes cell/w between cell._weigh, from which the loss is computed",
    )


@pytest.mark.parametrize("kind", ["loop", "branch"])
def test_through_a_region_that_writes_what_is_differentiated(refused, kind):
    def wiring(cell, other, counter, x):
        def body(v):
            cell.write(v)
            return cell.weigh(v)

        if kind == "loop":
            loss = loop(2, lambda i, v: body(v), x)
        else:
            loss = branch(cell.above(x, 0.0), lambda: body(x), lambda: x)
        return cell.first(gradients(loss, cell.variables()))

    refused(
        wiring,
        f"root.gradients: the loss comes out of root.{kind}, in which cell._weigh reads cell/w and cell._write writes "
        "it: write it after the derivative",
    )


def test_through_a_loop_that_writes_what_its_next_iteration_reads(refused):
    """Also where the derivative is not taken by it: torch would find its values changed."""

    def wiring(cell, other, counter, x):
        def body(i, v):
            weighed = cell.weigh(other.weigh(v))
            other.write(weighed)
            return weighed

        return cell.first(gradients(loop(2, body, x), cell.variables()))

    refused(
        wiring,
        "in which other._weigh reads other/w and other._write writes it: write it after the derivative",
    )


def test_a_loss_that_does_not_depend_on_the_variables(refused):
    def wiring(cell, other, counter, x):
        cell.weigh(x)
        loss = loop(2, lambda i, v: other.weigh(v), x)
        return cell.first(gradients(loss, cell.variables()))

    refused(wiring, "root.gradients: the loss does not depend on any of the variables")


# The build.


def test_a_failing_function_inside_is_reported_with_its_calls(refused):
    refused(
        lambda cell, other, counter, x: loop(2, lambda i, v: cell.add(v, i), x),
        "cell._add(x: float64[], y: int64[]) failed:",
    )


def test_a_part_that_is_not_there(refused):
    refused(
        lambda cell, other, counter, x: loop(2, lambda i, v: cell.add(v["b"], 1.0), {"a": x}["a"]),
        "there is no part 'b' of float64[]: it has no parts",
    )


class Late(Component):
    """Its graph function waits until the Space of the argument of `again` is known."""

    def create_variables(self, input_spaces, action_space=None):
        self.space = input_spaces["again.x"]

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return x + 1.0

    @rlgraph_api
    def again(self, x):
        return self._call(x)


def test_a_body_that_waits_for_itself(executor):
    late = Late(scope="late")
    with pytest.raises(BuildError) as caught:
        executor(lambda self, x: loop(2, lambda i, v: late.again(late.call(v)), x), late, x=NUMBER)
    message = str(caught.value)
    assert "late: argument x of again has no Space; it is supplied by output 0 of late._call" in message
    assert "break the cycle" in message


def test_a_body_that_waits_for_what_the_loop_starts_with(executor):
    late = Late(scope="late")
    with pytest.raises(BuildError) as caught:
        executor(lambda self, x: loop(2, lambda i, v: late.again(v), late.call(x)), late, x=NUMBER)
    assert "late: argument x of again has no Space; it is supplied by what root.loop carries" in str(
        caught.value
    )


def test_a_value_of_another_api_method():
    class Keeps(Component):
        @rlgraph_api
        def first(self, x):
            self.kept = self._call(x)
            return self.kept

        @rlgraph_api
        def second(self, x):
            return self._call(self.kept)

        @graph_fn
        def _call(self, ops, x):
            return x + 1.0

    with pytest.raises(
        BuildError, match=r"keeps._call: it uses a value of keeps._call .* in another API method"
    ):
        GraphExecutor(Keeps(scope="keeps"), {"x": NUMBER}, backend="numpy")
