"""Checks values in specs against the annotations of constructors.

Only JSON types are checked: booleans, numbers, strings, lists, mappings, and literal choices. Any other annotation (a
Space, a component, ``Any``) accepts everything; the constructor checks it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from rlgraph.core.specs.spec_types import lower_bounds, spec_type


def fits(annotation: Any, value: Any) -> bool:
    """Whether `annotation` accepts `value`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = lower_bounds(annotation)
        return fits(arguments[0], value) and all(bound.admits(value) for bound in bounds)
    if origin in (Union, types.UnionType):
        return any(fits(choice, value) for choice in arguments)
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in arguments)
    plain = _PLAIN.get(annotation) if isinstance(annotation, type | None) else None
    if plain is not None:
        return plain(value)
    kind = origin or annotation
    if kind is Callable:
        return callable(value)
    if _is_mapping(kind):
        return isinstance(value, Mapping) and all(fits(arguments[1], v) for v in value.values() if arguments)
    if _is_list(kind):
        return _is_listed(value) and _items_fit(kind, arguments, value)
    return True


def expectation(annotation: Any) -> str:
    """A description of the values that `annotation` accepts."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        described = spec_type(annotation)
        if described is not None:
            return described.words
        return expectation(arguments[0]) + "".join(map(str, lower_bounds(annotation)))
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(expectation(choice) for choice in arguments))
    if origin is Literal:
        shown = [str(choice).lower() if isinstance(choice, bool) else repr(choice) for choice in arguments]
        return ("one of " if len(arguments) > 1 else "") + ", ".join(shown)
    kind = origin or annotation
    if kind in _WORDS:
        return _WORDS[kind]
    if _is_mapping(kind):
        return "a mapping" + (f" of {_plural(arguments[1])}" if arguments[1:] not in ((), (Any,)) else "")
    if _is_list(kind):
        return "a list" + (f" of {_plural(arguments[0])}" if arguments[:1] not in ((), (Any,)) else "")
    return f"a {getattr(annotation, '__name__', annotation)}"


def _items_fit(kind: Any, arguments: tuple[Any, ...], value: Collection[Any]) -> bool:
    if not arguments:
        return True
    if kind is tuple and arguments[-1] is not ...:
        return len(value) == len(arguments) and all(map(fits, arguments, value))
    return all(fits(arguments[0], item) for item in value)


def _plural(annotation: Any) -> str:
    words = {str: "texts", int: "integers", float: "numbers", bool: "true and false"}
    return words.get(annotation, expectation(annotation))


def _is_mapping(kind: Any) -> bool:
    return isinstance(kind, type) and kind in (dict, Mapping)


def _is_list(kind: Any) -> bool:
    return isinstance(kind, type) and kind in (list, tuple, Sequence, Collection)


def _is_listed(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


_PLAIN: dict[Any, Callable[[Any], bool]] = {
    bool: _is_bool,
    int: lambda value: isinstance(value, Integral) and not _is_bool(value),
    float: lambda value: isinstance(value, Real) and not _is_bool(value),
    str: lambda value: isinstance(value, str),
    None: lambda value: value is None,
    type(None): lambda value: value is None,
}
_WORDS: dict[Any, str] = {
    Any: "any value",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    None: "null",
    type(None): "null",
    Callable: "a function",
}
