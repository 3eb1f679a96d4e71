"""JSON as checkpoints have it: of limited size, finite, without doubled keys. What is written can be read."""

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
        CheckpointError: it cannot be kept as JSON, or is too large to be read again.
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
        CheckpointError: it is no JSON, has a key twice, a number that is not finite, or is nested too deeply.
    """
    check_size(where, len(text))
    try:
        return json.loads(text.decode(), object_pairs_hook=_mapping, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be read: {error}") from error


def check_size(where: object, size: int) -> None:
    """Refuse more than `LIMIT` bytes of JSON, best before they are read.

    Raises:
        CheckpointError: they are more.
    """
    if size > LIMIT:
        raise CheckpointError(f"{where} has {size:,} bytes of JSON, at most {LIMIT:,} are read")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {reprlib.repr(twice)} is there twice")
    return mapping


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
