"""Branches, executed on every backend."""

import numpy as np
import pytest

from rlgraph.core import branch, loop
from rlgraph.spaces import Dict, FloatBox, IntBox

NUMBER, INTEGER = FloatBox(), IntBox()
BATCH = FloatBox(shape=(2,), add_batch_rank=True)


def test_the_side_that_runs(executor, cell, backend):
    def run(self, flag, x):
        return branch(flag, lambda: cell.add(x, x), lambda: cell.multiply(x, x))

    made = executor(run, cell, backend=backend, flag=bool, x=NUMBER)
    assert [float(made.execute("run", flag, 3.0)) for flag in (True, False)] == [6.0, 9.0]


def test_a_predicate_that_is_computed(executor, cell, backend):
    def run(self, x):
        return branch(cell.above(x, 1.0), lambda: x, lambda: cell.add(x, 10.0))

    made = executor(run, cell, backend=backend, x=NUMBER)
    assert [float(made.execute("run", x)) for x in (2.0, 1.0)] == [2.0, 11.0]


def test_arguments_are_handed_to_both_sides(executor, cell, backend):
    def run(self, flag, x):
        return branch(flag, cell.add, cell.multiply, x, 4.0)

    made = executor(run, cell, backend=backend, flag=bool, x=NUMBER)
    assert [float(made.execute("run", flag, 3.0)) for flag in (True, False)] == [7.0, 12.0]


def test_writes_on_one_side_only(executor, counter, backend):
    def run(self, flag):
        branch(flag, counter.tick, lambda: None)
        return counter.see_count()

    made = executor(run, counter, backend=backend, flag=bool)
    assert [int(made.execute("run", flag)) for flag in (True, False, False, True)] == [1, 1, 1, 2]


def test_nothing_comes_out_of_a_branch_that_only_writes(executor, counter, cell, backend):
    def run(self, flag, x):
        nothing = branch(flag, lambda: cell.write(x), counter.tick)
        assert nothing == ()
        return nothing

    made = executor(run, counter, cell, backend=backend, flag=bool, x=NUMBER)
    assert made.execute("run", True, 5.0) is None
    assert made.execute("run", False, 6.0) is None
    assert {name: float(x) for name, x in made.get_weights().items()} == {"cell/w": 5.0, "counter/count": 1}


def test_containers_literals_and_numbers(executor, cell, backend):
    def run(self, flag, x):
        found = branch(
            flag,
            lambda: {"pair": (x["a"], 1), "number": 0.5},
            lambda: {"number": x["a"], "pair": (cell.add(x["a"], 1.0), 2)},
        )
        first, second = found["pair"]  # what both sides give can be unpacked
        return first, second, found["number"]

    made = executor(run, cell, backend=backend, flag=bool, x=Dict(a=NUMBER))
    assert made.execute("run", True, {"a": 3.0}) == (3.0, 1, 0.5)
    assert made.execute("run", False, {"a": 3.0}) == (4.0, 2, 3.0)


def test_a_container_that_arrives_whole(executor, cell, backend):
    def run(self, flag, x, y):
        return branch(flag, lambda: x, lambda: {"a": y["a"], "b": cell.add(y["b"], 1)})["b"]

    space = Dict(a=NUMBER, b=INTEGER)
    made = executor(run, cell, backend=backend, flag=bool, x=space, y=space)
    arguments = ({"a": 0.0, "b": 1}, {"a": 0.0, "b": 2})
    assert [int(made.execute("run", flag, *arguments)) for flag in (True, False)] == [1, 3]


def test_batches_of_any_size(executor, cell, backend):
    def run(self, flag, x):
        return branch(flag, lambda: cell.add(x, x), lambda: x)

    made = executor(run, cell, backend=backend, flag=bool, x=BATCH)
    for size in (1, 3):
        assert made.execute("run", True, np.ones((size, 2))).tolist() == [[2.0, 2.0]] * size


def test_a_branch_in_a_branch(executor, cell, backend):
    def run(self, one, two, x):
        return branch(
            one,
            lambda: branch(two, lambda: cell.add(x, 1.0), lambda: cell.add(x, 2.0)),
            lambda: branch(two, lambda: cell.add(x, 3.0), lambda: x),
        )

    made = executor(run, cell, backend=backend, one=bool, two=bool, x=NUMBER)
    flags = [(True, True), (True, False), (False, True), (False, False)]
    assert [float(made.execute("run", *pair, 0.0)) for pair in flags] == [1.0, 2.0, 3.0, 0.0]


def test_a_branch_in_a_loop(executor, cell, counter, backend):
    """The sum of those above the limit, and how many there were."""

    def run(self, limit):
        def body(i, total):
            number = cell.to_float(i)

            def taken():
                counter.tick()
                return cell.add(total, number)

            return branch(cell.above(number, limit), taken, lambda: total)

        total = loop(6, body, 0.0)
        return total, counter.see_count()

    made = executor(run, cell, counter, backend=backend, limit=NUMBER)
    assert made.execute("run", 2.5) == (3 + 4 + 5, 3)
    assert made.execute("run", 9.0) == (0, 3)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_loop_in_a_branch(executor, cell, counter, backend, n):
    def run(self, flag, n, x):
        def often():
            return loop(n, lambda i, v: (counter.tick(), cell.add(v, v))[1], x)

        return branch(flag, often, lambda: x), counter.see_count()

    made = executor(run, cell, counter, backend=backend, flag=bool, n=INTEGER, x=NUMBER)
    assert made.execute("run", False, n, 3.0) == (3.0, 0)
    assert made.execute("run", True, n, 3.0) == (3.0 * 2**n, n)


def test_both_sides_read_what_stood_before(executor, cell, backend):
    """A write of the one side is not seen by the other, which is traced behind it."""

    def run(self, flag, x):
        before = cell.see()

        def writes():
            cell.write(x)
            return cell.see()

        inside = branch(flag, writes, cell.see)
        return before, inside, cell.see()

    made = executor(run, cell, backend=backend, flag=bool, x=NUMBER)
    assert made.execute("run", False, 7.0) == (1.0, 1.0, 1.0)
    assert made.execute("run", True, 7.0) == (1.0, 7.0, 7.0)


def test_sizes_that_only_run_time_knows_must_be_known_to_be_equal(executor, cell, backend):
    def run(self, flag, x):
        return branch(flag, lambda: cell.reshape(x, (-1,)), lambda: cell.reshape(cell.add(x, x), (-1,)))

    made = executor(run, cell, backend=backend, flag=bool, x=BATCH)
    assert made.execute("run", False, np.ones((2, 2))).tolist() == [2.0] * 4


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_bounds_hold_where_both_sides_have_them(executor, cell):
    def run(self, flag, x, y):
        return branch(flag, lambda: x, lambda: x), branch(flag, lambda: x, lambda: y)

    built = executor(run, cell, flag=bool, x=IntBox(5), y=IntBox(7)).built
    same, different = built.value_of(built.graph.results_of("run"))
    assert (same.low, same.high) == (0, 5)
    assert (different.low, different.high) == (0, 7)


def test_the_bounds_of_the_result_are_those_of_both_sides(executor):
    def run(self, flag, a, b, c):
        return branch(flag, lambda: (a, {"c": c}), lambda: (b, {"c": a}))

    space = {"a": IntBox(2, 5), "b": IntBox(1, 4), "c": IntBox(3, None)}
    built = executor(run, flag=bool, **space).built
    first, second = built.value_of(built.graph.results_of("run"))
    assert [(each.low, each.high) for each in (first, second["c"])] == [(1, 5), (2, None)]
