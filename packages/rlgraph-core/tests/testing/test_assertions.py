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
        (np.array([np.nan, np.inf, -np.inf]), [np.nan, np.inf, -np.inf]),
        ({"a": np.array(1), "b": np.array(2)}, {"a": None, "b": 2}),
        (np.array(2**62 + 1), 2**62 + 1),
        (np.array(["a"]), ["a"]),
    ],
)
def test_close(given, expected):
    assert_nested_close(given, expected)


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        (
            np.array([1.0]),
            [1.1],
            "^output: 1 of 1 values differ by more than 1.5e-06; the largest difference is 0.1",
        ),
        ({"a": 1}, {"a": 1, "b": 2}, r"output: expected keys \['a', 'b'\], given \['a'\]"),
        (np.array(1), {"a": 1}, "output: expected a dict, given ndarray"),
        (
            {"a": {"b": np.array(1)}},
            {"a": {"b": 2}},
            "output.a.b: 1 of 1 values differ; .* is 1: expected 2, given 1",
        ),
        ((np.array(1),), (1, 2), "output: expected 2 parts, given 1"),
        ((np.array(1), np.array(2)), (1, 3), r"^output\[1\]: "),
        (np.array([1.0, 1.0]), 1.0, r"output: expected shape \(\), given \(2,\)"),
        (np.array([[1.0, 1.0]]), [1.0, 1.0], r"output: expected shape \(2,\), given \(1, 2\)"),
        (
            np.array([[1.0, 2.0], [3.0, 4.5]]),
            [[1.0, 2.25], [3.0, 4.0]],
            r"output: 2 of 4 values differ .* difference is 0.5 at \[1, 1\]: expected 4.0, given 4.5\n"
            r"expected: \[\[1. +, 2.25\],\n.*\n   given: \[\[1. +, 2. +\]",
        ),
        (np.array([1.0, np.nan]), [1.0, 2.0], r"1 of 2 .* is inf at \[1\]: expected 2.0, given nan"),
        (np.array([1.0, np.inf]), [1.0, 2.0], r"is inf at \[1\]: expected 2.0, given inf"),
        (np.array([True, False]), [True, True], r"1 of 2 values differ.* expected True, given False"),
        (np.array(["a"]), ["b"], r"output: 1 of 1 values differ\nexpected: \['b'\]\n +given: \['a'\]"),
        ((np.array(1),), 1, "output: expected an array, given a tuple of 1 parts"),
        ({"a": np.array(1)}, [1], "output: expected an array, given a dict of 1 parts"),
    ],
)
def test_not_close(given, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_nested_close(given, expected)


def test_decimals():
    assert_nested_close(np.array(1.01), 1.0, decimals=1)
    with pytest.raises(AssertionError):
        assert_nested_close(np.array(1.01), 1.0, decimals=3)
