"""Representations of results that fit on a line."""

from __future__ import annotations

from math import isfinite
from typing import Any

#: Columns of a line, and of a text in it.
LINE, TEXT = 110, 40


def short_repr(result: object, *attributes: str, **others: Any) -> str:
    """``Class(name=value, ...)`` in at most `LINE` columns: rounded numbers, the ends of long texts, no NaN."""
    parts = []
    for name, value in {**{name: getattr(result, name) for name in attributes}, **others}.items():
        if isinstance(value, float):
            value = f"{value:.5g}" if isfinite(value) else None
        elif not isinstance(value, int):
            value = None if value is None else str(value)
            value = value and (value if len(value) <= TEXT else f"...{value[3 - TEXT :]}")
        parts += [] if value is None else [f"{name}={value}"]
    text = f"{type(result).__name__}({', '.join(parts)})"
    return text if len(text) <= LINE else f"{text[: LINE - 4]}...)"
