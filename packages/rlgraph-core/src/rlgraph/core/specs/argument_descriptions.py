"""Descriptions of accepted values for the reference: from annotations, with bounds and choices from docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rlgraph.core.specs.argument_types import expectation

_RANGE = re.compile(r"\bin ([\[(]-?[\d.]+, -?[\w.]+[\])])")
_CHOICE = re.compile(r'``("[^"]+")``:')


def expected_values(parameter: inspect.Parameter, description: str) -> str:
    """A description of the values that `parameter` accepts; `description` is its text in the docstring."""
    words = expectation(parameter.annotation)
    if parameter.default is None and words not in (expectation(Any), expectation(None)):
        words = words if words.endswith(" or null") else f"{words} or null"
    choices = dict.fromkeys(_CHOICE.findall(description))
    if len(choices) > 1:
        return words.replace("a text", f"one of {', '.join(choices)}", 1)
    span = _RANGE.search(description)
    return re.sub(r"\ban? (number|integer)\b", rf"\g<0> in {span[1]}", words, count=1) if span else words
