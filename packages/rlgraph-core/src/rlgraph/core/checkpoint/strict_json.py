"""JSON of checkpoints: limited size, finite numbers, unique keys."""

from __future__ import annotations

import json
import reprlib
from collections import Counter
from typing import Any

from rlgraph.core.errors import CheckpointError

#: Bytes. A header of 100,000 variables takes about 12 MB.
LIMIT = 1 << 24


def to_json(where: object, content: Any, *, indent: int | None = None) -> bytes:
    """`content` as JSON text with sorted keys.

    Raises:
        CheckpointError: it cannot be written as JSON, or is too large to be read.
    """
    try:
        text = json.dumps(content, indent=indent, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be written as JSON: {error}") from error
    check_size(where, len(text))
    return text


def from_json(where: object, text: bytes) -> Any:
    """Parse `text`.

    Raises:
        CheckpointError: invalid JSON, a duplicate key, a number that is not finite, or too deep nesting.
    """
    check_size(where, len(text))
    try:
        return json.loads(text.decode(), object_pairs_hook=_mapping, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be read: {error}") from error


def check_size(where: object, size: int) -> None:
    """Refuse more than `LIMIT` bytes of JSON, before they are read.

    Raises:
        CheckpointError: there are more bytes.
    """
    if size > LIMIT:
        raise CheckpointError(f"{where} has {size:,} bytes of JSON, at most {LIMIT:,} are read")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"duplicate key {reprlib.repr(twice)}")
    return mapping


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
