"""Former names of arguments, which code and specs of others may have.

The fraction of training that is done was called ``time_percentage``; it is ``progress``. Both mean the same as an
argument of an API method or a graph function, in a call by keyword, and as the name of a Space.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from rlgraph.core.errors import AssemblyError

T = TypeVar("T")
_FORMER, _PRESENT = "time_percentage", "progress"


def present_name(name: str) -> str:
    """The present name of an argument, or of ``method.argument``."""
    return _PRESENT.join(name.rsplit(_FORMER, 1)) if name.split(".")[-1] == _FORMER else name


def with_present_names(given: Mapping[str, T]) -> dict[str, T]:
    """The same values by the present names of their arguments.

    Raises:
        AssemblyError: an argument is given by both of its names.
    """
    named = {present_name(name): value for name, value in given.items()}
    if len(named) < len(given):
        raise AssemblyError(f"{_PRESENT} is given twice, once by its former name {_FORMER}")
    return named


def with_present_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, its arguments called by their present names; itself where they are, or where it has both."""
    signature = inspect.signature(function)
    if _FORMER not in signature.parameters or _PRESENT in signature.parameters:
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{_FORMER if name == _PRESENT else name: kwargs[name] for name in kwargs})

    parameters = [p.replace(name=present_name(p.name)) for p in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call
