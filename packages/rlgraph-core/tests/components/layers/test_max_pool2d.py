import numpy as np
import pytest

from rlgraph.components import MaxPool2D
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, SpaceError
from rlgraph.testing import ComponentTest

SPACES = {"inputs": FloatBox(shape=(3, 4, 1), add_batch_rank=True)}
X = -np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], np.float32).reshape(1, 3, 4, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [[-1, -3]]),
        ({"pool_size": 2, "strides": 1}, [[-1, -2, -3], [-5, -6, -7]]),
        ({"pool_size": (3, 1)}, [[-1, -2, -3, -4]]),
        # Zeros would be larger than all of them.
        ({"pool_size": 2, "padding": "same"}, [[-1, -3], [-9, -11]]),
    ],
)
def test_the_largest_of_each_window(arguments, expected, backend):
    test = ComponentTest(MaxPool2D(**arguments), SPACES, backend=backend)
    test.test("call", X, expected_outputs=np.array(expected, np.float32)[None, ..., None])


def test_channels_keep_apart(backend):
    x = np.random.default_rng(0).normal(size=(2, 4, 4, 3)).astype(np.float32)
    expected = np.empty((2, 2, 2, 3))
    for n, i, j, c in np.ndindex(expected.shape):
        expected[n, i, j, c] = max(x[n, 2 * i + a, 2 * j + b, c] for a in (0, 1) for b in (0, 1))
    spaces = {"inputs": FloatBox(shape=(4, 4, 3), add_batch_rank=True)}
    ComponentTest(MaxPool2D(), spaces, backend=backend).test("call", x, expected_outputs=expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool_size": 0}, "max-pool2d.pool_size: expected an integer >= 1 or a pair of them, given 0"),
        ({"strides": (1,)}, "max-pool2d.strides"),
        ({"padding": "full"}, "max-pool2d.padding: unknown padding 'full'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        MaxPool2D(**arguments)
    assert message in str(error.value)


def test_a_window_that_does_not_fit():
    with pytest.raises(SpaceError, match="max-pool2d: a window of 4 x 4 does not fit"):
        ComponentTest(MaxPool2D(4), SPACES, backend="numpy")
