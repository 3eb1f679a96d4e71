"""Comparisons of nested values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def assert_nested_close(given: Any, expected: Any, decimals: int = 6, path: str = "output") -> None:
    """Check that two nested values have the same structure and numbers.

    Raises:
        AssertionError: names the path and shows both values.
    """
    if isinstance(expected, Mapping):
        assert isinstance(given, Mapping), f"{path}: expected a dict, given {type(given).__name__}"
        assert sorted(given) == sorted(expected), (
            f"{path}: expected keys {sorted(expected)}, given {sorted(given)}"
        )
        for key, value in expected.items():
            assert_nested_close(given[key], value, decimals, f"{path}.{key}")
    elif isinstance(given, tuple) and isinstance(expected, Sequence):
        assert len(given) == len(expected), f"{path}: expected {len(expected)} parts, given {len(given)}"
        for index, value in enumerate(expected):
            assert_nested_close(given[index], value, decimals, f"{path}[{index}]")
    else:
        shapes = np.shape(expected), np.shape(given)
        assert shapes[0] == shapes[1], f"{path}: expected shape {shapes[0]}, given {shapes[1]}"
        np.testing.assert_almost_equal(
            np.asarray(given), np.asarray(expected), decimal=decimals, err_msg=f"at {path}"
        )
