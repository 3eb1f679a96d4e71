"""Picking, sorting, rearranging and making arrays on the NumPy backend, against results written out."""

import numpy as np
import pytest

from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float32")
X = np.arange(6).reshape(2, 3)


def test_masks_and_segments():
    mask = np.array([[True, False, True], [False, False, True]])
    assert OPS.boolean_mask(X, mask).tolist() == [0, 2, 5]
    assert OPS.boolean_mask(X, np.array([False, True])).tolist() == [[3, 4, 5]]
    assert OPS.boolean_mask(X, np.array([False, False])).shape == (0, 3)
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    sums = OPS.segment_sum(values, np.array([2, 0, 2]), 4)
    assert sums.tolist() == [[2.0, 20.0], [0.0, 0.0], [5.0, 50.0], [0.0, 0.0]]


def test_sorting_keeps_the_order_of_equal_elements():
    x = np.array([[3.0, 1.0, 3.0, 2.0, 1.0]])
    assert OPS.sort(x).tolist() == [[1.0, 1.0, 2.0, 3.0, 3.0]]
    assert OPS.sort(x, descending=True).tolist() == [[3.0, 3.0, 2.0, 1.0, 1.0]]
    assert OPS.argsort(x).tolist() == [[1, 4, 3, 0, 2]]
    assert OPS.argsort(x, axis=1, descending=True).tolist() == [[0, 2, 3, 1, 4]]
    assert OPS.argsort(x.T, axis=0, descending=True).T.tolist() == [[0, 2, 3, 1, 4]]
    values, indices = OPS.top_k(x, 3)
    assert (values.tolist(), indices.tolist()) == ([[3.0, 3.0, 2.0]], [[0, 2, 3]])
    values, indices = OPS.top_k(x.T, 1, axis=-2)
    assert (values.tolist(), indices.tolist()) == ([[3.0]], [[0]])


def test_searchsorted():
    edges, values = np.array([1.0, 2.0, 2.0, 5.0]), np.array([[0.0, 2.0], [3.0, 9.0]])
    assert OPS.searchsorted(edges, values).tolist() == [[0, 1], [3, 4]]
    assert OPS.searchsorted(edges, values, side="right").tolist() == [[0, 3], [3, 4]]
    assert OPS.searchsorted(edges, values).dtype == np.int64


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (OPS.flip(X), [[5, 4, 3], [2, 1, 0]]),
        (OPS.flip(X, axis=0), [[3, 4, 5], [0, 1, 2]]),
        (OPS.roll(X, 1, axis=1), [[2, 0, 1], [5, 3, 4]]),
        (OPS.roll(X, -4, axis=1), [[1, 2, 0], [4, 5, 3]]),
        (OPS.tile(X, (1, 2)), [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]),
        (OPS.repeat(X, 2, axis=1), [[0, 0, 1, 1, 2, 2], [3, 3, 4, 4, 5, 5]]),
        (OPS.pad(X, ((1, 0), (0, 2)), value=7), [[7] * 5, [0, 1, 2, 7, 7], [3, 4, 5, 7, 7]]),
        (OPS.pad(np.array(3), ()), 3),
        (OPS.moveaxis(X, 0, -1), [[0, 3], [1, 4], [2, 5]]),
        (OPS.flatten(X), [0, 1, 2, 3, 4, 5]),
        (OPS.flatten(X[None], start_axis=-2), [[0, 1, 2, 3, 4, 5]]),
        (OPS.tril(X), [[0, 0, 0], [3, 4, 0]]),
        (OPS.triu(X, k=1), [[0, 1, 2], [0, 0, 5]]),
        (OPS.full((2,), 1.5), [1.5, 1.5]),
        (OPS.full_like(X, 7), [[7] * 3] * 2),
        (OPS.eye(2), [[1, 0], [0, 1]]),
        (OPS.eye(2, 3), [[1, 0, 0], [0, 1, 0]]),
        (OPS.arange(3), [0, 1, 2]),
        (OPS.arange(4, -2, -3), [4, 1]),
        (OPS.linspace(-1.0, 1.0, 5), [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_results(result, expected):
    assert result.tolist() == expected


def test_dtypes_of_what_is_made():
    assert [OPS.full((2,), 1).dtype, OPS.eye(2).dtype, OPS.linspace(0, 1, 2).dtype] == ["float32"] * 3
    assert [OPS.arange(3).dtype, OPS.arange(3, dtype="float").dtype] == ["int64", "float32"]
    assert OPS.full_like(np.zeros(2, bool), True).dtype == "bool"


def test_parts():
    first, second = OPS.split(X, (1, 2), axis=1)
    assert (first.tolist(), second.tolist()) == ([[0], [3]], [[1, 2], [4, 5]])
    assert [part.tolist() for part in OPS.unstack(X, axis=-1)] == [[0, 3], [1, 4], [2, 5]]
    assert OPS.unstack(np.arange(2))[1].shape == ()


def test_views_are_those_declared():
    x = np.arange(6.0).reshape(2, 3)
    views = [OPS.flip(x), OPS.moveaxis(x, 0, 1), OPS.flatten(x), *OPS.split(x, (1, 1)), *OPS.unstack(x)]
    views += [
        OPS.reshape(x, (3, 2)),
        OPS.expand_dims(x, 0),
        OPS.broadcast_to(x, (2, 2, 3)),
        OPS.astype(x, "float64"),
    ]
    assert all(np.shares_memory(view, x) for view in views)
