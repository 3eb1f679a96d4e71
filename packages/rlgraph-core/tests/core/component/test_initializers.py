import math

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import Dense
from rlgraph.core import SpecError
from rlgraph.core.component.initializers import resolve_initializer
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest


def draw(spec, shape, dtype="float32", seed=0):
    return resolve_initializer(spec)(shape, dtype, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("name", "shape", "limit"),
    [
        ("glorot_uniform", (200, 100), math.sqrt(6 / 300)),
        ("he_uniform", (200, 100), math.sqrt(6 / 200)),
        ("glorot_uniform", (3, 3, 16, 32), math.sqrt(6 / (9 * 16 + 9 * 32))),
        ("he_uniform", (3, 3, 16, 32), math.sqrt(6 / (9 * 16))),
        ("glorot_uniform", (500,), math.sqrt(6 / 1000)),
    ],
)
def test_uniform(name, shape, limit):
    values = draw(name, shape)
    assert (values.shape, values.dtype) == (shape, np.float32)
    assert np.abs(values).max() <= limit * (1 + 1e-6)
    assert np.abs(values).max() > 0.98 * limit
    # Uniform in +-limit: mean 0, standard deviation limit / sqrt(3).
    error = 4 * limit / math.sqrt(3 * values.size)
    assert abs(values.mean()) < error
    assert abs(values.std() - limit / math.sqrt(3)) < error
    np.testing.assert_array_equal(values, draw(name, shape))
    assert not np.array_equal(values, draw(name, shape, seed=1))


def test_constants():
    np.testing.assert_array_equal(draw(0.5, (2, 2)), np.full((2, 2), 0.5, np.float32))
    np.testing.assert_array_equal(draw([1.0, 2.0], (2,)), [1.0, 2.0])
    np.testing.assert_array_equal(draw(np.eye(2), (2, 2), "float64"), np.eye(2))
    assert draw(True, (2,), "bool").tolist() == [True, True]
    assert draw(3, (), "int64").dtype == np.int64
    given = np.zeros(2, np.float32)
    draw(given, (2,))[...] = 1.0
    assert given.tolist() == [0.0, 0.0]


def test_functions():
    np.testing.assert_array_equal(draw(lambda shape, dtype, rng: np.full(shape, 3, dtype), (2,)), [3.0, 3.0])


def test_other_names_for_the_same():
    for name, other in [
        ("xavier", "glorot_uniform"),
        ("xavier_uniform", "glorot_uniform"),
        ("xavier_normal", "glorot_normal"),
        ("he", "he_uniform"),
    ]:
        np.testing.assert_array_equal(draw(name, (3, 4)), draw(other, (3, 4)))
    np.testing.assert_array_equal(draw("zeros", (2,)), [0.0, 0.0])
    np.testing.assert_array_equal(draw("ones", (2,), "int64"), [1, 1])
    np.testing.assert_array_equal(draw({"type": "constant", "value": [1, 2]}, (2,)), [1.0, 2.0])


def test_normal():
    values = draw({"type": "normal", "mean": 1.0, "stddev": 0.1}, (100, 100))
    assert values.dtype == np.float32
    assert abs(values.mean() - 1.0) < 4 * 0.1 / 100
    assert abs(values.std() - 0.1) < 4 * 0.1 / math.sqrt(2 * 10_000)
    assert np.abs(values - 1.0).max() > 0.3


def test_truncated_normal():
    values = draw({"type": "truncated_normal", "mean": -1.0, "stddev": 0.1}, (100, 100), "float64")
    assert 0.19 < np.abs(values + 1.0).max() <= 0.2
    # The variance of a normal cut at two standard deviations: 1 - 2 * 2 * phi(2) / (2 * Phi(2) - 1).
    expected = 0.1 * math.sqrt(1 - 4 * 0.05399096651318806 / 0.9544997361036416)
    assert abs(values.std() - expected) < 4 * expected / math.sqrt(2 * 10_000)


def test_uniform_between():
    values = draw({"type": "uniform", "low": 2, "high": 3}, (1000,))
    assert 2.0 <= values.min() < 2.01 < 2.99 < values.max() <= 3.0


#: What one output is made of, and one input goes into: of a matrix, and of a filter with its window of 3 x 2.
FANS = {(60, 40): (60, 40), (3, 2, 10, 20): (60, 120)}
VARIANCES = {
    "glorot": lambda inputs, outputs: 2.0 / (inputs + outputs),  # Glorot and Bengio (2010), eq. 12
    "he": lambda inputs, outputs: 2.0 / inputs,  # He et al. (2015), eq. 10
    "lecun": lambda inputs, outputs: 1.0 / inputs,  # LeCun et al. (1998), section 4.6
}


@pytest.mark.parametrize("gain", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("name", VARIANCES)
@pytest.mark.parametrize("shape", FANS)
def test_distributions(shape, name, kind, gain):
    """Kolmogorov-Smirnov against the distribution of the paper."""
    deviation = gain * math.sqrt(VARIANCES[name](*FANS[shape]))
    wide = stats.uniform(-math.sqrt(3.0) * deviation, 2.0 * math.sqrt(3.0) * deviation)
    expected = wide if kind == "uniform" else stats.norm(0.0, deviation)
    values = draw({"type": f"{name}_{kind}", "gain": gain}, shape, "float64").reshape(-1)
    assert stats.kstest(values, expected.cdf).pvalue > 0.01
    assert stats.kstest(math.sqrt(2.0) * values, expected.cdf).pvalue < 1e-4  # it would have seen a 2


def test_truncated_normal_is_one():
    values = draw({"type": "truncated_normal", "mean": 1.0, "stddev": 2.0}, (3000,), "float64")
    assert stats.kstest(values, stats.truncnorm(-2.0, 2.0, 1.0, 2.0).cdf).pvalue > 0.01


def test_orthogonal_matrices_are_uniform():
    """Of the rotations and reflections of a plane: all angles, and as many of the one as of the other."""
    matrices = np.stack([draw("orthogonal", (2, 2), "float64", seed) for seed in range(400)])
    angles = np.arctan2(matrices[:, 1, 0], matrices[:, 0, 0])
    assert stats.kstest(angles, stats.uniform(-math.pi, 2.0 * math.pi).cdf).pvalue > 0.01
    assert stats.binomtest(int((np.linalg.det(matrices) > 0).sum()), 400).pvalue > 0.01


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 2, 3)])
def test_orthogonal(shape):
    matrix = draw({"type": "orthogonal", "gain": 2.0}, shape, "float64").reshape(-1, shape[-1])
    small = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    np.testing.assert_allclose(small, 4.0 * np.eye(len(small)), atol=1e-12)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("glorot", "net/weights: unknown initializer 'glorot'. Did you mean 'glorot_normal'?"),
        (
            {"type": "truncated_norml"},
            "weights.type: unknown initializer 'truncated_norml'. Did you mean 'truncated_normal'?",
        ),
        ({}, "net/weights.type: unknown initializer ''. Known: constant, "),
        (
            {"type": "truncated_normal", "std": 0.1},
            "net/weights.std: truncated_normal has no such key. Did you mean 'stddev'?",
        ),
        ({"type": "normal", "stddev": "0.1"}, "net/weights.stddev: expected a number, given '0.1'"),
        ({"type": "constant"}, "net/weights.value: missing; constant requires it"),
        (
            None,
            "net/weights: expected a number, an array, a name, a mapping with 'type' or a function, given NoneType",
        ),
    ],
)
def test_wrong_initializers(spec, message):
    with pytest.raises(SpecError) as error:
        resolve_initializer(spec, "net/weights")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([1.0, 2.0], r"initializer of dense/weights: expected values of shape \(3, 2\), given \(2,\)"),
        (np.zeros((2, 3)), r"expected values of shape \(3, 2\), given \(2, 3\)"),
        (lambda shape, dtype, rng: np.zeros(shape[0]), r"expected values of shape \(3, 2\), given \(3,\)"),
        (True, "initializer of dense/weights: expected float32 values, given True"),
    ],
)
def test_initializers_that_do_not_fit_the_variable(spec, message):
    with pytest.raises(SpecError, match=message):
        ComponentTest(
            Dense(2, weights_spec=spec),
            {"inputs": FloatBox(shape=(3,), add_batch_rank=True)},
            backend="numpy",
        )


def test_a_wrong_initializer_names_its_variable():
    with pytest.raises(SpecError, match="dense/weights: unknown initializer 'xaver'. Did you mean 'xavier'?"):
        ComponentTest(
            Dense(2, weights_spec="xaver"),
            {"inputs": FloatBox(shape=(3,), add_batch_rank=True)},
            backend="numpy",
        )


def test_rank_of_orthogonal():
    with pytest.raises(
        SpecError, match=r"'orthogonal' needs a variable of rank 2 or more, given shape \(3,\)"
    ):
        draw("orthogonal", (3,))
