import math

import numpy as np
import pytest

from rlgraph.components import Standardize
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, FloatBox, SpaceError
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)


def test_by_hand(backend):
    """Mean 2, variance (1 + 1) / 2 of the population."""
    test = ComponentTest(Standardize(), {"values": FLOATS}, backend=backend)
    test.test("standardize", [1.0, 3.0], expected_outputs=[-1.0, 1.0], decimals=5)
    test.test("standardize", [5.0, 5.0, 5.0], expected_outputs=[0.0, 0.0, 0.0])
    # Epsilon is added to the deviation, 1, not to the variance.
    test = ComponentTest(Standardize(epsilon=0.25), {"values": FLOATS}, backend=backend)
    test.test("standardize", [1.0, 3.0], expected_outputs=[-0.8, 0.8])


def test_weights(backend):
    """1, 4 and 7 count: mean 4, variance 18 / 3."""
    steps = {"add_batch_rank": True, "add_time_rank": True}
    deviation = math.sqrt(6.0)
    expected = [[-3.0 / deviation, 0.0], [0.0, 3.0 / deviation]]
    for weights, given in (
        (FloatBox(**steps), [[2.0, 0.5], [0.0, 1.0]]),
        (BoolBox(**steps), [[True, True], [False, True]]),
    ):
        spaces = {"values": FloatBox(**steps), "weights": weights}
        test = ComponentTest(Standardize(), spaces, backend=backend)
        for bad in (1e6, np.nan, np.inf):
            values = [[1.0, 4.0], [bad, 7.0]]
            test.test("standardize", values, given, expected_outputs=expected, decimals=5)
        none = np.zeros((2, 2), type(given[0][0]))
        test.test("standardize", values, none, expected_outputs=np.zeros((2, 2)))


def test_columns(backend):
    """Each is standardized on its own, as the test by hand; the last one has no items."""
    columns = FloatBox(shape=(3,), add_batch_rank=True)
    spaces = {"values": FLOATS, "columns": columns, "column_weights": columns}
    test = ComponentTest(Standardize(), spaces, backend=backend)
    given = [[1.0, 5.0, np.nan], [np.inf, 7.0, 2.0], [3.0, 9.0, 3.0]]
    weights = [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]
    expected = [[-1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    test.test("standardize_columns", given, weights, expected_outputs=expected, decimals=5)
    test = ComponentTest(Standardize(), {"values": FLOATS, "columns": columns}, backend=backend)
    test.test("standardize_columns", given[2:] + given[2:], expected_outputs=np.zeros((2, 3)))


def test_mistakes():
    with pytest.raises(SpecError, match="standardize.epsilon: expected a number > 0"):
        Standardize(0.0)
    with pytest.raises(SpaceError, match="weights: expected the ranks of values"):
        spaces = {"values": FLOATS, "weights": FloatBox(add_batch_rank=True, add_time_rank=True)}
        ComponentTest(Standardize(), spaces, backend="numpy")
