"""Comparisons of nested values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def assert_nested_close(given: Any, expected: Any, decimals: int = 6, path: str = "output") -> None:
    """Check that two nested values have the same structure and numbers.

    Args:
        given: dicts and tuples of arrays.
        expected: the same of arrays, numbers or nested lists; None stands for anything.
        decimals: floats may differ by less than ``1.5 * 10**-decimals``; a NaN equals a NaN.
        path: what the whole is called.

    Raises:
        AssertionError: names the path and shows both values, the largest difference and where it is.
    """
    if expected is None:
        return
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
        assert not isinstance(given, Mapping | tuple), (
            f"{path}: expected an array, given a {type(given).__name__} of {len(given)} parts"
        )
        assert_arrays_close(np.asarray(given), np.asarray(expected), path, absolute=1.5 * 10.0**-decimals)


def assert_arrays_close(
    given: np.ndarray, expected: np.ndarray, path: str, *, absolute: float = 0.0, relative: float = 0.0
) -> None:
    """Check that two arrays have the same shape and numbers.

    Args:
        given: the array to check.
        expected: what it should be.
        path: what it is called.
        absolute: floats may differ by this much.
        relative: floats may differ by this part of the expected one, in addition.

    Raises:
        AssertionError: names the path and shows both arrays, the largest difference and where it is.
    """
    assert expected.shape == given.shape, f"{path}: expected shape {expected.shape}, given {given.shape}"
    limit = "differ"
    if "f" not in expected.dtype.kind + given.dtype.kind:
        differs = np.asarray(given != expected)
    else:
        wanted, had = expected.astype(np.float64), given.astype(np.float64)
        differs = ~np.isclose(had, wanted, rtol=relative, atol=absolute, equal_nan=True)
        if absolute or relative:
            limit += f" by more than {absolute:.2g}" + (f" + {relative:.2g} of the value" if relative else "")
    if differs.any():
        raise AssertionError(
            f"{path}: {differs.sum()} of {differs.size} values {limit}{_worst(given, expected, differs)}\n"
            f"expected: {_shown(expected)}\n   given: {_shown(given)}"
        )


def _worst(given: np.ndarray, expected: np.ndarray, differs: np.ndarray) -> str:
    """The largest difference and its place; not for values that have none."""
    if not all(array.dtype.kind in "biuf" for array in (given, expected)):
        return ""
    with np.errstate(invalid="ignore"):
        distance = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    # What is infinite or NaN on one side only is as far away as can be.
    distance = np.where(np.isnan(distance), np.inf, distance)
    place = np.unravel_index(int(np.argmax(np.where(differs, distance, -1.0))), distance.shape)
    at = f" at {[int(index) for index in place]}" if place else ""
    return f"; the largest difference is {distance[place]:.6g}{at}: expected {expected[place]}, given {given[place]}"


def _shown(array: np.ndarray) -> str:
    return np.array2string(array, threshold=40, precision=8, separator=", ").replace("\n", "\n          ")
