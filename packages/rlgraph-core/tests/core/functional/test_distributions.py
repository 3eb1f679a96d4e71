"""The functions of distributions on NumPy: SciPy, far-out numbers, and what holds for any parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, special, stats

from rlgraph.core.functional.distributions.bernoulli import (
    bernoulli_entropy,
    bernoulli_kl,
    bernoulli_log_prob,
)
from rlgraph.core.functional.distributions.beta import (
    beta_entropy,
    beta_kl,
    beta_log_prob,
    beta_logit_derivatives,
    log_gamma_variate,
)
from rlgraph.core.functional.distributions.categorical import (
    IMPOSSIBLE,
    categorical_entropy,
    categorical_kl,
    categorical_log_prob,
    mask_logits,
)
from rlgraph.core.functional.distributions.gumbel_softmax import (
    gumbel_noise,
    gumbel_softmax,
    gumbel_softmax_log_prob,
)
from rlgraph.core.functional.distributions.log_normal import (
    from_half_line,
    log_normal_entropy,
    log_normal_log_prob,
    to_half_line,
)
from rlgraph.core.functional.distributions.multivariate_normal import (
    cholesky,
    diagonal,
    forward_substitution,
    multivariate_normal_entropy,
    multivariate_normal_kl,
    multivariate_normal_log_prob,
)
from rlgraph.core.functional.distributions.normal import normal_entropy, normal_kl, normal_log_prob
from rlgraph.core.functional.distributions.squashed_normal import (
    log_half_range,
    log_tanh_derivative,
    squash,
    squashed_normal_entropy,
    squashed_normal_log_prob,
    unsquash,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS, OPS32 = NumpyOps("float64"), NumpyOps("float32")


def floats(low, high, shape=(5,)):
    return arrays("float64", shape, elements=st.floats(low, high))


MEANS, STDDEVS, SHAPES, LOGITS = floats(-3, 3), floats(0.1, 5), floats(0.3, 20), floats(-30, 30, (5, 4))
FACTORS = st.tuples(floats(-2, 2, (5, 3, 3)), floats(0.2, 3, (5, 3))).map(
    lambda parts: np.tril(parts[0], -1) + parts[1][..., None] * np.eye(3)
)
quick = settings(max_examples=50, deadline=None)


def close(given, expected, tolerance=1e-9):
    np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance)


# Against SciPy.


@quick
@given(MEANS, MEANS, STDDEVS)
def test_normal(values, mean, stddev):
    close(normal_log_prob(OPS, values, mean, stddev), stats.norm.logpdf(values, mean, stddev))
    close(normal_entropy(OPS, stddev), stats.norm.entropy(mean, stddev))


@quick
@given(floats(-8, 8), MEANS, STDDEVS)
def test_log_normal(x, mean, stddev):
    law = stats.lognorm(s=stddev, scale=np.exp(mean))
    close(log_normal_log_prob(OPS, x, mean, stddev), law.logpdf(np.exp(x)))
    close(log_normal_entropy(OPS, mean, stddev), law.entropy())


@quick
@given(floats(-1000, 1000))
def test_bernoulli(logits):
    p = special.expit(logits)
    close(bernoulli_log_prob(OPS, np.ones(5, bool), logits), special.log_expit(logits))
    close(bernoulli_log_prob(OPS, np.zeros(5, bool), logits), special.log_expit(-logits))
    close(bernoulli_entropy(OPS, logits), special.entr(p) + special.entr(special.expit(-logits)), 1e-7)


@quick
@given(LOGITS, arrays("int64", 5, elements=st.integers(0, 3)))
def test_categorical(logits, values):
    p = special.softmax(logits, axis=-1)
    expected = special.log_softmax(logits, axis=-1)[np.arange(5), values]
    close(categorical_log_prob(OPS, values, logits), expected)
    close(categorical_entropy(OPS, logits), stats.entropy(p, axis=-1), 1e-7)


@quick
@given(floats(1e-5, 1 - 1e-5), SHAPES, SHAPES)
def test_beta(values, alpha, beta):
    close(beta_log_prob(OPS, values, alpha, beta), stats.beta.logpdf(values, alpha, beta), 1e-8)
    close(beta_entropy(OPS, alpha, beta), stats.beta.entropy(alpha, beta), 1e-6)


@quick
@given(floats(-2, 2, (5, 3)), floats(-2, 2, (5, 3)), FACTORS)
def test_multivariate_normal(values, mean, factors):
    covariances = factors @ np.swapaxes(factors, -1, -2)
    given_ = multivariate_normal_log_prob(OPS, values, mean, factors)
    entropies = multivariate_normal_entropy(OPS, factors)
    for b in range(5):
        law = stats.multivariate_normal(mean[b], covariances[b], allow_singular=True)
        close(given_[b], law.logpdf(values[b]), 1e-4)
        close(entropies[b], law.entropy(), 1e-4)


@quick
@given(FACTORS, floats(-2, 2, (5, 3, 2)))
def test_factors(factors, right):
    covariances = factors @ np.swapaxes(factors, -1, -2)
    close(cholesky(OPS, covariances), np.linalg.cholesky(covariances), 1e-6)
    # Neither reads what is above the diagonal.
    close(cholesky(OPS, np.tril(covariances)), np.linalg.cholesky(covariances), 1e-6)
    close(forward_substitution(OPS, factors + np.triu(np.ones((3, 3)), 1), factors @ right), right, 1e-6)
    close(diagonal(OPS, factors), np.diagonal(factors, axis1=-2, axis2=-1))


# What holds for all parameters.


@quick
@given(MEANS, STDDEVS, MEANS, STDDEVS)
def test_divergence_of_normals(mean, stddev, other_mean, other_stddev):
    same = normal_kl(OPS, mean, stddev, mean, stddev)
    close(same, 0.0)
    assert (normal_kl(OPS, mean, stddev, other_mean, other_stddev) >= -1e-9).all()
    # A diagonal covariance is the same, summed.
    factors = [np.diag(x)[None] for x in (stddev, other_stddev)]
    vectors = multivariate_normal_kl(OPS, mean[None], factors[0], other_mean[None], factors[1])
    close(vectors[0], normal_kl(OPS, mean, stddev, other_mean, other_stddev).sum(), 1e-8)


@quick
@given(SHAPES, SHAPES, SHAPES, SHAPES)
def test_divergence_of_betas(alpha, beta, other_alpha, other_beta):
    close(beta_kl(OPS, alpha, beta, alpha, beta), 0.0)
    assert (beta_kl(OPS, alpha, beta, other_alpha, other_beta) >= -1e-9).all()


def test_no_divergence_of_betas_is_negative_in_single_precision():
    """Rounding would leave down to -1e-4 of such shapes, which are large and close to each other."""
    rng = np.random.default_rng(0)
    alpha, beta = rng.uniform(1.0, 300.0, (2, 2000)).astype("float32")
    near = [x * np.float32(1.0 + 1e-4) for x in (alpha, beta)]
    assert beta_kl(NumpyOps("float32"), alpha, beta, *near).min() >= 0.0


@quick
@given(LOGITS, LOGITS)
def test_divergence_of_discrete_distributions(logits, other):
    close(categorical_kl(OPS, logits, logits), 0.0)
    close(
        categorical_kl(OPS, logits, other),
        stats.entropy(*(special.softmax(x, -1).T for x in (logits, other))),
        1e-6,
    )
    close(bernoulli_kl(OPS, logits, logits), 0.0)
    assert (bernoulli_kl(OPS, logits, other) >= -1e-9).all()
    # Two categories are a bool.
    pairs = [np.stack([np.zeros(5), x[:, 0]], -1) for x in (logits, other)]
    close(categorical_kl(OPS, *pairs), bernoulli_kl(OPS, logits[:, 0], other[:, 0]), 1e-7)


@quick
@given(LOGITS, arrays("bool", (5, 4)))
def test_a_mask_is_a_smaller_distribution(logits, mask):
    masked = mask_logits(OPS, logits, mask)
    entropies = categorical_entropy(OPS, masked)
    for b in range(5):
        allowed = mask[b] if mask[b].any() else np.ones(4, bool)
        p = special.softmax(logits[b][allowed])
        close(entropies[b], stats.entropy(p), 1e-7)
        close(np.exp(masked[b][allowed]) / np.exp(masked[b][allowed]).sum(), p, 1e-7)
        assert (masked[b][~allowed] == IMPOSSIBLE).all()


# Squashing.


def test_log_tanh_derivative_where_the_formula_of_the_books_ends():
    x = np.array([0.0, 0.5, -2.0, 5.0])
    close(log_tanh_derivative(OPS, x), np.log(1.0 - np.tanh(x) ** 2))
    # cosh is exact there: log(1 - tanh^2) = -2 log(cosh).
    far = np.array([20.0, -50.0, 300.0])
    close(log_tanh_derivative(OPS, far), -2.0 * (np.abs(far) - np.log(2.0)))
    close(log_tanh_derivative(OPS32, far.astype("float32")), -2.0 * (np.abs(far) - np.log(2.0)), 1e-6)


@quick
@given(floats(-5, 5), st.floats(-3, 0), st.floats(0.5, 4))
def test_unsquash_undoes_squash(x, low, high):
    values = squash(OPS, x, low, high)
    assert ((values >= low) & (values <= high)).all()
    close(unsquash(OPS, values, low, high), x, 1e-6)


def test_squash_to_its_bounds():
    close(squash(OPS, np.array([-np.inf, 0.0, np.inf]), -1.0, 4.0), [-1.0, 1.5, 4.0])
    close(squash(OPS, np.zeros(2), np.array([-1.0, 0.0]), np.array([1.0, 10.0])), [0.0, 5.0])
    close(log_half_range(OPS, 1.0, 5.0), np.log(2.0))
    close(log_half_range(OPS, np.array([0.0]), np.array([4.0])), [np.log(2.0)])
    assert np.isfinite(unsquash(OPS32, np.array([-1.0, 1.0], "float32"), -1.0, 1.0)).all()


@quick
@given(floats(-10, 20), st.floats(-3, 3), st.sampled_from([-1.0, 1.0]))
def test_the_half_line_and_back(x, bound, sign):
    values = to_half_line(OPS, x, bound, sign)
    assert (sign * values >= sign * bound).all()
    close(from_half_line(OPS, values, bound, sign), x, 1e-6)


def test_half_lines_end_at_their_bounds():
    close(to_half_line(OPS, np.array([-np.inf, 0.0]), 2.0, 1.0), [2.0, 3.0])
    close(to_half_line(OPS, np.zeros(2), np.array([2.0, 5.0]), np.array([1.0, -1.0])), [3.0, 4.0])
    close(from_half_line(OPS32, np.array([2.0, 1.0], "float32"), 2.0, 1.0), [-20.0, -20.0])


@pytest.mark.parametrize("mean", [0.0, 1.5, -6.0])
@pytest.mark.parametrize(
    ("stddev", "tolerance"), [(1e-3, 1e-9), (0.3, 1e-9), (1.0, 1e-9), (3.0, 1e-6), (7.4, 1e-3)]
)
def test_entropy_of_a_squashed_normal(mean, stddev, tolerance):
    """By SciPy's adaptive quadrature, of minus the log-density."""

    def term(z):
        x = np.array([mean + stddev * z])
        return stats.norm.pdf(z) * -squashed_normal_log_prob(OPS, x, mean, np.array([stddev]), -1.0, 2.0)[0]

    expected = (
        integrate.quad(term, -12.0, 12.0, points=[-mean / stddev], limit=400, epsabs=1e-11)[0]
        if abs(mean / stddev) < 12
        else integrate.quad(term, -12.0, 12.0, limit=400, epsabs=1e-11)[0]
    )
    found = squashed_normal_entropy(OPS, np.array([mean]), np.array([stddev]), -1.0, 2.0)[0]
    assert found == pytest.approx(expected, abs=tolerance)


# Noise.


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 1.7, 30.0])
def test_gamma_variates(alpha):
    rng = np.random.default_rng(0)
    shape = (8, 5000)
    variates = log_gamma_variate(
        OPS, np.full(5000, alpha), rng.normal(size=shape), rng.uniform(size=shape), rng.uniform(size=5000)
    )
    assert stats.kstest(variates, stats.loggamma(alpha).cdf).pvalue > 1e-3


def test_a_gamma_variate_is_the_first_accepted_proposal():
    """With shape 1, d = 2/3 and c = 1 / sqrt(6): x = -3 gives a negative v; x = 1 gives v = (1 + c)^3."""
    normals, uniforms = np.array([[-3.0], [1.0], [0.0]]), np.array([[0.1], [0.1], [0.1]])
    found = log_gamma_variate(OPS, np.ones(1), normals, uniforms, np.ones(1))
    close(found, np.log(2.0 / 3.0 * (1.0 + 1.0 / np.sqrt(6.0)) ** 3))
    # Below 1 it is that of the shape above, times u^(1 / shape).
    half = log_gamma_variate(OPS, np.full(1, 0.5), normals, uniforms, np.full(1, 0.25))
    close(half, log_gamma_variate(OPS, np.full(1, 1.5), normals, uniforms, np.ones(1)) + 2.0 * np.log(0.25))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5, 40.0])
@pytest.mark.parametrize("beta", [0.4, 1.0, 7.0])
def test_beta_variates_move_with_their_parameters(alpha, beta):
    """The derivatives of SciPy's quantile function at the probability of the variate."""
    probability = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    values = stats.beta.ppf(probability, alpha, beta)
    inside = (values > 1e-6) & (values < 1.0 - 1e-6)
    values, probability = values[inside], probability[inside]
    a, b = np.full_like(values, alpha), np.full_like(values, beta)
    found = beta_logit_derivatives(OPS, special.logit(values), a, b)
    h = 1e-5
    for given_, (da, db) in zip(found, ((h, 0.0), (0.0, h)), strict=True):
        above, below = (stats.beta.ppf(probability, alpha + s * da, beta + s * db) for s in (1.0, -1.0))
        close(given_ * values * (1.0 - values), (above - below) / (2.0 * h), 1e-6)


def test_gumbel_noise():
    u = np.array([0.5, 0.9])
    close(gumbel_noise(OPS, u), stats.gumbel_r.ppf(u))
    assert np.isfinite(gumbel_noise(OPS32, np.array([0.0, 1.0], "float32"))).all()


def test_gumbel_softmax():
    logits, u = np.array([[1.0, 0.0, -1.0]]), np.array([[0.5, 0.5, 0.5]])
    close(gumbel_softmax(OPS, logits, u, 2.0), special.softmax(logits / 2.0, -1))
    close(gumbel_softmax(OPS, logits, u, 0.01), [[1.0, 0.0, 0.0]])


def test_density_of_a_gumbel_softmax_of_three_integrates_to_one():
    u = np.linspace(-25.0, 25.0, 401)
    first, second = special.expit(u)[:, None], special.expit(u)
    y = np.stack(np.broadcast_arrays(first, (1.0 - first) * second, (1.0 - first) * (1.0 - second)), -1)
    area = first * (1.0 - first) ** 2 * second * (1.0 - second) * (u[1] - u[0]) ** 2
    logits = np.broadcast_to([0.5, -0.3, 0.1], y.shape)
    assert np.sum(area * np.exp(gumbel_softmax_log_prob(OPS, y, logits, 0.8))) == pytest.approx(1.0, abs=1e-6)
