"""Loops and branches as TensorFlow runs them: one `tf.while_loop` or `tf.cond`, and what they read and write."""

import pytest

from rlgraph.core import Component, GraphExecutor, branch, gradients, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox


class Weight(Component):
    """One trainable number."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=3.0)

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def weigh(self, ops, x):
        return x * self.w

    @rlgraph_api(must_be_complete=False)
    @graph_fn(returns=0)
    def set(self, ops, x):
        ops.assign(self.w, x)

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def is_above(self, ops, x, limit):
        return x > limit

    @rlgraph_api(must_be_complete=False)
    def derivative(self, loss):
        return self._derivative(gradients(loss, self.variables()))

    @graph_fn
    def _derivative(self, ops, derivatives):
        return ops.sum(derivatives[0])


def executor(wiring):
    """A root ``run(self, x, n)`` made of ``wiring(a, b, x, n)``; the weights of `a` and `b` share a buffer."""
    a, b = Weight(scope="a"), Weight(scope="b")

    class Root(Component):
        @rlgraph_api
        def run(self, x, n):
            return wiring(a, b, x, n)

    spaces = {"x": FloatBox(), "n": IntBox()}
    made = GraphExecutor(Root(a, b, scope="root"), spaces, backend="tf", execution_spec={"dtype": "float64"})
    assert len(made.built.layout.groups) == 1
    return made


def operations(made):
    """Types of all operations of the one segment, those of inner functions by their function."""
    (segment,) = made.plan("run").segments
    concrete = made.backend.trace(made.plan("run"), segment, made.storage)
    return [operation.type for operation in concrete.graph.get_operations()]


def test_a_derivative_through_a_loop_that_writes_beside_what_it_reads():
    """What is not written inside is the value from outside, though it lies in the same buffer."""

    def wiring(a, b, x, n):
        def body(i, v):
            b.set(v)
            return a.weigh(v)

        loss = loop(n, body, x)
        return loss, a.derivative(loss), b.weigh(1.0)

    made = executor(wiring)
    assert made.execute("run", 2.0, 3) == pytest.approx((54.0, 2.0 * 3 * 9.0, 18.0))
    assert made.execute("run", 2.0, 0) == pytest.approx((2.0, 0.0, 18.0))


def test_a_derivative_through_a_branch_that_writes_beside_what_it_reads():
    def wiring(a, b, x, n):
        def body(i, v):
            return branch(b.is_above(v, 5.0), lambda: (b.set(v), a.weigh(v))[1], lambda: a.weigh(a.weigh(v)))

        loss = loop(n, body, x)
        return loss, a.derivative(loss), b.weigh(1.0)

    made = executor(wiring)
    assert made.execute("run", 2.0, 1) == pytest.approx((18.0, 12.0, 3.0))
    assert made.execute("run", 2.0, 2) == pytest.approx((54.0, 54.0, 18.0))


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_one_operation_each():
    def wiring(a, b, x, n):
        return loop(1000, lambda i, v: a.weigh(v), x), loop(n, lambda i: ((), x), collect=True)[1]

    types = operations(executor(wiring))
    assert len([kind for kind in types if kind in ("While", "StatelessWhile")]) == 2
    assert len(types) < 60


def test_reads_and_writes_around_and_inside():
    """A write drops what was read of the written variable, and of no other."""

    def wiring(a, b, x, n):
        before = a.weigh(1.0), b.weigh(1.0)
        b.set(x)
        between = a.weigh(1.0), b.weigh(1.0)

        def body(i):
            first = a.weigh(1.0), b.weigh(1.0)
            a.set(b.weigh(2.0))
            return (), (first, (a.weigh(1.0), b.weigh(1.0)))

        inside = loop(n, body, collect=True)[1]
        return before, between, inside, (a.weigh(1.0), b.weigh(1.0))

    made = executor(wiring)
    before, between, inside, behind = made.execute("run", 5.0, 2)
    assert before == (3.0, 3.0)
    assert between == (3.0, 5.0)
    (first_a, first_b), (then_a, then_b) = inside
    assert [x.tolist() for x in (first_a, first_b)] == [[3.0, 10.0], [5.0, 5.0]]
    assert [x.tolist() for x in (then_a, then_b)] == [[10.0, 10.0], [5.0, 5.0]]
    assert behind == (10.0, 5.0)
