"""Supervised losses against plain loops."""

import math

import numpy as np
import pytest

from rlgraph.core.functional.supervised import (
    categorical_cross_entropy,
    divergence,
    divergence_from_uniform,
    euclidean_distance,
    sequence_mask,
    soft_cross_entropy,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def softmax(logits):
    powers = [math.exp(x) for x in logits]
    return [x / sum(powers) for x in powers]


def test_cross_entropy():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(6, 3)), rng.integers(0, 3, 6)
    expected = [-math.log(softmax(row)[label]) for row, label in zip(logits, labels, strict=True)]
    np.testing.assert_allclose(categorical_cross_entropy(OPS, logits, labels), expected)
    one_hot = np.eye(3)[labels]
    np.testing.assert_allclose(soft_cross_entropy(OPS, logits, one_hot), expected)
    probabilities = rng.dirichlet(np.ones(3), 6)
    expected = [
        -sum(p * math.log(q) for p, q in zip(row, softmax(x), strict=True))
        for row, x in zip(probabilities, logits, strict=True)
    ]
    np.testing.assert_allclose(soft_cross_entropy(OPS, logits, probabilities), expected)


def test_large_logits_do_not_overflow():
    losses = categorical_cross_entropy(OPS, np.array([[1000.0, 0.0], [-1000.0, 0.0]]), np.array([1, 1]))
    assert losses.tolist() == [1000.0, 0.0]


def test_divergence_from_uniform():
    logits = np.array([[3.0, 3.0, 3.0], [0.0, 1.0, 2.0]])
    expected = sum(1 / 3 * math.log(1 / 3 / q) for q in softmax(logits[1]))
    np.testing.assert_allclose(divergence_from_uniform(OPS, logits), [0.0, expected], atol=1e-12)


def test_distance():
    predictions = np.array([[[3.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
    labels = np.array([[[0.0, 0.0], [4.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
    assert euclidean_distance(OPS, predictions, labels, 1).tolist() == [5.0, 0.0]
    assert euclidean_distance(OPS, predictions, labels, 2).tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert euclidean_distance(OPS, np.array([3.0]), np.array([5.0]), 1).tolist() == [2.0]


@pytest.mark.parametrize("time_axis", [0, 1])
def test_mask(time_axis):
    mask = sequence_mask(OPS, np.array([0, 1, 3]), np.zeros((4, 3) if time_axis == 0 else (3, 4)), time_axis)
    expected = np.array([[step < length for step in range(4)] for length in (0, 1, 3)])
    np.testing.assert_array_equal(mask, expected.T if time_axis == 0 else expected)


def test_divergence():
    """Of a distribution from itself it is 0; what cannot happen adds nothing."""
    probabilities = np.array([[0.25, 0.75], [0.0, 1.0]])
    np.testing.assert_allclose(divergence(OPS, np.log([[0.25, 0.75]]), probabilities[:1]), [0.0], atol=1e-12)
    np.testing.assert_allclose(divergence(OPS, np.zeros((1, 2)), probabilities[1:]), [math.log(2.0)])
