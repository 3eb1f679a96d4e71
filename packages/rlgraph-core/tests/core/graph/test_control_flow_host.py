"""Loops and branches around host functions: they run in Python, between the segments of a backend."""

import numpy as np
import pytest

from rlgraph.core import Component, InputError, branch, graph_fn, loop, rlgraph_api
from rlgraph.core.graph.plan import BranchStep, HostStep, LoopStep, Segment
from rlgraph.spaces import Dict, FloatBox, IntBox

NUMBER, INTEGER = FloatBox(), IntBox()


def kinds(steps):
    """The steps of a plan, nested as they run."""
    names = {HostStep: "host", Segment: "segment"}
    shown = []
    for step in steps:
        if isinstance(step, LoopStep):
            shown.append(["loop", *kinds(step.steps)])
        elif isinstance(step, BranchStep):
            shown.append(["branch", kinds(step.then), kinds(step.otherwise)])
        else:
            shown.append(names[type(step)])
    return shown


def test_one_reused_buffer_collected(executor, counter, backend):
    """The host function returns the same array each time: [1, 2, 3], not [3, 3, 3]."""

    def run(self):
        return loop(3, lambda i: ((), counter.host_number()), collect=True)[1]

    made = executor(run, counter, backend=backend)
    first = made.execute("run")
    assert first.tolist() == [1, 2, 3]
    assert made.execute("run").tolist() == [4, 5, 6]
    assert first.tolist() == [1, 2, 3]


def test_one_reused_buffer_carried(executor, counter, cell, backend):
    def run(self):
        before = counter.host_number()

        def body(i, previous):
            now = counter.host_number()
            return now, (previous, cell.add(previous, now))

        return before, loop(3, body, before, collect=True)

    made = executor(run, counter, cell, backend=backend)
    before, (last, (previous, sums)) = made.execute("run")
    counter_again = made.execute("run")[0]
    assert (before, last, counter_again) == (1, 4, 5)
    assert previous.tolist() == [1, 2, 3]
    assert sums.tolist() == [3, 5, 7]


def test_one_reused_buffer_out_of_a_branch(executor, counter, backend):
    def run(self, flag):
        one = branch(flag, counter.host_number, lambda: 0)
        two = branch(flag, counter.host_number, lambda: 0)
        return one, two

    made = executor(run, counter, backend=backend, flag=bool)
    assert made.execute("run", True) == (1, 2)
    assert made.execute("run", False) == (0, 0)
    assert made.execute("run", True) == (3, 4)


def test_an_environment_in_a_loop(executor, backend, cell):
    """State goes to the host and back in every iteration, tensors are computed in between."""

    class Environment(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.position = self.get_variable("position", FloatBox(shape=(2,)), host=True)

        @rlgraph_api(must_be_complete=False)
        @graph_fn(host=True, spaces=Dict(state=FloatBox(shape=(2,)), reward=NUMBER))
        def step(self, action):
            self.position += action
            return {"state": self.position, "reward": self.position.sum()}

    environment = Environment(scope="environment")

    def run(self, n, state):
        def body(i, state):
            made = environment.step(cell.add(cell.weigh(state), 1.0))
            return made["state"], {"state": state, "reward": made["reward"]}

        return loop(n, body, state, collect=True)

    spaces = {"n": INTEGER, "state": FloatBox(shape=(2,))}
    made = executor(run, environment, cell, backend=backend, **spaces)
    last, records = made.execute("run", 3, np.array([0.0, 1.0]))
    # action = state + 1, position += action
    states = [[0.0, 1.0], [1.0, 2.0], [3.0, 5.0]]
    assert records["state"].tolist() == states
    assert records["reward"].tolist() == [3.0, 8.0, 18.0]
    assert last.tolist() == [7.0, 11.0]
    assert kinds(made.plan("run").steps) == [["loop", "segment", "host"]]


def test_host_calls_and_variables_stay_in_order(executor, cell, backend):
    """What the host adds up is in the variable that the next iteration reads."""

    def run(self, x):
        def body(i, v):
            now = cell.host_add(cell.see(), v)
            cell.write(now)
            return cell.add(v, 1.0), cell.see()

        return loop(3, body, x, collect=True)

    # w: 1 -> 1 + 10 -> + 11 -> + 12
    last, seen = executor(run, cell, backend=backend, x=NUMBER).execute("run", 10.0)
    assert last == 13.0
    assert seen.tolist() == [11.0, 22.0, 34.0]


@pytest.mark.parametrize(("limit", "expected"), [(3.0, 4.0), (99.0, 32.0)])
def test_until_with_a_host_function(executor, cell, backend, limit, expected):
    def run(self, n, limit):
        return loop(n, lambda i, v: cell.host_add(v, v), 1.0, until=lambda v: cell.above(v, limit))

    made = executor(run, cell, backend=backend, n=INTEGER, limit=NUMBER)
    assert made.execute("run", 5, limit) == expected


def test_an_input_decides_when_a_host_loop_ends(executor, counter, backend):
    def run(self, stop):
        return loop(3, lambda i, v: counter.host_number(), 0, until=lambda v: stop)

    made = executor(run, counter, backend=backend, stop=bool)
    assert made.execute("run", True) == 1
    assert made.execute("run", False) == 4


def test_a_host_loop_without_iterations(executor, counter, backend):
    def run(self, n, x):
        return loop(n, lambda i, v: counter.host_number(), x)

    made = executor(run, counter, backend=backend, n=INTEGER, x=INTEGER)
    assert made.execute("run", 0, 5) == 5


def test_a_collecting_host_loop_without_iterations(executor, counter, backend):
    def run(self, n):
        return loop(n, lambda i: ((), counter.host_number()), collect=True)[1]

    made = executor(run, counter, backend=backend, n=INTEGER)
    with pytest.raises(InputError, match="root.loop: it collects, and its count is below 1"):
        made.execute("run", 0)
    assert made.execute("run", 1).tolist() == [1]


def test_nested_host_loops_with_the_numbers_of_both(executor, cell, backend):
    def run(self):
        def outer(i):
            def inner(j, v):
                number = cell.to_float(cell.add(cell.multiply(i, 10), j))
                return cell.host_add(v, number), number

            return (), loop(2, inner, 0.0, collect=True)

        return loop(2, outer, collect=True)[1]

    sums, numbers = executor(run, cell, backend=backend).execute("run")
    assert sums.tolist() == [1.0, 21.0]
    assert numbers.tolist() == [[0.0, 1.0], [10.0, 11.0]]


def test_a_host_branch_in_a_host_loop(executor, cell, counter, backend):
    def run(self, limit):
        def body(i, total):
            def taken():
                return cell.add(total, counter.host_number())

            return branch(cell.above(i, limit), taken, lambda: total)

        return loop(5, body, 0)

    made = executor(run, cell, counter, backend=backend, limit=INTEGER)
    assert made.execute("run", 2) == 1 + 2
    assert kinds(made.plan("run").steps) == [["loop", "segment", ["branch", ["host", "segment"], []]]]


def test_a_pure_loop_stays_within_a_segment(executor, cell, backend):
    def run(self, x):
        doubled = loop(3, lambda i, v: cell.add(v, v), x)
        return cell.host_add(doubled, 1.0), branch(cell.above(x, 0.0), lambda: doubled, lambda: x)

    made = executor(run, cell, backend=backend, x=NUMBER)
    assert made.execute("run", 1.0) == (9.0, 8.0)
    assert kinds(made.plan("run").steps) == ["segment", "host", "segment"]


def test_variables_do_not_leave_through_a_host_loop_or_branch(executor, cell, counter, backend):
    """A view of a variable goes round a host loop and is handed out: it must not change later."""

    def run(self, flag):
        view = cell.view()

        def body(i, v):
            counter.host_number()
            return v

        def then():
            counter.host_number()
            return view

        return loop(2, body, view), branch(flag, then, lambda: view)

    made = executor(run, cell, counter, backend=backend, flag=bool)
    for flag in (True, False):
        results = made.execute("run", flag)
        made.set_weights({"cell/w": 7.0})
        assert results == ([1.0], [1.0])
        made.set_weights({"cell/w": 1.0})
