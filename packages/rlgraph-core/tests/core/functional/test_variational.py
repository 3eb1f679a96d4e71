"""Variational bounds against plain loops, SciPy and sampling."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from rlgraph.core.functional.variational import (
    bernoulli_log_likelihood,
    evidence_lower_bound,
    normal_log_likelihood,
    standard_normal_kl,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")
RNG = np.random.default_rng(0)


def test_divergence_by_integration():
    for mean, variance in [(0.0, 1.0), (0.7, 0.3), (-2.0, 2.5)]:
        p, q = stats.norm(mean, math.sqrt(variance)), stats.norm(0.0, 1.0)
        expected, _ = integrate.quad(lambda x, p=p, q=q: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -20.0, 20.0)
        found = standard_normal_kl(OPS, np.array([mean]), np.array([math.log(variance)]))
        assert found == pytest.approx(expected, abs=1e-8)


def test_divergences_of_elements_are_summed():
    mean, log_variance = RNG.standard_normal((2, 3, 4))
    terms = 0.5 * (np.exp(log_variance) + mean**2 - 1.0 - log_variance)
    np.testing.assert_allclose(standard_normal_kl(OPS, mean, log_variance), terms.sum(-1))
    np.testing.assert_allclose(standard_normal_kl(OPS, mean, log_variance, axes=2), terms.sum())
    np.testing.assert_allclose(standard_normal_kl(OPS, mean, log_variance, axes=0), terms)


def test_likelihoods():
    logits, inputs = RNG.standard_normal((2, 3, 4)), RNG.integers(0, 2, (2, 3, 4)).astype(float)
    expected = stats.bernoulli(1.0 / (1.0 + np.exp(-logits))).logpmf(inputs).sum((1, 2))
    np.testing.assert_allclose(bernoulli_log_likelihood(OPS, inputs, logits, axes=2), expected)
    expected = stats.norm(logits, 0.5).logpdf(inputs).sum((1, 2))
    np.testing.assert_allclose(normal_log_likelihood(OPS, inputs, logits, np.array(0.5), axes=2), expected)


def test_large_logits():
    found = bernoulli_log_likelihood(OPS, np.array([1.0, 0.0, 0.25]), np.array([800.0, 800.0, -800.0]))
    np.testing.assert_allclose(found, 0.0 - 800.0 - 200.0)


def test_the_bound_is_that_of_a_linear_model():
    """``x = w z + noise``: the bound is tight at the true posterior, ``log N(x; 0, w^2 + s^2)``."""
    x, w, s = 1.7, 0.8, 0.6
    variance = s**2 / (w**2 + s**2)
    mean = x * w / (w**2 + s**2)
    z = mean + math.sqrt(variance) * RNG.standard_normal((400_000, 1))
    likelihood = normal_log_likelihood(OPS, np.full_like(z, x), w * z, np.array(s))
    kl = standard_normal_kl(OPS, np.array([mean]), np.array([math.log(variance)]))
    bound = evidence_lower_bound(OPS, likelihood, kl).mean()
    assert bound == pytest.approx(stats.norm(0.0, math.hypot(w, s)).logpdf(x), abs=3e-3)
    assert evidence_lower_bound(OPS, 2.0, 3.0, beta=4.0) == -10.0
