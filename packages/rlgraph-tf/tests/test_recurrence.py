"""The linear recurrence: its ways of computing, and its derivative, against a loop in NumPy."""

import gc
import weakref
from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.tf.ops import TfOps


def loop(x, d, reverse):
    """The definition, and the derivatives of sum(w * y) for w = 1, 2, ..., by the chain rule, step by step."""
    y, by_x, by_d = (np.zeros_like(x) for _ in range(3))
    order = list(range(len(x)))[:: -1 if reverse else 1]
    before = {t: s for s, t in pairwise(order)}  # what comes ahead of t
    for t in order:
        y[t] = x[t] + (d[t] * y[before[t]] if t in before else 0.0)
    for t in reversed(order):
        by_x[t] += weights(x)[t]
        if t in before:
            by_x[before[t]] += by_x[t] * d[t]
            by_d[t] = by_x[t] * y[before[t]]
    return y, by_x, by_d


def weights(x):
    return np.arange(1.0, x.size + 1.0).reshape(x.shape) / x.size


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [None, 50])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_long_recurrence_and_its_derivative(reverse, length, compiled):
    """Factors of 0 cut it; the length may be open."""
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(50, 3)), rng.uniform(0.5, 1.0, size=(50, 3)) * (rng.random((50, 3)) < 0.9)
    ops = TfOps("float64")
    ops.compiled = compiled

    def run(x, d):
        y = ops.linear_recurrence(x, d, reverse=reverse)
        loss = tf.reduce_sum(y * tf.constant(weights(np.zeros((50, 3)))))
        return y, *tf.gradients(loss, [x, d])

    spec = tf.TensorSpec([length, 3], tf.float64)
    traced = tf.function(run, autograph=False, jit_compile=compiled).get_concrete_function(spec, spec)
    for given, expected in zip(traced(tf.constant(x), tf.constant(d)), loop(x, d, reverse), strict=True):
        np.testing.assert_allclose(given.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("length", [None, 0, 1])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_recurrence_of_next_to_nothing(length, compiled):
    ops = TfOps()
    ops.compiled = compiled
    run = tf.function(lambda x: ops.linear_recurrence(x, 0.5), autograph=False)
    run = run.get_concrete_function(tf.TensorSpec([length, 2], tf.float32))
    for size in (0, 1) if length is None else (length,):
        assert run(tf.ones((size, 2))).numpy().tolist() == [[1.0, 1.0]] * size


def test_a_program_with_a_derivative_can_be_freed():
    """`tf.custom_gradient` would keep its graph for the life of the process."""
    ops = TfOps()

    def run(x):
        return tf.gradients(ops.linear_recurrence(x, 0.5), [x])

    traced = tf.function(run, autograph=False).get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    graph = weakref.ref(traced.graph)
    del traced
    gc.collect()
    assert graph() is None
