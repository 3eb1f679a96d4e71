import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from rlgraph.components import PrioritizedReplay
from rlgraph.components.memories.segment_tree import numba_kernels
from rlgraph.core import AssemblyError, Component, InputError, NumericalError, RLGraphError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

RECORDS = Dict(number=IntBox(), state=FloatBox(shape=(2,)), add_batch_rank=True)
SPACES = {
    "records": RECORDS,
    "num_records": IntBox(),
    "progress": FloatBox(),
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


def test_a_constant_beta_needs_no_time():
    spaces = {name: space for name, space in SPACES.items() if name != "progress"}
    test = ComponentTest(PrioritizedReplay(2, beta=1.0), spaces, backend="numpy")
    insert(test, [1, 2])
    assert test.test(("get_records", [8]))[2].tolist() == [1.0] * 8
    with pytest.raises(AssemblyError, match=r"memory.get_records needs progress.*LinearDecay"):
        ComponentTest(PrioritizedReplay(2, beta=[0.4, 1.0]), spaces, backend="numpy")


def test_the_largest_weight_of_a_batch_is_one():
    test = memory(100, alpha=1.0, beta=0.5, epsilon=0.0)
    insert(test, np.arange(100))
    test.test(("update_records", [np.arange(100), np.arange(1.0, 101.0)]))
    for _ in range(20):
        _, indices, weights = draw(test, 4)
        np.testing.assert_allclose(weights, ((indices.min() + 1) / (indices + 1)) ** 0.5, rtol=1e-5)


def test_the_largest_weight_of_the_memory(backend):
    """The weights of a batch are the same, whoever else is in it; records that are gone do not count."""
    test = memory(4, backend, alpha=1.0, beta=0.5, epsilon=0.0, max_weight_of="memory")
    insert(test, [1, 2, 3, 4])
    test.test(("update_records", [[0, 1, 2, 3], [1.0, 4.0, 16.0, 64.0]]))
    for _ in range(10):
        _, indices, weights = draw(test, 2)
        np.testing.assert_allclose(weights, np.array([1.0, 1 / 2, 1 / 4, 1 / 8])[indices], rtol=1e-6)
    insert(test, [5])
    _, indices, weights = draw(test, 8)
    np.testing.assert_allclose(weights, np.array([1 / 4, 1.0, 1 / 2, 1 / 4])[indices], rtol=1e-6)
    # What is never drawn has no weight.
    test.test(("update_records", [[1, 2], [0.0, 36.0]]))
    _, indices, weights = draw(test, 8)
    np.testing.assert_allclose(weights, np.array([3 / 4, np.nan, 1.0, 3 / 4])[indices], rtol=1e-6)


class Model:
    """The rules of the paper over a plain list: places, numbers and priorities."""

    def __init__(self, capacity, alpha, epsilon):
        self.capacity, self.alpha, self.epsilon = capacity, alpha, epsilon
        self.numbers, self.priorities, self.cursor, self.largest = {}, {}, 0, 1.0

    def insert(self, numbers):
        for number in numbers:
            self.numbers[self.cursor], self.priorities[self.cursor] = number, self.largest
            self.cursor = (self.cursor + 1) % self.capacity

    def update(self, indices, errors):
        for index, error in zip(indices, errors, strict=True):
            self.priorities[index] = (abs(float(error)) + self.epsilon) ** self.alpha
            self.largest = max(self.largest, self.priorities[index])

    def shares(self):
        total = sum(self.priorities.values())
        return {index: priority / total for index, priority in self.priorities.items()}

    def weights(self, indices, beta, everywhere):
        count, shares = len(self.priorities), self.shares()
        raw = {index: (count * share) ** -beta for index, share in shares.items()}
        largest = max(raw.values()) if everywhere else max(raw[i] for i in indices)
        return [raw[i] / largest for i in indices]


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(1, 12)),
        st.tuples(st.just("update"), st.lists(st.tuples(st.integers(0, 99), st.floats(-9, 9, width=32)))),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 9), ACTIONS, st.sampled_from(["batch", "memory"]), st.sampled_from([0.0, 0.6, 1.0]))
def test_it_is_a_list_of_priorities(capacity, actions, max_weight_of, alpha):
    """Wrap-around, batches longer than the ring, indices several times in a batch."""
    test = memory(capacity, alpha=alpha, beta=0.7, epsilon=0.01, max_weight_of=max_weight_of)
    model, number = Model(capacity, alpha, 0.01), 0
    for action, value in [("insert", 1), *actions]:
        if action == "insert":
            insert(test, range(number, number + value))
            model.insert(range(number, number + value))
            number += value
        elif value:
            indices = [index % len(model.numbers) for index, _ in value]
            errors = np.array([error for _, error in value], np.float32)
            test.test(("update_records", [indices, errors]))
            model.update(indices, errors)
    expected = [model.priorities.get(index, 0.0) for index in range(capacity)]
    np.testing.assert_allclose(priorities(test)[:capacity], expected, rtol=1e-12)
    records, indices, weights = draw(test, 40)
    assert records["number"].tolist() == [model.numbers[index] for index in indices.tolist()]
    expected = model.weights(indices.tolist(), 0.7, max_weight_of == "memory")
    np.testing.assert_allclose(weights, expected, rtol=1e-5)
    # Stratified: no index is further than two draws from its share.
    drawn = np.bincount(indices, minlength=capacity)
    shares = model.shares()
    assert all(abs(drawn[i] - 40 * shares.get(i, 0.0)) < 2 for i in range(capacity))


@pytest.mark.parametrize("capacity", [40, 1500])
def test_frequencies_of_single_draws(capacity):
    """One record at a time, so that the draws are independent: a chi-square test of their frequencies."""
    test, rng = memory(capacity, alpha=0.6, epsilon=0.0, seed=3), np.random.default_rng(2)
    insert(test, np.arange(capacity + 7))
    errors = rng.random(capacity).astype(np.float32) * 5
    test.test(("update_records", [np.arange(capacity), errors]))
    program = test.executor.program("get_records")
    drawn = [int(program(np.array(1), np.float32(0.0))[1][0]) for _ in range(6000)]
    # Ten groups of records, so that each is expected often enough.
    groups = np.arange(capacity) * 10 // capacity
    counts = np.bincount(groups[drawn], minlength=10)
    expected = np.bincount(groups, errors.astype(np.float64) ** 0.6)
    assert chisquare(counts, expected / expected.sum() * 6000).pvalue > 0.01


def test_nested_records(backend):
    space = Dict(
        state=Dict(image=IntBox(0, 256, shape=(2,), dtype="uint8"), pair=Tuple(FloatBox(), BoolBox())),
        add_batch_rank=True,
    )
    test = ComponentTest(PrioritizedReplay(4), {**SPACES, "records": space}, backend=backend, seed=10)
    pair = (np.arange(3, dtype=np.float32), np.array([True, False, True]))
    image = np.arange(6, dtype=np.uint8).reshape(3, 2)
    test.test(("insert_records", [{"state": {"image": image, "pair": pair}}]))
    records, indices, _ = draw(test, 9)
    np.testing.assert_array_equal(records["state"]["image"], image[indices])
    for part, whole in zip(records["state"]["pair"], pair, strict=True):
        np.testing.assert_array_equal(part, whole[indices])


@pytest.mark.skipif(numba_kernels() is None, reason="Numba is not installed")
def test_with_and_without_kernels(backend):
    def run(use_kernels):
        test = ComponentTest(
            PrioritizedReplay(3000, max_weight_of="memory"),
            SPACES,
            backend=backend,
            seed=4,
            execution_spec={"use_kernels": use_kernels},
        )
        rng = np.random.default_rng(6)
        seen = []
        for _ in range(6):
            insert(test, rng.integers(0, 99, 900))
            seen.append(draw(test, 64)[1:])
            test.test(("update_records", [seen[-1][0], rng.normal(size=64).astype(np.float32)]))
        return seen, test.read_variable_values()

    for plain, compiled in zip(run(False), run(True), strict=True):
        np.testing.assert_equal(plain, compiled)


@pytest.mark.parametrize("indices", [[0, 2], [-1, 0], [1, 9000]])
@pytest.mark.parametrize("use_kernels", [False, True])
def test_indices_where_no_record_is(indices, use_kernels):
    execution = {"use_kernels": use_kernels}
    test = ComponentTest(PrioritizedReplay(4), SPACES, backend="numpy", execution_spec=execution)
    insert(test, [1, 2])
    low, high = min(indices), max(indices)
    with pytest.raises(
        InputError, match=rf"memory: expected indices of records .*, 0 to 1, given {low} to {high}"
    ):
        test.test(("update_records", [indices, [1.0, 2.0]]))
    np.testing.assert_array_equal(priorities(test), [1.0, 1.0, 0.0, 0.0])


@pytest.mark.filterwarnings("ignore::rlgraph.core.PerformanceWarning")
@pytest.mark.parametrize("max_weight_of", ["batch", "memory"])
def test_records_that_went_since_they_were_drawn_stay_away(max_weight_of):
    """Frames run out, so that records go before their turn; errors of theirs come later."""
    image = IntBox(0, 256, shape=(8, 8, 2), dtype="uint8")
    space = Dict(number=IntBox(), states=image, terminals=BoolBox(), next_states=image, add_batch_rank=True)
    options = {"frame_stack": {"size": 2, "frames_per_record": 1}, "max_weight_of": max_weight_of}
    test = ComponentTest(PrioritizedReplay(9, **options), {**SPACES, "records": space}, backend="numpy")
    rng, number = np.random.default_rng(5), 0
    for count in (6, 2, 7, 1, 3, 9, 4):
        drawn = draw(test, 20)[1] if number else np.zeros(0, np.int64)
        frames = rng.integers(256, size=(2, count, 8, 8, 2)).astype(np.uint8)
        records = {"number": np.arange(number, number + count), "terminals": np.zeros(count, bool)}
        test.test(("insert_records", [{**records, "states": frames[0], "next_states": frames[1]}]))
        number += count
        # Those that went have no priority any more.
        assert np.count_nonzero(priorities(test)) == test.test("get_size")
        test.test(("update_records", [drawn, np.ones(len(drawn))]))
        size = int(test.test("get_size"))
        assert size < 9
        assert np.count_nonzero(priorities(test)) == size
        records, _, weights = draw(test, 40)
        assert set(records["number"]) == set(range(number - size, number))
        assert weights.min() > 0.0  # those that went count for no weight


def test_nothing_can_be_drawn_by_priorities_of_0():
    test = memory(4, epsilon=0.0)
    insert(test, [1, 2])
    test.test(("update_records", [[0, 1], [0.0, 0.0]]))
    with pytest.raises(
        RLGraphError, match="memory: all priorities are 0, so no record can be drawn: set epsilon"
    ):
        draw(test, 1)


def test_rounding_never_finds_a_priority_of_0():
    """The sum of two priorities is rounded up, and a share of it lies behind both."""
    test = memory(4096, epsilon=0.0)
    insert(test, np.arange(4096))
    test.test(("update_records", [np.arange(4096), np.zeros(4096)]))

    class Highest:
        def random(self, number):
            return np.full(number, np.nextafter(1.0, 0.0))

    view, unit = test.executor.guarded.host_view("memory"), np.finfo(np.float64).eps
    view.rng = Highest()
    view.tree.set(np.array([0, 2]), np.array([1.5 * unit, 1.0 + 2.0 * unit]))
    assert view.tree.find(Highest().random(1)).tolist() == [3]
    _, indices, weights = PrioritizedReplay._sample_prioritized.function(view, np.array(5), np.array(0.0))
    assert (len(indices), priorities(test)[indices].min()) == (5, 1.0 + 2.0 * unit)
    assert np.isfinite(weights).all()


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
    with pytest.raises(NumericalError, match="memory: expected finite errors for priorities"):
        test.test(("update_records", [[0, 1], [1.0, error]]))
    np.testing.assert_array_equal(priorities(test), [1.0, 1.0, 0.0, 0.0])


def test_an_empty_memory(backend):
    with pytest.raises(RLGraphError, match="memory is empty: insert records before drawing from it"):
        draw(memory(3, backend), 1)


def test_fewer_records_than_none():
    test = memory(3)
    insert(test, [1])
    assert len(draw(test, 0)[1]) == 0
    with pytest.raises(InputError, match="memory: num_records: expected a number >= 0, given -1"):
        draw(test, -1)


def test_specs():
    made = Component.from_spec({"type": "prioritized_replay", "capacity": 10, "beta": [0.4, 1.0]})
    assert isinstance(made, PrioritizedReplay)
    for wrong, said in (
        ({"alpha": -0.1}, r"memory.alpha: expected a number >= 0, given -0.1"),
        ({"alpha": float("nan")}, r"memory.alpha: expected a number >= 0, given nan"),
        ({"alpha": float("inf")}, r"memory.alpha: expected a number >= 0, given inf"),
        ({"beta": -1}, r"memory.beta: expected values >= 0, given -1"),
        ({"beta": [0.4, -0.1]}, r"memory.beta: expected values >= 0, given -0.1"),
        ({"epsilon": "small"}, r"memory.epsilon: expected a number >= 0, given 'small'"),
        ({"beta": "much"}, r"memory.beta: expected a number, \[from, to\]"),
        ({"capacity": 0}, r"memory.capacity: expected an integer >= 1"),
        ({"max_weight_of": "bach"}, r"memory.max_weight_of: given 'bach'. Did you mean 'batch'\?"),
    ):
        with pytest.raises(SpecError, match=said):
            PrioritizedReplay(**wrong)


@pytest.mark.parametrize(
    ("argument", "wrong", "said"),
    [
        ("num_records", FloatBox(), r"num_records: expected a whole number, IntBox\(\), given FloatBox"),
        ("num_records", IntBox(add_batch_rank=True), r"num_records: expected a whole number"),
        ("progress", IntBox(), r"progress: expected a number, FloatBox\(\), given IntBox"),
        ("indices", FloatBox(add_batch_rank=True), r"indices: expected a whole number for each record"),
        ("indices", IntBox(), r"indices: expected a whole number for each record"),
        ("errors", FloatBox(shape=(2,), add_batch_rank=True), r"errors: expected a number for each record"),
        ("errors", BoolBox(add_batch_rank=True), r"errors: expected a number for each record"),
    ],
)
def test_spaces_it_cannot_take(argument, wrong, said):
    with pytest.raises((SpaceError, RLGraphError), match=said):
        ComponentTest(PrioritizedReplay(3), {**SPACES, argument: wrong}, backend="numpy")
