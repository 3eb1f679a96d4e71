import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.components import PrioritizedReplay
from rlgraph.core import Component, NumericalError, RLGraphError, SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

RECORDS = Dict(number=IntBox(), state=FloatBox(shape=(2,)), add_batch_rank=True)
SPACES = {
    "records": RECORDS,
    "num_records": IntBox(),
    "time_percentage": FloatBox(),
    "indices": IntBox(add_batch_rank=True),
    "errors": FloatBox(add_batch_rank=True),
}


def memory(capacity, backend="numpy", seed=10, **options):
    return ComponentTest(PrioritizedReplay(capacity, **options), SPACES, backend=backend, seed=seed)


def insert(test, numbers):
    numbers = np.asarray(numbers)
    states = np.stack([numbers, -numbers], axis=1).astype(np.float32)
    test.test(("insert_records", [{"number": numbers, "state": states}]))


def draw(test, number, time=0.0):
    return test.test(("get_records", [number, np.float32(time)]))


def priorities(test):
    nodes = test.read_variable_values()["memory/priorities"]
    return nodes[len(nodes) // 2 :]


def test_usage(backend):
    test = memory(4, backend, alpha=0.5, beta=1.0, epsilon=0.0)
    insert(test, [10, 11, 12])
    test.test(("update_records", [[0, 1, 2], [1.0, -4.0, 9.0]]))
    # Priorities by hand: the square roots 1, 2, 3 of the magnitudes.
    np.testing.assert_allclose(priorities(test), [1.0, 2.0, 3.0, 0.0])
    records, indices, weights = draw(test, 600)
    np.testing.assert_array_equal(records["number"], indices + 10)
    np.testing.assert_array_equal(records["state"][:, 1], -(indices + 10))
    # Stratified: every index has its share but for the two cuts between the indices.
    assert np.abs(np.bincount(indices) - [100, 200, 300]).max() <= 1
    # w = (N p) ** -1, divided by that of the smallest priority drawn.
    np.testing.assert_allclose(weights, np.array([1.0, 1 / 2, 1 / 3])[indices], rtol=1e-6)
    assert (indices.dtype, weights.dtype) == (np.int64, np.float32)


def test_a_new_record_has_the_largest_priority_so_far(backend):
    test = memory(8, backend, alpha=1.0, epsilon=0.0)
    insert(test, [1, 2])
    np.testing.assert_allclose(priorities(test)[:2], 1.0)
    test.test(("update_records", [[0, 1], [7.0, 2.0]]))
    insert(test, [3])
    test.test(("update_records", [[0, 2], [0.5, 0.25]]))
    insert(test, [4, 5])
    np.testing.assert_allclose(priorities(test), [0.5, 2.0, 0.25, 7.0, 7.0, 0, 0, 0])


def test_alpha_is_applied_once_and_epsilon_before_it():
    test = memory(2, alpha=0.6, epsilon=0.01)
    insert(test, [1, 2])
    for _ in range(3):
        test.test(("update_records", [[0, 1], [2.0, 0.0]]))
    np.testing.assert_allclose(priorities(test), [2.01**0.6, 0.01**0.6])
    insert(test, [3])
    np.testing.assert_allclose(priorities(test)[0], 2.01**0.6)


@pytest.mark.parametrize("capacity", [3, 5, 1500])
def test_records_that_are_overwritten_get_new_priorities(capacity, backend):
    test = memory(capacity, backend, alpha=1.0, epsilon=0.0)
    insert(test, np.arange(capacity - 1))
    test.test(("update_records", [np.arange(capacity - 1), np.full(capacity - 1, 0.5)]))
    test.test(("update_records", [[0], [2.0]]))
    insert(test, [90, 91])  # the last place, and the first
    expected = np.full(capacity, 0.5)
    expected[[0, -1]] = 2.0
    np.testing.assert_allclose(priorities(test)[:capacity], expected)
    insert(test, np.arange(2 * capacity + 1))
    np.testing.assert_allclose(priorities(test)[:capacity], 2.0)
    records, indices, _ = draw(test, 4 * capacity)
    assert set(records["number"]) == set(range(capacity + 1, 2 * capacity + 1))
    assert indices.max() == capacity - 1


def test_beta_follows_its_schedule(backend):
    test = memory(2, backend, alpha=1.0, beta=[0.4, 1.0], epsilon=0.0)
    insert(test, [1, 2])
    test.test(("update_records", [[0, 1], [1.0, 3.0]]))
    for time, beta in ((0.0, 0.4), (0.5, 0.7), (1.0, 1.0)):
        _, indices, weights = draw(test, 8, time)
        np.testing.assert_allclose(weights, np.array([1.0, 3.0**-beta])[indices], rtol=1e-5)


def test_the_largest_weight_of_a_batch_is_one():
    test = memory(100, alpha=1.0, beta=0.5, epsilon=0.0)
    insert(test, np.arange(100))
    test.test(("update_records", [np.arange(100), np.arange(1.0, 101.0)]))
    for _ in range(20):
        _, indices, weights = draw(test, 4)
        np.testing.assert_allclose(weights, ((indices.min() + 1) / (indices + 1)) ** 0.5, rtol=1e-5)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 7), st.lists(st.integers(0, 20), max_size=6))
def test_only_what_was_inserted_is_drawn(capacity, batches):
    test, model, number = memory(capacity), [], 0
    for size in batches:
        insert(test, range(number, number + size))
        number += size
        model = (model + list(range(number - size, number)))[-capacity:]
        assert int(test.test("get_size")) == len(model)
        if model:
            records, indices, _ = draw(test, 50)
            assert set(records["number"]) == set(model)
            errors = np.random.default_rng(number).random(50).astype(np.float32)
            test.test(("update_records", [indices, errors]))
            assert np.count_nonzero(priorities(test)) == len(model)


def test_draws_depend_on_the_seed_only(backend):
    def drawn(name, seed):
        test = memory(50, name, seed=seed)
        insert(test, range(50))
        test.test(("update_records", [np.arange(50), np.arange(50.0)]))
        return draw(test, 30)[1].tolist()

    assert drawn(backend, 1) == drawn("numpy", 1) != drawn(backend, 2)


def test_it_is_saved_and_loaded(backend, tmp_path):
    first, second = memory(9, backend), memory(9, backend)
    insert(first, range(6))
    first.test(("update_records", [np.arange(6), np.arange(6.0)]))
    draw(first, 3)
    insert(second, range(100, 109))
    draw(second, 5)  # its tree is in use
    first.executor.save(tmp_path / "checkpoint", host=True)
    second.executor.load(tmp_path / "checkpoint")
    np.testing.assert_array_equal(priorities(first), priorities(second))
    for _ in range(3):
        for a, b in zip(draw(first, 7), draw(second, 7), strict=True):
            np.testing.assert_equal(a, b)
        for test in (first, second):
            insert(test, [50])
            test.test(("update_records", [[1, 3], [4.0, 20.0]]))
    np.testing.assert_array_equal(priorities(first), priorities(second))


@pytest.mark.parametrize("error", [np.nan, np.inf])
def test_errors_that_are_not_finite(error):
    test = memory(4)
    insert(test, [1, 2])
    with pytest.raises(NumericalError, match="memory: an error that a priority is made of is not finite"):
        test.test(("update_records", [[0, 1], [1.0, error]]))
    np.testing.assert_array_equal(priorities(test), [1.0, 1.0, 0.0, 0.0])


def test_an_empty_memory(backend):
    with pytest.raises(RLGraphError, match="memory is empty: insert records before drawing from it"):
        draw(memory(3, backend), 1)


def test_specs():
    made = Component.from_spec({"type": "prioritized_replay", "capacity": 10, "beta": [0.4, 1.0]})
    assert isinstance(made, PrioritizedReplay)
    for wrong, said in (
        ({"alpha": -0.1}, r"memory.alpha: expected a number >= 0, given -0.1"),
        ({"alpha": float("nan")}, r"memory.alpha: expected a number >= 0, given nan"),
        ({"alpha": float("inf")}, r"memory.alpha: expected a number >= 0, given inf"),
        ({"beta": -1}, r"memory.beta: expected values >= 0, given -1"),
        ({"beta": [0.4, -0.1]}, r"memory.beta: expected values >= 0, given \[0.4, -0.1\]"),
        ({"epsilon": "small"}, r"memory.epsilon: expected a number >= 0, given 'small'"),
        ({"beta": "much"}, r"memory.beta: expected a number, \[from, to\]"),
        ({"capacity": 0}, r"memory.capacity: expected an integer >= 1"),
    ):
        with pytest.raises(SpecError, match=said):
            PrioritizedReplay(**wrong)
