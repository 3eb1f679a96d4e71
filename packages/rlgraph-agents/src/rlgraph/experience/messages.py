"""Messages between processes: a JSON header and named arrays as bytes. Nothing is executed when one is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.spaces import IntBox

#: Kinds of numbers that a message may contain: bools, integers and floats.
_KINDS = "biuf"
#: Arrays begin at multiples of this number of bytes.
_ALIGNMENT = 64


def pack_message(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a message.

    Args:
        header: JSON-able facts.
        arrays: numbers by name.
    """
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    described = {name: [array.dtype.str, list(array.shape)] for name, array in parts.items()}
    text = json.dumps({"header": dict(header), "arrays": described}).encode()
    chunks: list[Any] = [len(text).to_bytes(8, "little"), text, b"\0" * _padding(8 + len(text))]
    for array in parts.values():
        chunks += [array.reshape(-1).view(np.uint8), b"\0" * _padding(array.nbytes)]
    return b"".join(chunks)


def unpack_message(message: bytes | memoryview) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a message; the arrays are read-only views of its bytes.

    Raises:
        InputError: the bytes are not a message.
    """
    try:
        size = int.from_bytes(message[:8], "little")
        contents = json.loads(bytes(message[8 : 8 + size]))
        header, described = dict(contents["header"]), dict(contents["arrays"])
        offset, arrays = 8 + size + _padding(8 + size), {}
        for name, (code, shape) in described.items():
            dtype, count = np.dtype(code), math.prod(shape)
            if dtype.kind not in _KINDS or min(shape, default=0) < 0:
                raise ValueError(f"array {name!r} is {dtype}{shape}")
            arrays[name] = np.frombuffer(message, dtype, count, offset).reshape(shape)
            offset += dtype.itemsize * count + _padding(dtype.itemsize * count)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            f"expected the bytes of a message, given {len(message)} other bytes ({error})"
        ) from None
    return header, arrays


def checked_array(
    message: str, arrays: Mapping[str, np.ndarray], path: str, shape: tuple[int, ...], box: Any
) -> np.ndarray:
    """The array of a message at this path.

    Args:
        message: its kind, named in errors.
        arrays: of the message.
        path: name of the array.
        shape: expected.
        box: the Space of its elements.

    Raises:
        InputError: it is missing, does not fit, or has numbers that are not finite or outside their Space.
    """
    array = arrays.get(path)
    if array is None:
        raise InputError(f"{message}: the field {path!r} is missing; given {', '.join(arrays)}")
    if array.shape != shape or array.dtype.kind not in box.kinds:
        raise InputError(
            f"{message}: {path}: expected {box.dtype}{list(shape)}, given {array.dtype}{list(array.shape)}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{message}: {path}: a value is not finite")
    if isinstance(box, IntBox) and array.size:
        below = box.low is not None and (array < box.low).any()
        if below or (box.high is not None and (array >= box.high).any()):
            raise InputError(f"{message}: {path}: a value is outside {box!r}")
    return array


def _padding(size: int) -> int:
    return -size % _ALIGNMENT
