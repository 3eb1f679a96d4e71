"""Variables that are read and written inside of loops and branches; snapshots of what shares their memory."""

import numpy as np
import pytest

from rlgraph.core import Component, branch, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

NUMBER, INTEGER = FloatBox(), IntBox()


def weight(made, name="cell/w"):
    return float(made.get_weights()[name])


def test_a_loop_that_only_writes(executor, counter, backend):
    def run(self, n):
        return loop(n, lambda i: counter.tick())

    made = executor(run, counter, backend=backend, n=INTEGER)
    assert made.execute("run", 3) is None
    made.execute("run", 0)
    made.execute("run", 2)
    assert made.get_weights()["counter/count"] == 5


def test_every_iteration_reads_what_the_one_before_has_written(executor, counter, cell, backend):
    def run(self):
        before = counter.see_count()

        def body(i, total):
            first = counter.see_count()
            counter.tick()
            second = counter.see_count()
            return cell.add(total, first), (first, second)

        total, seen = loop(3, body, before, collect=True)
        return before, total, seen, counter.see_count()

    made = executor(run, counter, cell, backend=backend)
    for start in (0, 3):
        before, total, seen, behind = made.execute("run")
        assert (before, behind) == (start, start + 3)
        assert seen[0].tolist() == [start, start + 1, start + 2]
        assert seen[1].tolist() == [start + 1, start + 2, start + 3]
        assert total == start + sum(seen[0])


def test_written_in_an_inner_loop_and_read_in_the_outer_one(executor, counter, backend):
    def run(self):
        def outer(i):
            loop(2, lambda j: counter.tick())
            return (), counter.see_count()

        return loop(3, outer, collect=True)[1]

    assert executor(run, counter, backend=backend).execute("run").tolist() == [2, 4, 6]


def test_a_variable_is_written_with_carried_values(executor, cell, backend):
    def run(self, x):
        def body(i, v):
            cell.write(v)
            return cell.weigh(v)  # the square

        left = loop(3, body, x)
        return left, cell.see()

    assert executor(run, cell, backend=backend, x=NUMBER).execute("run", 2.0) == (256.0, 16.0)


def test_variables_of_components_that_are_called_only_inside(executor, backend):
    class Late(Component):
        """Its variable takes its shape from what the loop hands it."""

        def create_variables(self, input_spaces, action_space=None):
            self.sum = self.get_variable("sum", FloatBox(shape=input_spaces["x"].shape))

        @rlgraph_api
        @graph_fn
        def call(self, ops, x):
            ops.assign_add(self.sum, x)
            return self.sum + 0.0

    late = Late(scope="late")

    def run(self, x):
        return loop(3, lambda i, v: late.call(v), x)

    made = executor(run, late, backend=backend, x=FloatBox(shape=(2,)))
    assert made.built.variables["late/sum"].shape == (2,)
    # sum, what goes round: 1, 1; 2, 2; 4, 4
    assert made.execute("run", [1.0, 10.0]).tolist() == [4.0, 40.0]


# Snapshots: what shares memory with a variable that is written.


@pytest.mark.parametrize("look", ["see", "view"])
def test_a_carried_value_that_began_as_a_variable(executor, cell, backend, look):
    def run(self, x):
        def body(i, v):
            cell.write(x)
            return v

        return loop(2, body, getattr(cell, look)())

    made = executor(run, cell, backend=backend, x=NUMBER)
    assert np.ravel(made.execute("run", 7.0)) == [1.0]
    assert weight(made) == 7.0


def test_a_loop_hands_out_a_variable_that_is_written_behind_it(executor, cell, backend):
    def run(self, x, n):
        left = loop(n, lambda i, v: v, cell.view())
        cell.write(x)
        return cell.add(left, 0.0), left

    made = executor(run, cell, backend=backend, x=NUMBER, n=INTEGER)
    assert made.execute("run", 7.0, 0) == ([1.0], [1.0])
    assert made.execute("run", 8.0, 2) == ([7.0], [7.0])


def test_the_memory_of_a_variable_never_leaves_through_a_region(executor, cell, backend):
    """Results of the first call must not change with the second."""

    def run(self, flag, x):
        vector = cell.reshape(x, (1,))
        seen = cell.view()
        return (
            loop(2, lambda i, v: v, seen),
            loop(2, lambda i, v: cell.view(), vector),
            loop(2, lambda i, v: seen, vector),
            loop(2, lambda i, v: (cell.view(), cell.view()), vector, collect=True),
            branch(flag, lambda: seen, lambda: vector),
            branch(flag, cell.view, lambda: vector),
        )

    made = executor(run, cell, backend=backend, flag=bool, x=NUMBER)
    results = made.execute("run", True, 7.0)
    made.set_weights({"cell/w": 5.0})
    assert np.ravel([*results[:3], results[3][0], *results[4:]]).tolist() == [1.0] * 6
    assert results[3][1].ravel().tolist() == [1.0, 1.0]


def test_a_view_from_outside_is_as_it_was_in_every_iteration(executor, cell, backend):
    def run(self, x):
        before = cell.view()

        def body(i, v):
            seen = cell.add(before, 0.0)
            cell.write(v)
            return cell.add(v, x), seen

        return loop(3, body, x, collect=True)[1]

    made = executor(run, cell, backend=backend, x=NUMBER)
    assert made.execute("run", 5.0).ravel().tolist() == [1.0, 1.0, 1.0]


def test_a_view_inside_is_as_it_was_before_the_write_behind_it(executor, cell, backend):
    def run(self, x):
        def body(i, v):
            before = cell.view()
            cell.write(v)
            return cell.add(v, x), cell.add(before, 0.0)

        return loop(3, body, x, collect=True)[1]

    made = executor(run, cell, backend=backend, x=NUMBER)
    assert made.execute("run", 5.0).ravel().tolist() == [1.0, 5.0, 10.0]


def test_the_last_value_is_carried_on(executor, cell, backend):
    """The value a variable had in the iteration before: a view must not follow the variable."""

    def run(self, x):
        def body(i, previous):
            now = cell.view()
            cell.write(cell.add(cell.see(), x))
            return now, previous

        return loop(4, body, cell.reshape(x, (1,)), collect=True)

    made = executor(run, cell, backend=backend, x=NUMBER)
    last, previous = made.execute("run", 0.5)
    assert last == [2.5]
    assert previous.ravel().tolist() == [0.5, 1.0, 1.5, 2.0]


def test_a_view_over_a_branch_that_writes(executor, cell, backend):
    def run(self, flag, x):
        before = cell.view()
        after = branch(flag, lambda: (cell.write(x), cell.view())[1], lambda: before)
        cell.write(0.0)
        return cell.add(before, 0.0), cell.add(after, 0.0)

    made = executor(run, cell, backend=backend, flag=bool, x=NUMBER)
    assert [float(x[0]) for x in made.execute("run", True, 7.0)] == [1.0, 7.0]
    assert [float(x[0]) for x in made.execute("run", False, 7.0)] == [0.0, 0.0]


def test_writes_stay_when_a_method_runs_again(executor, counter, backend):
    def run(self):
        return loop(2, lambda i, v: (counter.tick(), counter.see_count())[1], 0)

    made = executor(run, counter, backend=backend)
    results = [made.execute("run") for _ in range(3)]
    assert [int(x) for x in results] == [2, 4, 6]
    made.set_weights({"counter/count": 10})
    assert made.execute("run") == 12
