import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.components.memories import segment_tree
from rlgraph.components.memories.segment_tree import MinTree, SumTree, numba_kernels

HAS_NUMBA = numba_kernels() is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="Numba is not installed")
KERNELS = [False, pytest.param(True, marks=needs_numba)]
CAPACITIES = st.sampled_from([1, 2, 3, 64, 512, 513, 1025, 5000])


def tree(capacity, kind=SumTree, use_kernels=False):
    return kind(np.full(kind.size_for(capacity), kind.neutral), use_kernels)


def find_by_loop(priorities, share):
    """The first index at which the running sum exceeds the share of the whole."""
    mass, running = share * sum(priorities), 0.0
    for index, priority in enumerate(priorities):
        running += priority
        if running > mass:
            return index
    raise AssertionError("beyond the end")


@pytest.mark.parametrize("use_kernels", KERNELS)
def test_by_hand(use_kernels):
    four = tree(4, use_kernels=use_kernels)
    four.set(np.array([0, 1, 2, 3]), np.array([1.0, 0.0, 3.0, 4.0]))
    assert four.total == 8.0
    assert four.get(np.array([3, 0])).tolist() == [4.0, 1.0]
    # Eighths: 0 | 2 2 2 | 3 3 3 3.
    assert four.find(np.arange(8) / 8).tolist() == [0, 2, 2, 2, 3, 3, 3, 3]
    four.set(np.array([2, 2]), np.array([9.0, 0.0]))
    assert (four.total, four.find(np.array([0.1, 0.3])).tolist()) == (5.0, [0, 3])


@pytest.mark.parametrize("use_kernels", KERNELS)
def test_minimum_by_hand(use_kernels):
    three = tree(3, MinTree, use_kernels)
    assert three.minimum == np.inf
    three.set(np.array([0, 1, 2]), np.array([5.0, 2.0, 3.0]))
    assert three.minimum == 2.0
    three.fill(1, 2, 4.0)
    assert three.minimum == 3.0
    three.fill(0, 3, 7.0)
    assert three.minimum == 7.0


@pytest.mark.parametrize(("capacity", "nodes"), [(1, 2), (2, 4), (3, 8), (4, 8), (1024, 2048), (1025, 4096)])
def test_number_of_nodes(capacity, nodes):
    assert SumTree.size_for(capacity) == nodes


CHANGES = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 4999), min_size=1, max_size=6), st.integers(0, 50)),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("use_kernels", KERNELS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(CAPACITIES, CHANGES, st.integers(0, 2**32))
def test_it_is_a_list_of_priorities(use_kernels, capacity, changes, seed):
    """Whole numbers as priorities, and shares in the middle of one of them: the sums are exact on both sides."""
    sums, minima = tree(capacity, use_kernels=use_kernels), tree(capacity, MinTree, use_kernels)
    model, known = np.zeros(capacity), np.full(capacity, np.inf)
    for is_range, places, priority in changes:
        indices = np.array(places) % capacity
        if is_range:
            start, stop = int(indices.min()), int(indices.max()) + 1
            for subject in (sums, minima):
                subject.fill(start, stop, float(priority))
            model[start:stop] = known[start:stop] = priority
        else:
            values = priority + np.arange(len(indices)) % 3.0
            for subject in (sums, minima):
                subject.set(indices, values)
            for index, value in zip(indices, values, strict=True):
                model[index] = known[index] = value
    assert (sums.total, minima.minimum) == (model.sum(), known.min())
    np.testing.assert_array_equal(sums.get(np.arange(capacity)), model)
    if model.sum():
        units = np.random.default_rng(seed).integers(0, int(model.sum()), 20)
        shares = (units + 0.5) / model.sum()
        assert sums.find(shares).tolist() == [find_by_loop(model, share) for share in shares]


@needs_numba
@settings(max_examples=60, deadline=None, derandomize=True)
@given(CAPACITIES, st.integers(0, 2**32), st.integers(-12, 12))
def test_kernels_compute_the_same_bits(capacity, seed, scale):
    rng = np.random.default_rng(seed)
    for kind in (SumTree, MinTree):
        plain, compiled = tree(capacity, kind), tree(capacity, kind, use_kernels=True)
        for number in (1, 7, 200):
            indices = rng.integers(0, capacity, number)
            priorities = rng.random(number) ** 3 * 10.0**scale
            start = int(rng.integers(0, capacity))
            for subject in (plain, compiled):
                subject.set(indices, priorities)
                subject.fill(start, min(start + number, capacity), float(priorities[0]))
        np.testing.assert_array_equal(plain.nodes, compiled.nodes)
        if kind is SumTree:
            shares = np.append(rng.random(300), [0.0, np.nextafter(1.0, 0.0)])
            np.testing.assert_array_equal(plain.find(shares), compiled.find(shares))


@pytest.mark.parametrize("use_kernels", KERNELS)
def test_every_node_below_the_top_is_the_sum_of_its_children(use_kernels):
    subject, rng = tree(10_000, use_kernels=use_kernels), np.random.default_rng(3)
    for i in range(300):
        subject.set(rng.integers(0, 10_000, 50), rng.random(50) * 10.0 ** rng.integers(-6, 6))
        subject.fill(i, i + 1 + i % 7, float(rng.random()))
    nodes = np.arange(subject.top, subject.first_leaf)
    children = subject.nodes[2 * nodes] + subject.nodes[2 * nodes + 1]
    np.testing.assert_array_equal(subject.nodes[nodes], children)


@pytest.mark.parametrize("use_kernels", KERNELS)
def test_the_largest_share_is_the_last_index(use_kernels):
    subject = tree(3000, use_kernels=use_kernels)
    subject.fill(0, 3000, 0.1)
    assert 2999 <= subject.find(np.array([np.nextafter(1.0, 0.0)]))[0] <= 3000


@pytest.mark.parametrize("use_kernels", KERNELS)
def test_arguments_are_not_changed(use_kernels):
    subject, shares = tree(8, use_kernels=use_kernels), np.array([0.2, 0.9])
    indices, priorities = np.array([1, 2]), np.array([3.0, 4.0])
    subject.fill(0, 8, 1.0)
    subject.set(indices, priorities)
    subject.find(shares)
    assert (shares.tolist(), indices.tolist(), priorities.tolist()) == ([0.2, 0.9], [1, 2], [3.0, 4.0])


@pytest.mark.parametrize("broken", [None, RuntimeError("cannot cache function: no locator available")])
def test_without_numba_it_is_numpy(monkeypatch, broken):
    """Numba is not there, or finds no folder to keep its functions in."""
    name = f"{segment_tree.__package__}.segment_tree_kernels"
    monkeypatch.delattr(segment_tree.__package__ + ".segment_tree_kernels", raising=False)
    monkeypatch.setitem(sys.modules, name, None)
    if broken is not None:
        monkeypatch.delitem(sys.modules, name)
        numba = pytest.importorskip("numba")

        def refuse(**options):
            raise broken

        monkeypatch.setattr(numba, "njit", refuse)
    numba_kernels.cache_clear()
    try:
        assert numba_kernels() is None
        subject = tree(3, use_kernels=True)
        subject.set(np.array([1]), np.array([2.0]))
        assert subject.find(np.array([0.5])).tolist() == [1]
    finally:
        numba_kernels.cache_clear()


def test_one_by_one_and_over_ranges():
    sums, minima = SumTree.of(6), MinTree.of(6)
    for index, priority in enumerate([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]):
        sums.insert(index, priority)
        minima.insert(index, priority)
    assert (sums.total, sums.reduce(), sums.reduce(1, 4), sums.reduce(2, 2)) == (23.0, 23.0, 6.0, 0.0)
    assert (minima.minimum, minima.reduce(4), minima.reduce(0, 1), minima.reduce(3, 3)) == (
        1.0,
        5.0,
        3.0,
        np.inf,
    )
    # Running sums: 3 4 8 9 14 23.
    assert [sums.index_of_prefix_sum(mass) for mass in (0, 2.9, 3, 4, 7.9, 22.9)] == [0, 0, 1, 2, 2, 5]


@pytest.mark.parametrize("index", [-1, 8])
def test_an_index_beyond_the_end(index):
    with pytest.raises(IndexError, match=rf"index: expected 0 to 7, given {index}"):
        SumTree.of(6).insert(index, 1.0)


@pytest.mark.parametrize("prefix_sum", [-0.1, 2.0])
def test_a_prefix_sum_beyond_the_total(prefix_sum):
    tree = SumTree.of(2)
    tree.insert(1, 2.0)
    with pytest.raises(ValueError, match=rf"prefix_sum: expected a number in \[0, 2.0\), given {prefix_sum}"):
        tree.index_of_prefix_sum(prefix_sum)
