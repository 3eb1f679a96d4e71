"""What folds axes or works along one on the NumPy backend, against sums and loops over numbers."""

import itertools
import math

import numpy as np
import pytest

from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")
X = np.array([[4.0, 1.0, -2.0], [0.0, 5.0, 1.0]])


def test_products_counts_and_any():
    assert OPS.prod(X, axis=1).tolist() == [-8.0, 0.0]
    assert OPS.prod(np.array([[2, 3], [4, 5]], np.int32)) == 120
    assert OPS.prod(np.array([200, 2], np.uint8)).dtype == np.uint8
    assert OPS.count_nonzero(X) == 5
    assert OPS.count_nonzero(X, axis=0, keepdims=True).tolist() == [[1, 2, 2]]
    assert OPS.count_nonzero(X == 1.0, axis=1).dtype == np.int64
    assert OPS.any(X == 0.0, axis=1).tolist() == [False, True]


def test_variances():
    # Means 1 and 2; squared distances 9 + 0 + 9 and 4 + 9 + 1.
    np.testing.assert_allclose(OPS.var(X, axis=1), [6.0, 14 / 3], rtol=1e-15)
    np.testing.assert_allclose(OPS.var(X, axis=1, correction=1), [9.0, 7.0], rtol=1e-15)
    np.testing.assert_allclose(OPS.std(X, axis=1, keepdims=True, correction=1), [[3.0], [7**0.5]], rtol=1e-15)
    assert OPS.var(np.float32([1, 2])).dtype == np.float32


def test_logsumexp():
    expected = [math.log(sum(map(math.exp, row))) for row in X.tolist()]
    np.testing.assert_allclose(OPS.logsumexp(X, axis=1), expected, rtol=1e-15)
    np.testing.assert_allclose(
        OPS.logsumexp(X + 1000.0, axis=-1, keepdims=True)[:, 0], np.add(expected, 1000)
    )
    np.testing.assert_allclose(OPS.logsumexp(X), math.log(sum(map(math.exp, X.reshape(-1).tolist()))))
    masked = np.array([[-np.inf, 2.0], [-np.inf, -np.inf]])
    with np.errstate(divide="ignore"):
        assert OPS.logsumexp(masked, axis=1).tolist() == [2.0, -np.inf]


def test_cumulative():
    assert OPS.cumulative_sum(X, axis=1).tolist() == [[4.0, 5.0, 3.0], [0.0, 5.0, 6.0]]
    assert OPS.cumulative_sum(np.array([200, 100], np.uint8), axis=0).tolist() == [200, 44]
    assert OPS.cumulative_prod(X, axis=-1).tolist() == [[4.0, 4.0, -8.0], [0.0, 0.0, 0.0]]


def test_the_first_of_equal_minima():
    assert OPS.argmin(np.array([[3.0, 1.0, 1.0], [2.0, 2.0, 2.0]]), axis=1).tolist() == [1, 0]


def test_layer_norm():
    scale, offset = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    root = math.sqrt(6.0 + 0.25)
    expected = [3 / root * 1.0, 0.0, -3 / root * 3.0 + 1.0]
    np.testing.assert_allclose(OPS.layer_norm(X[:1], scale, offset, epsilon=0.25), [expected], rtol=1e-14)
    plain = OPS.layer_norm(X, epsilon=0.0)
    np.testing.assert_allclose(plain.mean(-1), [0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose((plain**2).mean(-1), [1.0, 1.0], rtol=1e-14)


def test_products_of_vectors():
    assert OPS.outer(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])).tolist() == [[3, 4, 5], [6, 8, 10]]
    assert OPS.vecdot(X, X * 2.0).tolist() == [42.0, 52.0]
    assert OPS.vecdot(X, X, axis=0).tolist() == [16.0, 26.0, 5.0]


def test_einsum():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 4)), rng.normal(size=4)
    expected = np.zeros((4, 2))
    for b, i, j in itertools.product(range(2), range(3), range(4)):
        expected[j, b] += x[b, i] * y[b, i, j] * z[j]
    np.testing.assert_allclose(OPS.einsum("bi,bij,j->jb", x, y, z), expected, rtol=1e-13)


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrence(reverse):
    rng = np.random.default_rng(1)
    x, d, initial = rng.normal(size=(2, 5)), rng.uniform(size=(2, 5)), rng.normal(size=2)
    expected = np.zeros((2, 5))
    for b in range(2):
        last = initial[b]
        for t in range(4, -1, -1) if reverse else range(5):
            last = expected[b, t] = x[b, t] + d[b, t] * last
    np.testing.assert_allclose(OPS.linear_recurrence(x, d, initial, reverse, axis=1), expected, rtol=1e-14)
    np.testing.assert_allclose(OPS.linear_recurrence(x.T, d.T, initial, reverse), expected.T, rtol=1e-14)


def test_discounted_returns():
    rewards = np.float32([1.0, 2.0, 4.0])
    returns = OPS.linear_recurrence(rewards, 0.5, reverse=True)
    assert (returns.tolist(), returns.dtype) == ([3.0, 4.0, 4.0], np.float32)
    not_terminated = np.float32([0.5, 0.0, 0.5])
    bootstrapped = OPS.linear_recurrence(rewards, not_terminated, np.float32(8.0), reverse=True)
    assert bootstrapped.tolist() == [2.0, 2.0, 8.0]
    assert OPS.linear_recurrence(np.zeros((0, 2)), 0.5).shape == (0, 2)
