import numpy as np
import pytest

from rlgraph.testing import assert_nested_close


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float32(1.0), 1.0),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        ({"a": np.array([1.0]), "b": (np.array(2), np.array(3))}, {"b": (2, 3), "a": [1.0]}),
        ((np.array(1), np.array(2)), [1, 2]),
        (np.array([1.0 + 1e-8]), [1.0]),
    ],
)
def test_close(given, expected):
    assert_nested_close(given, expected)


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        (np.array([1.0]), [1.1], "at output"),
        ({"a": 1}, {"a": 1, "b": 2}, r"output: expected keys \['a', 'b'\], given \['a'\]"),
        (np.array(1), {"a": 1}, "output: expected a dict, given ndarray"),
        ({"a": {"b": np.array(1)}}, {"a": {"b": 2}}, "at output.a.b"),
        ((np.array(1),), (1, 2), "output: expected 2 parts, given 1"),
        ((np.array(1), np.array(2)), (1, 3), r"at output\[1\]"),
        (np.array([1.0, 1.0]), 1.0, r"output: expected shape \(\), given \(2,\)"),
        (np.array([[1.0, 1.0]]), [1.0, 1.0], r"output: expected shape \(2,\), given \(1, 2\)"),
    ],
)
def test_not_close(given, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_nested_close(given, expected)


def test_decimals():
    assert_nested_close(np.array(1.01), 1.0, decimals=1)
    with pytest.raises(AssertionError):
        assert_nested_close(np.array(1.01), 1.0, decimals=3)
