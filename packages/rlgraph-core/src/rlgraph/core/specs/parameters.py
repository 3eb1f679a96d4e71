"""The parameters of constructors and functions: names, annotations, defaults, descriptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_ENTRY = re.compile(r"^(?P<names>\*{0,2}[a-z_]\w*(?:, *\*{0,2}[a-z_]\w*)*) *(?:\([^)]*\))?: *(?P<text>.*)$")

#: A reference to the description in a base class, and further text.
_POINTER = re.compile(r"(?:see|as in) `(?P<place>\w+)`(?:\.|; (?P<more>.*)|$)")


#: Names of ``**`` parameters that are passed to the constructor of the base class.
_HANDED_UP = ("kwargs", "options")


@dataclass(frozen=True)
class Parameters:
    """The parameters of a class's constructor, or of a function; their annotations are objects, not texts.

    Attributes:
        own: those of the function itself, in order, without ``self``.
        named: all keyword parameters, including those of the base classes that ``**kwargs`` reaches.
        is_open: whether any other name is accepted as well, or nothing is known.
    """

    own: tuple[inspect.Parameter, ...]
    named: Mapping[str, inspect.Parameter]
    is_open: bool


def parameters_of(target: Callable[..., Any]) -> Parameters:
    """The parameters of `target`.

    A constructor passes ``**kwargs`` or ``**options`` to its base class. With any other name (``**make_kwargs``) it
    accepts arbitrary further arguments itself.
    """
    named: dict[str, inspect.Parameter] = {}
    own: tuple[inspect.Parameter, ...] | None = None
    try:
        for function, skipped in _functions(target):
            parameters = tuple(_evaluated(function))[skipped:]
            own = parameters if own is None else own
            for p in parameters:
                if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
                    named.setdefault(p.name, p)
            rest = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
            if rest not in _HANDED_UP:
                return Parameters(own or (), named, is_open=rest is not None)
    except ValueError:  # a builtin without a signature
        pass
    return Parameters(own or (), named, is_open=True)


def _functions(target: Callable[..., Any]) -> list[tuple[Callable[..., Any], int]]:
    """The constructors of a class and its bases, or the function itself, each with its number of bound parameters."""
    if not isinstance(target, type):
        return [(target, 0)]
    return [(vars(owner)["__init__"], 1) for owner in target.__mro__[:-1] if "__init__" in vars(owner)] or [
        (_nothing, 0)
    ]


def _nothing() -> None:
    """The constructor of a class without one."""


def _evaluated(function: Callable[..., Any]) -> list[inspect.Parameter]:
    names = getattr(function, "__globals__", {})
    signature = inspect.signature(function)
    return [p.replace(annotation=_annotation(p.annotation, names)) for p in signature.parameters.values()]


def _annotation(annotation: Any, names: Mapping[str, Any]) -> Any:
    """An annotation as an object; Any if only type checkers can evaluate it."""
    if annotation is inspect.Parameter.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(names))
    except Exception:
        return Any


def summary_of(target: Any) -> str:
    """The first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(target) or "").partition("\n\n")[0].split())


def descriptions_of(target: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> its description in the docstrings (sections "Args:", "Attributes:"), including base classes.

    A reference ("see `Agent`.", "as in `Optimizer`; 1 is the paper's.") is replaced by the description in that base
    class.
    """
    found: dict[str, str] = {}
    for owner in target.__mro__[:-1] if isinstance(target, type) else (target,):
        documented = [vars(owner).get("__init__"), owner] if isinstance(owner, type) else [owner]
        for document in documented:
            text = getattr(document, "__doc__", None)
            for name, description in _entries(inspect.cleandoc(text or "")):
                found[name] = _resolved(found[name], description, owner) if name in found else description
    return found


def _resolved(text: str, above: str, owner: Any) -> str:
    """`text`, or the description that it refers to: `above`, in the class `owner`."""
    pointer = _POINTER.match(text)
    if pointer is None or pointer["place"] != owner.__name__:
        return text
    return f"{above.rstrip('.')}; {pointer['more']}" if pointer["more"] else above


def _entries(document: str) -> list[tuple[str, str]]:
    """``(name, description)`` of the sections that describe parameters."""
    entries: list[tuple[list[str], list[str]]] = []
    inside = False
    for line in document.splitlines():
        if line and not line.startswith(" "):
            inside = line in ("Args:", "Attributes:")
            continue
        match = _ENTRY.match(line[4:]) if inside and not line.startswith("     ") else None
        if match is not None:
            names = [name.strip().lstrip("*") for name in match["names"].split(",")]
            entries.append((names, [match["text"]]))
        elif inside and entries and line.strip():
            entries[-1][1].append(line.strip())
    return [(name, " ".join(texts).strip()) for names, texts in entries for name in names]
