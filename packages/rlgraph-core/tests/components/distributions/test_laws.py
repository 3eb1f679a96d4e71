"""Every distribution against SciPy and against sums over all its values: densities, entropies, divergences, samples."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import (
    Bernoulli,
    Beta,
    Categorical,
    GumbelSoftmax,
    JointCumulativeDistribution,
    LogNormal,
    MixtureDistribution,
    MultivariateNormal,
    Normal,
    SquashedNormal,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest


@dataclass(frozen=True)
class Law:
    """A distribution with parameters, and what is known of it.

    Attributes:
        make: makes the component.
        parameters, other: of one distribution, and of another one.
        values: all values it has, or a grid of them ``[N, ...]``.
        weights: what the density at each value is multiplied by in an integral; a number or [N].
        log_prob: the log-probability of the values, given the parameters.
        compare: fails if samples ``[N, ...]`` have another distribution.
        decimals: how exact sums over the values are.
        estimated: entropy and divergence are estimates by samples.
    """

    make: Callable[[], Any]
    parameters: Any
    other: Any
    values: Any
    weights: Any
    log_prob: Callable[[Any, Any], np.ndarray]
    compare: Callable[[Any, Any], None]
    decimals: int = 6
    estimated: bool = False


def each(function, value):
    if isinstance(value, dict):
        return {key: each(function, item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(each(function, item) for item in value)
    return function(np.asarray(value))


def space_of(array):
    options = {"shape": array.shape, "add_batch_rank": True}
    return {"b": BoolBox, "i": IntBox, "f": FloatBox}[array.dtype.kind](**options)


def spaces_of(value):
    if isinstance(value, dict):
        return Dict({key: spaces_of(item) for key, item in value.items()})
    if isinstance(value, tuple):
        return Tuple(*map(spaces_of, value))
    return space_of(np.asarray(value))


def count_of(values):
    while isinstance(values, dict | tuple):
        values = values["b"] if isinstance(values, dict) else values[0]
    return len(values)


def kolmogorov(cdf):
    def compare(samples, parameters):
        assert stats.kstest(np.asarray(samples, np.float64), lambda x: cdf(x, parameters)).pvalue > 1e-3

    return compare


def chi_square(probabilities):
    def compare(samples, parameters):
        expected = probabilities(parameters)
        counts = np.bincount(np.asarray(samples, np.int64), minlength=len(expected))
        assert counts[expected == 0.0].sum() == 0
        possible = expected > 0.0
        assert stats.chisquare(counts[possible], expected[possible] * len(samples)).pvalue > 1e-3

    return compare


def softmax(logits):
    exponentials = np.exp(np.asarray(logits) - np.max(logits))
    return exponentials / exponentials.sum()


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-np.asarray(x)))


def stretched(points, low, high):
    """Values between two bounds, dense near them, and the weights of their integral."""
    unit = sigmoid(points)
    return low + (high - low) * unit, (high - low) * unit * (1.0 - unit) * (points[1] - points[0])


def squashed_log_prob(values, parameters, low, high):
    """By the derivative of the inverse, as it stands in the books."""
    unit = 2.0 * (values - low) / (high - low) - 1.0
    return stats.norm.logpdf(np.arctanh(unit), *parameters) - np.log((1.0 - unit**2) * (high - low) / 2.0)


def gumbel_log_prob(values, logits, temperature):
    """Of two categories, the first element's logit is logistic (Maddison et al., 2017, section 3.1)."""
    y = values[:, 0]
    x = temperature * np.log(y / (1.0 - y)) - (logits[0] - logits[1])
    return stats.logistic.logpdf(x) + np.log(temperature / (y * (1.0 - y)))


def mixture_log_prob(values, parameters):
    weights = softmax(parameters["categorical"])
    parts = [stats.norm.pdf(values, *parameters[f"parameters{k}"]) for k in (0, 1)]
    return np.log(weights @ np.array(parts))


def covariance_of(parameters, kind):
    spread = np.asarray(parameters[1])
    return {
        "diagonal": lambda: np.diag(spread**2),
        "factor": lambda: spread @ spread.T,
        "covariance": lambda: spread,
    }[kind]()


def multivariate(kind, spread, other_spread):
    def compare(samples, parameters):
        factor = np.linalg.cholesky(covariance_of(parameters, kind))
        whitened = np.linalg.solve(factor, (samples - np.asarray(parameters[0])).T)
        assert stats.kstest(whitened.ravel(), "norm").pvalue > 1e-3
        assert abs(np.corrcoef(whitened)[0, 1]) < 4.0 / np.sqrt(len(samples))

    return Law(
        lambda: MultivariateNormal(kind == "diagonal", kind == "covariance"),
        ([0.3, -0.5], spread),
        ([-0.2, 0.1], other_spread),
        PLANE,
        GRID[1] ** 2,
        lambda values, p: stats.multivariate_normal.logpdf(values, p[0], covariance_of(p, kind)),
        compare,
    )


def log_normal(bound, sign, parameters, other):
    """The other way round, ``bound - d``, the distances d are still log-normal."""
    points = np.linspace(-7.0, 8.0, 1501)

    def of(values, p):
        return {"x": sign * (values - bound), "s": p[1], "scale": np.exp(p[0])}

    def cdf(values, p):
        return (stats.lognorm.cdf if sign > 0.0 else stats.lognorm.sf)(**of(values, p))

    return Law(
        lambda: LogNormal(**{"low" if sign > 0.0 else "high": bound}),
        parameters,
        other,
        bound + sign * np.exp(points),
        np.exp(points) * 0.01,
        lambda values, p: stats.lognorm.logpdf(**of(values, p)),
        kolmogorov(cdf),
    )


LINE = np.linspace(-12.0, 12.0, 2401)
GRID = np.linspace(-7.0, 7.0, 101), 0.14
PLANE = np.stack(np.meshgrid(GRID[0], GRID[0]), -1).reshape(-1, 2)
RANGE = stretched(np.linspace(-13.8, 13.8, 3201), 1.0, 4.0)
UNIT = stretched(np.linspace(-30.0, 30.0, 6001), 0.0, 1.0)
FIRST = UNIT[0][(UNIT[0] > 1e-9) & (UNIT[0] < 1.0 - 1e-9)]

LAWS = {
    "bernoulli": Law(
        Bernoulli,
        0.4,
        -1.3,
        np.array([False, True]),
        1.0,
        lambda values, logit: stats.bernoulli.logpmf(values, sigmoid(logit)),
        chi_square(lambda logit: np.array([1.0 - sigmoid(logit), sigmoid(logit)])),
    ),
    "beta": Law(
        lambda: Beta(1.0, 4.0),
        (2.0, 3.5),
        (1.2, 1.7),
        *RANGE,
        lambda values, p: stats.beta.logpdf(values, *p, loc=1.0, scale=3.0),
        kolmogorov(lambda x, p: stats.beta.cdf(x, *p, loc=1.0, scale=3.0)),
        decimals=5,
    ),
    "beta_without_mode": Law(
        Beta,
        (0.8, 0.9),
        (1.0, 0.7),
        *stretched(np.linspace(-13.8, 13.8, 3201), 0.0, 1.0),
        lambda values, p: stats.beta.logpdf(values, *p),
        kolmogorov(lambda x, p: stats.beta.cdf(x, *p)),
        decimals=3,
    ),
    "categorical": Law(
        Categorical,
        [0.5, -1.0, 2.0, 0.0],
        [1.0, 1.0, 0.0, -2.0],
        np.arange(4),
        1.0,
        lambda values, logits: np.log(softmax(logits)[values]),
        chi_square(softmax),
    ),
    "gumbel_softmax": Law(
        lambda: GumbelSoftmax(0.7),
        [0.5, -0.3],
        [-0.5, 0.2],
        np.stack([FIRST, 1.0 - FIRST], -1),
        (FIRST * (1.0 - FIRST) * 0.01),
        lambda values, logits: gumbel_log_prob(values, logits, 0.7),
        lambda samples, logits: kolmogorov(
            lambda y, p: stats.logistic.cdf(0.7 * np.log(y / (1.0 - y)) - (p[0] - p[1]))
        )(samples[:, 0], logits),
        decimals=5,
        estimated=True,
    ),
    "joint": Law(
        lambda: JointCumulativeDistribution({"a": "normal", "b": ("bernoulli",)}),
        {"a": (0.5, 0.8), "b": (0.4,)},
        {"a": (-0.5, 1.5), "b": (-0.4,)},
        {"a": np.tile(LINE, 2), "b": (np.repeat([False, True], len(LINE)),)},
        0.01,
        lambda values, p: (
            stats.norm.logpdf(values["a"], *p["a"])
            + stats.bernoulli.logpmf(values["b"][0], sigmoid(p["b"][0]))
        ),
        lambda samples, p: (
            kolmogorov(lambda x, _: stats.norm.cdf(x, *p["a"]))(samples["a"], p),
            chi_square(lambda _: np.array([1.0 - sigmoid(p["b"][0]), sigmoid(p["b"][0])]))(
                samples["b"][0], p
            ),
        )[0],
    ),
    "log_normal": log_normal(1.0, 1.0, (0.4, 0.7), (-0.2, 0.9)),
    "log_normal_below": log_normal(-2.0, -1.0, (-0.5, 0.9), (0.6, 0.6)),
    "mixture": Law(
        lambda: MixtureDistribution(["normal", "normal"]),
        {"categorical": [0.3, -0.6], "parameters0": (-1.0, 0.5), "parameters1": (2.0, 1.2)},
        {"categorical": [-0.3, 0.0], "parameters0": (0.5, 1.0), "parameters1": (-1.0, 1.5)},
        LINE,
        0.01,
        mixture_log_prob,
        kolmogorov(
            lambda x, p: (
                softmax(p["categorical"])
                @ np.array([stats.norm.cdf(x, *p[f"parameters{k}"]) for k in (0, 1)])
            )
        ),
        estimated=True,
    ),
    "multivariate_normal": multivariate("diagonal", [0.7, 1.2], [1.1, 0.9]),
    "multivariate_normal_cholesky": multivariate(
        "factor", [[0.7, 0.0], [-0.6, 0.9]], [[1.1, 0.0], [0.5, 0.8]]
    ),
    "multivariate_normal_covariance": multivariate(
        "covariance", [[0.8, 0.5], [0.5, 1.3]], [[1.0, -0.2], [-0.2, 0.6]]
    ),
    "normal": Law(
        Normal,
        (0.5, 0.8),
        (-0.5, 1.5),
        LINE,
        0.01,
        lambda values, p: stats.norm.logpdf(values, *p),
        kolmogorov(lambda x, p: stats.norm.cdf(x, *p)),
    ),
    "squashed_normal": Law(
        lambda: SquashedNormal(1.0, 4.0),
        (0.4, 0.7),
        (-0.2, 0.9),
        *stretched(np.linspace(-13.0, 13.0, 3201), 1.0, 4.0),
        lambda values, p: squashed_log_prob(values, p, 1.0, 4.0),
        kolmogorov(lambda x, p: stats.norm.cdf(np.arctanh(np.clip((x - 2.5) / 1.5, -1.0, 1.0)), *p)),
        decimals=5,
    ),
}


@functools.cache
def built(name, backend):
    law = LAWS[name]
    spaces = {"parameters": spaces_of(law.parameters), "other_parameters": spaces_of(law.other)}
    spaces["values"] = spaces_of(each(lambda x: x[0], law.values))
    return ComponentTest(law.make(), spaces, backend=backend, seed=3, execution_spec={"dtype": "float64"})


def called(name, backend, method, count, *values, other=None):
    """An API method on `count` copies of the parameters."""
    parameters = [LAWS[name].parameters, *([] if other is None else [other])]
    batch = [each(lambda x: np.broadcast_to(x, (count, *x.shape)).astype("float64"), p) for p in parameters]
    return built(name, backend).test(method, *batch, *values)


def by_sums(law, of):
    """The expectation of ``of(log_p, log_q)`` under the law, by a sum over its values."""
    log_p, log_q = law.log_prob(law.values, law.parameters), law.log_prob(law.values, law.other)
    return float(np.sum(law.weights * np.exp(log_p) * of(log_p, log_q)))


@pytest.mark.parametrize("name", LAWS)
def test_log_prob_is_right_and_integrates_to_one(name, backend):
    law = LAWS[name]
    given = called(name, backend, "log_prob", count_of(law.values), law.values)
    expected = law.log_prob(law.values, law.parameters)
    near = expected > -50.0
    np.testing.assert_allclose(given[near], expected[near], rtol=1e-6, atol=1e-6)
    assert np.sum(law.weights * np.exp(given)) == pytest.approx(1.0, abs=2.0 * 10.0**-law.decimals)


@pytest.mark.parametrize("name", LAWS)
def test_entropy(name, backend):
    law = LAWS[name]
    expected = by_sums(law, lambda log_p, _: -log_p)
    if not law.estimated:
        given = called(name, backend, "entropy", 1)
        assert given.shape == (1,)
        assert given[0] == pytest.approx(expected, abs=3.0 * 10.0**-law.decimals)
    # Monte Carlo, with samples and log-probabilities of the component's own.
    terms = called(name, backend, "entropy", 4000) if law.estimated else None
    if terms is None:
        terms = -called(name, backend, "sample_and_log_prob", 4000)[1]
    assert abs(terms.mean() - expected) < 4.0 * terms.std() / np.sqrt(4000)


@pytest.mark.parametrize("name", LAWS)
def test_divergence(name, backend):
    law = LAWS[name]
    expected = by_sums(law, lambda log_p, log_q: log_p - log_q)
    assert expected > 0.05
    if law.estimated:
        terms = called(name, backend, "kl_divergence", 4000, other=law.other)
        assert abs(terms.mean() - expected) < 4.0 * terms.std() / np.sqrt(4000)
    else:
        given = called(name, backend, "kl_divergence", 1, other=law.other)
        assert given[0] == pytest.approx(expected, abs=3.0 * 10.0**-law.decimals)
    itself = called(name, backend, "kl_divergence", 3, other=law.parameters)
    np.testing.assert_allclose(itself, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_samples(name, backend):
    law = LAWS[name]
    law.compare(called(name, backend, "sample_stochastic", 3000), law.parameters)
    law.compare(called(name, backend, "sample_and_log_prob", 3000)[0], law.parameters)


@pytest.mark.parametrize("name", LAWS)
def test_log_prob_of_samples(name, backend):
    """`sample_and_log_prob` says what `log_prob` says of the same samples."""
    values, log_probs = called(name, backend, "sample_and_log_prob", 50)
    np.testing.assert_allclose(called(name, backend, "log_prob", 50, values), log_probs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bernoulli", True),
        ("beta", 1.0 + 3.0 * 2.0 / 5.5),  # the mean
        ("categorical", 2),
        ("gumbel_softmax", [1.0, 0.0]),
        ("joint", {"a": 0.5, "b": (True,)}),
        ("log_normal", 1.0 + np.exp(0.4)),
        ("log_normal_below", -2.0 - np.exp(-0.5)),
        ("mixture", -1.0),
        ("multivariate_normal", [0.3, -0.5]),
        ("multivariate_normal_covariance", [0.3, -0.5]),
        ("normal", 0.5),
        ("squashed_normal", 2.5 + 1.5 * np.tanh(0.4)),
    ],
)
def test_deterministic_values(name, expected, backend):
    given = called(name, backend, "sample_deterministic", 1)
    for value, wanted in zip(leaves(given), leaves(expected), strict=True):
        np.testing.assert_allclose(value[0], wanted)


def leaves(value):
    found = []
    each(found.append, value)
    return found
