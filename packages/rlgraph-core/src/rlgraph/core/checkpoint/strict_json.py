"""The JSON of checkpoints: of limited size, finite, without duplicate keys."""

from __future__ import annotations

import json
import reprlib
from collections import Counter
from typing import Any

from rlgraph.core.errors import CheckpointError

#: Bytes. A header of 100,000 variables takes about 12 MB.
LIMIT = 1 << 24


def to_json(where: object, content: Any, *, indent: int | None = None) -> bytes:
    """`content` as text, keys sorted.

    Raises:
        CheckpointError: it is not valid JSON content, or is too large to be read again.
    """
    try:
        text = json.dumps(content, indent=indent, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be written as JSON: {error}") from error
    check_size(where, len(text))
    return text


def from_json(where: object, text: bytes) -> Any:
    """The content of `text`.

    Raises:
        CheckpointError: invalid JSON, a duplicate key, a number that is not finite, or too deep nesting.
    """
    check_size(where, len(text))
    try:
        return json.loads(text.decode(), object_pairs_hook=_mapping, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be read: {error}") from error


def check_size(where: object, size: int) -> None:
    """Refuse more than `LIMIT` bytes of JSON; call it before reading.

    Raises:
        CheckpointError: the size exceeds the limit.
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
