"""What an argument takes, in words for a reference: by its annotation, and by its description where that says more."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rlgraph.core.specs.argument_types import expectation

_RANGE = re.compile(r"\bin ([\[(]-?[\d.]+, -?[\w.]+[\])])")
_CHOICE = re.compile(r'``("[^"]+")``:')
#: What the name and the description of an argument without a type are searched for -> what it takes.
_HINTS = (
    (re.compile(r"\w*_space: "), "a Space"),
    (re.compile(r".*\bschedules?\b|epsilon_spec: ", re.IGNORECASE), "a number or a schedule"),
    (re.compile(r".*\binitializer\b"), "an initializer"),
    (re.compile(r"\w*_spec: .*\b(network|layers)\b"), "a network, its spec or a list of layers"),
    (re.compile(r"\w*_specs?: |.*\bspecs?\b"), "a component or its spec"),
    (re.compile(r".*: a number, or one for each\b"), "a number or a list of numbers"),
)


def expected_values(parameter: inspect.Parameter, description: str) -> str:
    """What `parameter` takes; `description` is what the docstring says of it."""
    words = expectation(parameter.annotation)
    if parameter.annotation is Any:
        return _from_hints(f"{parameter.name}: {description}", words, parameter.default is None)
    choices = dict.fromkeys(_CHOICE.findall(description))
    if len(choices) > 1:
        return words.replace("a text", f"one of {', '.join(choices)}", 1)
    span = _RANGE.search(description)
    return re.sub(r"\ban? (number|integer)\b", rf"\g<0> in {span[1]}", words, count=1) if span else words


def _from_hints(text: str, words: str, may_be_none: bool) -> str:
    found = next((meaning for hint, meaning in _HINTS if hint.match(text)), None)
    if found is None:
        return words
    more = (" or false" if "False for" in text else "") + (" or null" if may_be_none else "")
    return found + more
