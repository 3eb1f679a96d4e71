"""A normal distribution whose values are clipped to bounds."""

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import ClippedNormal, ClippedNormalDistributionAdapter, Policy
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, FloatBox, Tuple
from rlgraph.testing import ComponentTest

PAIR = FloatBox(shape=(2,), add_batch_rank=True)
SPACES = {
    "parameters": Tuple(PAIR, PAIR),
    "values": PAIR,
    "other_parameters": Tuple(PAIR, PAIR),
    "deterministic": BoolBox(),
}
LOW, HIGH = np.array([-1.0, 2.0]), np.array([3.0, 12.0])


def make(backend="numpy"):
    return ComponentTest(ClippedNormal(LOW, HIGH), SPACES, backend=backend, seed=3)


def parameters(mean, stddev, number=1):
    return tuple(np.tile(np.asarray(x, np.float32), (number, 1)) for x in (mean, stddev))


def test_samples_are_those_of_a_normal_distribution_clipped(backend):
    mean, stddev, number = [0.5, -0.2], [0.8, 0.6], 20_000
    drawn = np.asarray(make(backend).test(("draw", [parameters(mean, stddev, number), np.False_])))
    assert (drawn >= LOW).all() and (drawn <= HIGH).all()
    unit = (drawn - LOW) / (HIGH - LOW) * 2.0 - 1.0
    for column, m, s in zip(unit.T, mean, stddev, strict=True):
        inside = np.abs(column) < 1.0 - 1e-6
        assert (column >= 1.0 - 1e-6).mean() == pytest.approx(stats.norm.sf(1.0, m, s), abs=0.015)
        assert (column <= 1e-6 - 1.0).mean() == pytest.approx(stats.norm.cdf(-1.0, m, s), abs=0.015)
        law = stats.truncnorm((-1.0 - m) / s, (1.0 - m) / s, m, s)
        assert stats.kstest(column[inside], law.cdf).pvalue > 1e-3


def test_greedy_values_reach_the_bounds(backend):
    for mean, expected in (([1.5, -3.0], [3.0, 2.0]), ([0.5, 0.0], [2.0, 7.0])):
        greedy = make(backend).test(("sample_deterministic", [parameters(mean, [1.0, 1.0])]))
        np.testing.assert_allclose(greedy, [expected], rtol=1e-6)


def test_densities_are_finite_at_the_bounds(backend):
    """By SciPy, of the normal distribution before clipping."""
    mean, stddev = np.array([0.5, -0.2]), np.array([0.8, 0.6])
    half = (HIGH - LOW) / 2
    law = stats.norm(LOW + (mean + 1.0) * half, stddev * half)
    for values in (HIGH, LOW, [0.3, 5.0]):
        given = np.asarray(values, np.float32)[None]
        found = make(backend).test(("log_prob", [parameters(mean, stddev), given]))
        np.testing.assert_allclose(found, [law.logpdf(values).sum()], rtol=1e-5)
    entropy = make(backend).test(("entropy", [parameters(mean, stddev)]))
    np.testing.assert_allclose(entropy, [law.entropy().sum()], rtol=1e-5)


def test_its_samples_are_not_differentiable():
    with pytest.raises(SpecError, match="clipped-normal"):
        ClippedNormal().check_reparameterized("sac")


def test_a_policy_has_it_by_name():
    spec = {"bounded_distribution_type": "clipped_normal"}
    policy = Policy([{"type": "dense", "units": 4}], FloatBox(LOW, HIGH), distributions_spec=spec)
    assert isinstance(policy.distribution, ClippedNormal)
    with pytest.raises(SpecError, match="FloatBox with both bounds"):
        ClippedNormalDistributionAdapter(FloatBox(shape=(2,)))
