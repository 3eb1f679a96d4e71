import math

import numpy as np
import pytest

from rlgraph.core import SpecError
from rlgraph.core.component.initializers import resolve_initializer


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


def test_wrong_initializers():
    with pytest.raises(SpecError, match="unknown initializer 'glorot'. Did you mean 'glorot_uniform'?"):
        resolve_initializer("glorot")
    with pytest.raises(SpecError, match="an initializer is a number, a name or a function, given dict"):
        resolve_initializer({})
