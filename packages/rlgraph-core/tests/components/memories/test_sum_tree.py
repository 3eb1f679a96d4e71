import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.components.memories.sum_tree import SumTree


def tree(capacity):
    return SumTree(np.zeros(SumTree.size_for(capacity)))


def find_by_loop(priorities, share):
    """The first index at which the running sum exceeds the share of the whole."""
    mass, running = share * sum(priorities), 0.0
    for index, priority in enumerate(priorities):
        running += priority
        if running > mass:
            return index
    raise AssertionError("beyond the end")


def test_by_hand():
    four = tree(4)
    four.set(np.array([0, 1, 2, 3]), np.array([1.0, 0.0, 3.0, 4.0]))
    assert four.total == 8.0
    assert four.get(np.array([3, 0])).tolist() == [4.0, 1.0]
    # Eighths: 0 | 2 2 2 | 3 3 3 3.
    assert four.find(np.arange(8) / 8).tolist() == [0, 2, 2, 2, 3, 3, 3, 3]
    four.set(np.array([2, 2]), np.array([9.0, 0.0]))
    assert (four.total, four.find(np.array([0.1, 0.3])).tolist()) == (5.0, [0, 3])


@pytest.mark.parametrize(("capacity", "nodes"), [(1, 2), (2, 4), (3, 8), (4, 8), (1024, 2048), (1025, 4096)])
def test_number_of_nodes(capacity, nodes):
    assert SumTree.size_for(capacity) == nodes


CHANGES = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 4999), min_size=1, max_size=6), st.integers(0, 50)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from([1, 2, 3, 64, 1024, 1025, 2048, 5000]), CHANGES, st.integers(0, 2**32))
def test_it_is_a_list_of_priorities(capacity, changes, seed):
    """Whole numbers as priorities, and shares in the middle of one of them: the sums are exact on both sides."""
    subject, model = tree(capacity), np.zeros(capacity)
    for is_range, places, priority in changes:
        indices = np.array(places) % capacity
        if is_range:
            start, stop = int(indices.min()), int(indices.max()) + 1
            subject.fill(start, stop, float(priority))
            model[start:stop] = priority
        else:
            values = priority + np.arange(len(indices)) % 3
            subject.set(indices, values)
            for index, value in zip(indices, values, strict=True):
                model[index] = value
    assert subject.total == model.sum()
    np.testing.assert_array_equal(subject.get(np.arange(capacity)), model)
    if model.sum():
        units = np.random.default_rng(seed).integers(0, int(model.sum()), 20)
        shares = (units + 0.5) / model.sum()
        assert subject.find(shares).tolist() == [find_by_loop(model, share) for share in shares]


def test_every_node_below_the_top_is_the_sum_of_its_children():
    subject, rng = tree(10_000), np.random.default_rng(3)
    for i in range(300):
        subject.set(rng.integers(0, 10_000, 50), rng.random(50) * 10.0 ** rng.integers(-6, 6))
        subject.fill(i, i + 1 + i % 7, float(rng.random()))
    nodes = np.arange(subject.top, subject.first_leaf)
    children = subject.nodes[2 * nodes] + subject.nodes[2 * nodes + 1]
    np.testing.assert_array_equal(subject.nodes[nodes], children)


def test_the_largest_share_is_the_last_index():
    subject = tree(3000)
    subject.fill(0, 3000, 0.1)
    assert 2999 <= subject.find(np.array([np.nextafter(1.0, 0.0)]))[0] <= 3000


def test_shares_are_not_changed():
    subject, shares = tree(8), np.array([0.2, 0.9])
    subject.fill(0, 8, 1.0)
    subject.find(shares)
    assert shares.tolist() == [0.2, 0.9]
