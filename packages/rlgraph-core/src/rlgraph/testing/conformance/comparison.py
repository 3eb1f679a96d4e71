"""Comparisons that allow for nothing but rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.testing.assertions import assert_arrays_close


def assert_same(given: Any, expected: Any, tolerance: float | None = None, path: str = "output") -> None:
    """Check structure, dtypes and shapes exactly, floats within `tolerance`.

    Args:
        given: nested dicts and tuples of arrays.
        expected: the same.
        tolerance: the largest difference of floats, relative and absolute; None: floats must be equal.
        path: what the whole is called.

    Raises:
        AssertionError: names the place.
    """
    if isinstance(expected, Mapping):
        assert isinstance(given, Mapping), f"{path}: expected a dict, given {type(given).__name__}"
        assert sorted(given) == sorted(expected), (
            f"{path}: expected {sorted(expected)}, given {sorted(given)}"
        )
        for key in expected:
            assert_same(given[key], expected[key], tolerance, f"{path}.{key}")
    elif isinstance(expected, tuple | list):
        assert isinstance(given, tuple | list), f"{path}: expected a tuple, given {type(given).__name__}"
        assert len(given) == len(expected), f"{path}: expected {len(expected)} parts, given {len(given)}"
        for index, (one, other) in enumerate(zip(given, expected, strict=True)):
            assert_same(one, other, tolerance, f"{path}[{index}]")
    else:
        _assert_same_array(np.asarray(given), np.asarray(expected), tolerance, path)


def _assert_same_array(given: np.ndarray, expected: np.ndarray, tolerance: float | None, path: str) -> None:
    assert given.dtype == expected.dtype, f"{path}: expected dtype {expected.dtype}, given {given.dtype}"
    assert given.shape == expected.shape, f"{path}: expected shape {expected.shape}, given {given.shape}"
    allowed = tolerance or 0.0
    assert_arrays_close(given, expected, path, absolute=allowed, relative=allowed)
