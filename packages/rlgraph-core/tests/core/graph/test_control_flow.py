"""Loops, executed on every backend; each against a Python loop or numbers worked out by hand."""

import numpy as np
import pytest

from rlgraph.components import Reshape
from rlgraph.core import loop
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, Tuple

NUMBER, INTEGER = FloatBox(), IntBox()
BATCH = FloatBox(shape=(2,), add_batch_rank=True)


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# Counts, the number of the iteration, carried values.


def test_a_fixed_count(executor, cell, backend):
    def run(self, x):
        return loop(4, lambda i, v: cell.add(v, v), x)

    same(executor(run, cell, backend=backend, x=NUMBER).execute("run", 3.0), 48.0)


def test_a_count_that_run_time_knows(executor, cell, backend):
    def run(self, n, x):
        return loop(n, lambda i, v: cell.add(v, v), x)

    made = executor(run, cell, backend=backend, n=INTEGER, x=NUMBER)
    assert [float(made.execute("run", n, 3.0)) for n in (1, 4, 0, -2)] == [6.0, 48.0, 3.0, 3.0]


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_a_count_of_another_integer_type(executor, cell, backend, dtype):
    def run(self, n):
        return loop(n, lambda i, v: cell.add(v, 1.5), 0.0)

    made = executor(run, cell, backend=backend, n=IntBox(10, dtype=dtype))
    same(made.execute("run", np.array(3, dtype)), 4.5)


def test_a_count_that_is_computed(executor, cell, backend):
    def run(self, n, x):
        return loop(cell.multiply(n, n), lambda i, v: cell.add(v, 1.0), x)

    same(executor(run, cell, backend=backend, n=INTEGER, x=NUMBER).execute("run", 3, 0.5), 9.5)


def test_the_number_of_the_iteration_begins_with_zero(executor, cell, backend):
    def run(self, x):
        return loop(4, lambda i, v: cell.add(cell.add(v, v), cell.to_float(i)), x)

    expected = 1.0
    for i in range(4):
        expected = 2 * expected + i
    same(executor(run, cell, backend=backend, x=NUMBER).execute("run", 1.0), expected)


def test_carried_python_numbers(executor, cell, backend):
    """Whole numbers become int64, others the execution's float, truth values bool."""

    def run(self, x):
        def body(i, number, whole, flag):
            return cell.add(number, x), cell.add(whole, i), cell.above(number, 1.0)

        return loop(3, body, 0.5, 10, False)

    made = executor(run, cell, backend=backend, dtype="float32", x=NUMBER)
    number, whole, flag = made.execute("run", np.float32(0.5))
    assert (number, whole, flag) == (2.0, 13, True)
    assert [np.asarray(x).dtype for x in (number, whole, flag)] == ["float32", "int64", "bool"]


def test_a_body_may_hand_on_numbers(executor, backend):
    def run(self, x):
        return loop(2, lambda i, number, index: (5.0, i), x, 7)

    assert executor(run, backend=backend, x=NUMBER).execute("run", 1.0) == (5.0, 1)


def test_a_carried_value_that_no_iteration_changes(executor, cell, backend):
    def run(self, x, y):
        return loop(3, lambda i, a, b: (a, cell.add(a, b)), x, y)

    assert executor(run, cell, backend=backend, x=NUMBER, y=NUMBER).execute("run", 2.0, 1.0) == (2.0, 7.0)


def test_carried_values_change_all_at_once(executor, cell, backend):
    """Fibonacci: what the body says of carried values it says of the old ones."""

    def run(self):
        return loop(10, lambda i, a, b: (b, cell.add(a, b)), 0, 1)

    assert executor(run, cell, backend=backend).execute("run") == (55, 89)


def test_carried_values_that_change_places(executor, backend):
    def run(self, x, y):
        return loop(3, lambda i, a, b: (b, a), x, y)

    assert executor(run, backend=backend, x=NUMBER, y=NUMBER).execute("run", 1.0, 2.0) == (2.0, 1.0)


def test_carried_batches_of_any_size(executor, cell, backend):
    def run(self, x):
        return loop(3, lambda i, v: cell.add(v, x), x)

    made = executor(run, cell, backend=backend, x=BATCH)
    for size in (1, 5):
        x = np.arange(2.0 * size).reshape(size, 2)
        same(made.execute("run", x), 4 * x)


# Containers.


def test_a_carried_container_of_the_input(executor, cell, backend):
    def run(self, x):
        def body(i, state):
            a, b = state["a"], state["b"]
            return {"a": cell.add(a, 1.0), "b": (cell.add(b[0], a), b[1])}

        return loop(3, body, x)

    space = Dict(a=NUMBER, b=Tuple(NUMBER, INTEGER))
    found = executor(run, cell, backend=backend, x=space).execute("run", {"a": 1.0, "b": (0.0, 7)})
    assert found == {"a": 4.0, "b": (6.0, 7)}


def test_a_carried_literal_can_be_unpacked(executor, cell, backend):
    def run(self, x):
        def body(i, pair, named):
            first, second = pair
            return (second, cell.add(first, second)), {**named, "b": cell.add(named["b"], first)}

        pair, named = loop(4, body, (x, 1.0), {"b": 0.0, "a": x})
        first, second = pair
        return cell.add(first, second), named["b"], named["a"]

    # Pairs (2,1), (1,3), (3,4), (4,7), (7,11); the sum of the first ones is 2 + 1 + 3 + 4.
    assert executor(run, cell, backend=backend, x=NUMBER).execute("run", 2.0) == (18.0, 10.0, 2.0)


# Nesting, sequence, surroundings.


def test_nested_loops(executor, cell, backend):
    """An inner loop sees the numbers and carried values of the outer one."""

    def run(self, x):
        def outer(i, total):
            def inner(j, total, product):
                product = cell.add(cell.multiply(i, 10), j)
                return cell.add(total, cell.multiply(cell.to_float(product), x)), product

            return loop(3, inner, total, 0)[0]

        return loop(2, outer, 0.0)

    same(executor(run, cell, backend=backend, x=NUMBER).execute("run", 2.0), 2.0 * (0 + 1 + 2 + 10 + 11 + 12))


def test_an_inner_loop_as_often_as_the_outer_number_says(executor, cell, backend):
    def run(self, n):
        return loop(n, lambda i, t: loop(i, lambda j, t: cell.add(t, 1), t), 0)

    made = executor(run, cell, backend=backend, n=INTEGER)
    assert [int(made.execute("run", n)) for n in (0, 1, 5)] == [0, 0, 10]


def test_two_loops_one_after_the_other(executor, cell, backend):
    def run(self, x):
        once = loop(2, lambda i, v: cell.add(v, 1.0), x)
        twice = loop(3, lambda i, v: cell.multiply(v, once), once)
        return once, twice

    assert executor(run, cell, backend=backend, x=NUMBER).execute("run", 0.0) == (2.0, 16.0)


def test_values_of_the_surroundings(executor, cell, backend):
    def run(self, x, parts):
        double = cell.add(x, x)
        return loop(3, lambda i, v: cell.add(v, cell.multiply(double, parts["a"])), 0.0)

    made = executor(run, cell, backend=backend, x=NUMBER, parts=Dict(a=NUMBER))
    same(made.execute("run", 2.0, {"a": 5.0}), 60.0)


def test_an_api_method_with_a_loop_is_called_within_a_loop(executor, backend, cell):
    def power(cell, x, n):
        return loop(n, lambda i, v: cell.multiply(v, x), 1.0)

    def run(self, x):
        return loop(2, lambda i, v: cell.add(power(cell, v, 3), power(cell, x, 2)), x)

    # 2 -> 8 + 4 -> 1728 + 4
    same(executor(run, cell, backend=backend, x=NUMBER).execute("run", 2.0), 1732.0)


# until


@pytest.mark.parametrize(("limit", "expected"), [(5.0, 8.0), (1e9, 64.0), (0.0, 2.0)])
def test_until(executor, cell, backend, limit, expected):
    """Doubling 1 at most six times: stops early, never, or with the first iteration, which is always run."""

    def run(self, limit):
        return loop(6, lambda i, v: cell.add(v, v), 1.0, until=lambda v: cell.above(v, limit))

    same(executor(run, cell, backend=backend, limit=NUMBER).execute("run", limit), expected)


def test_until_looks_at_all_new_values(executor, cell, backend):
    def run(self, n):
        def body(i, a, b):
            return cell.add(a, 1), cell.add(b, a)

        return loop(n, body, 0, 0, until=lambda a, b: cell.above(b, a))

    # (1,0) (2,1) (3,3) (4,6): 6 > 4
    made = executor(run, cell, backend=backend, n=INTEGER)
    assert made.execute("run", 100) == (4, 6)
    assert made.execute("run", 2) == (2, 1)
    assert made.execute("run", 0) == (0, 0)


def test_until_a_value_that_was_another_one_before(executor, cell, backend):
    def run(self):
        def body(i, v, now, next_time):
            return cell.add(v, 1), next_time, True

        return loop(5, body, 0, False, False, until=lambda v, now, next_time: now)[0]

    assert executor(run, cell, backend=backend).execute("run") == 2


def test_until_an_input_says_so(executor, cell, backend):
    def run(self, stop):
        return loop(3, lambda i, v: cell.add(v, 1), 0, until=lambda v: stop)

    made = executor(run, cell, backend=backend, stop=bool)
    assert [int(made.execute("run", stop)) for stop in (True, False)] == [1, 3]


def test_until_of_an_inner_loop_ends_that_one(executor, cell, backend):
    def run(self):
        def outer(i, total):
            inner = loop(5, lambda j, v: cell.add(v, 1), 0, until=lambda v: cell.above(v, i))
            return cell.add(total, inner)

        return loop(3, outer, 0)

    assert executor(run, cell, backend=backend).execute("run") == 1 + 2 + 3


# collect


def test_collect(executor, cell, backend):
    """A value is collected before the carried ones change."""

    def run(self, x):
        return loop(3, lambda i, v: (cell.add(v, v), v), x, collect=True)

    left, collected = executor(run, cell, backend=backend, x=NUMBER).execute("run", 1.0)
    same(left, 8.0)
    same(collected, [1.0, 2.0, 4.0])


def test_collected_containers_with_the_number(executor, cell, backend):
    def run(self, x):
        def body(i, v):
            return cell.add(v, x), {"at": i, "parts": (v, 0.5, True)}

        return loop(2, body, x, collect=True)[1]

    found = executor(run, cell, backend=backend, x=BATCH).execute("run", [[1.0, 2.0]])
    assert found["at"].tolist() == [0, 1]
    value, constant, flag = found["parts"]
    assert value.tolist() == [[[1.0, 2.0]], [[2.0, 4.0]]]
    assert constant.tolist() == [0.5, 0.5]
    assert (flag.dtype, flag.tolist()) == ("bool", [True, True])


def test_collect_without_carried_values(executor, cell, backend):
    def run(self, n):
        nothing, squares = loop(n, lambda i: ((), cell.multiply(i, i)), collect=True)
        assert nothing == ()
        return squares

    made = executor(run, cell, backend=backend, n=INTEGER)
    assert made.execute("run", 4).tolist() == [0, 1, 4, 9]


def test_collections_of_nested_loops(executor, cell, backend):
    def run(self):
        def row(i):
            return None, loop(3, lambda j: (None, cell.add(cell.multiply(i, 10), j)), collect=True)[1]

        return loop(2, row, collect=True)[1]

    assert executor(run, cell, backend=backend).execute("run").tolist() == [[0, 1, 2], [10, 11, 12]]


def test_a_collection_is_used_further_on(executor, cell, backend):
    def run(self, x):
        _, collected = loop(4, lambda i: ((), cell.add(x, cell.to_float(i))), collect=True)
        return cell.total(collected)

    same(executor(run, cell, backend=backend, x=NUMBER).execute("run", 1.0), 10.0)


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_the_leading_size_of_a_collection(executor, cell):
    """Fixed for a number, a fresh unknown for a symbol."""

    def run(self, n, x):
        return tuple(loop(count, lambda i: ((), x), collect=True)[1] for count in (5, n, n))

    built = executor(run, cell, n=INTEGER, x=BATCH).built
    fixed, one, two = built.value_of(built.graph.results_of("run"))
    assert repr(fixed) == "float64[5, B, 2]"
    assert len(one.shape) == 3
    assert one.shape[1:] == two.shape[1:] == fixed.shape[1:]
    assert len({one.shape[0], two.shape[0], fixed.shape[1], 5}) == 4


@pytest.mark.parametrize("count", [0, -1])
def test_a_collecting_loop_that_would_not_run(executor, cell, backend, count):
    def run(self, n, x):
        return loop(n, lambda i: ((), cell.add(x, x)), collect=True)[1]

    made = executor(run, cell, backend=backend, n=INTEGER, x=NUMBER)
    # The error is the backend's own where only its program can know.
    with pytest.raises(Exception, match="collects, and its count is below 1: there must be at least one"):
        made.execute("run", count, 1.0)


def test_bounds_of_the_first_values_need_not_hold_later(executor, cell):
    def run(self, x):
        return loop(3, lambda i, v: cell.add(v, i), x)

    built = executor(run, cell, x=IntBox(5)).built
    left = built.value_of(built.graph.results_of("run"))
    assert (left.low, left.high) == (None, None)


def bounds(built):
    return [(left.low, left.high) for left in built.value_of(built.graph.results_of("run"))]


def test_what_is_carried_keeps_the_bounds_that_the_body_keeps(executor, cell):
    def run(self, kept, grown, small):
        return loop(3, lambda i, a, b, c: (c, cell.add(b, i), c), kept, grown, small)

    built = executor(run, cell, kept=IntBox(5), grown=IntBox(5), small=IntBox(1, 3)).built
    assert bounds(built) == [(0, 5), (None, None), (1, 3)]


def test_bounds_that_one_value_hands_to_another(executor):
    """The second sweep finds that the smaller value is wider than it was, the third that the larger one is so, too."""

    def run(self, a, b):
        return loop(3, lambda i, a, b: loop(2, lambda i, a, b: (b, a), a, b), a, b)

    assert bounds(executor(run, a=IntBox(5), b=IntBox(3)).built) == [(None, None), (None, None)]


@pytest.mark.parametrize("grows", [False, True])
def test_categories_that_are_carried(executor, cell, grows):
    """Layers inside of a loop see the categories, unless the body leaves them."""
    one_hot = Reshape(flatten_categories=True, scope="one-hot")

    def run(self, x):
        def body(i, v):
            return (cell.add(v, i) if grows else v), one_hot.call(v)

        return loop(2, body, x, collect=True)[1]

    space = IntBox(4, add_batch_rank=True)
    if grows:
        with pytest.raises(SpaceError, match=r"one-hot.*categor"):
            executor(run, cell, one_hot, x=space)
    else:
        found = executor(run, one_hot, x=space).execute("run", np.array([1, 3]))
        np.testing.assert_array_equal(found, np.tile(np.eye(4)[[1, 3]], (2, 1, 1)))


def test_the_number_of_an_iteration_is_below_the_count(executor, cell):
    """A table with one row per iteration can be looked up with it."""

    def run(self, n):
        return tuple(loop(count, lambda i: ((), i), collect=True)[1] for count in (4, n))

    built = executor(run, n=INTEGER).built
    fixed, unknown = built.value_of(built.graph.results_of("run"))
    assert (fixed.low, fixed.high) == (0, 4)
    assert (unknown.low, unknown.high) == (0, None)
