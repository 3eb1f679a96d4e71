"""Environment states as JSON, with arrays as text."""

from __future__ import annotations

import base64
import reprlib
from typing import Any

import numpy as np

_ARRAY = "__array__"


def to_json(value: Any) -> Any:
    """Convert arrays and NumPy numbers in `value` to JSON."""
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {_ARRAY: data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return to_json(np.asarray(value))
    if isinstance(value, dict):
        return {key: to_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    return value


def from_json(value: Any) -> Any:
    """The inverse of `to_json`; tuples come back as lists, NumPy numbers as arrays without a rank.

    Raises:
        ValueError: an array has no shape or dtype, or its values do not fit them.
    """
    if isinstance(value, dict) and _ARRAY in value:
        return _array(value)
    if isinstance(value, dict):
        return {key: from_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [from_json(part) for part in value]
    return value


def _array(value: dict[str, Any]) -> np.ndarray:
    try:
        array = np.frombuffer(base64.b64decode(value[_ARRAY], validate=True), np.dtype(value["dtype"]))
        return array.reshape(value["shape"]).copy()
    except (KeyError, TypeError, ValueError, OverflowError, SyntaxError) as error:  # NumPy parses some dtypes
        shown = {key: value.get(key) for key in ("dtype", "shape")}
        raise ValueError(f"{reprlib.repr(shown)} is no array: {error}") from None
