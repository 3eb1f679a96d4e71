"""Paths of specs in a document while their objects are created.

A constructor knows the names of its own arguments, but not its place in a larger document. Running constructors are
therefore kept as a stack of frames; a place in terms of a constructor, ``memory.capacity`` (its scope and argument),
becomes ``agent.memory_spec.capacity``. With the same stack a recorder notes what is made at every place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rlgraph.core.errors import Fault, SpecError

_INDEX = re.compile(r"\[\d+\]")
_PART = re.compile(r"\[\d+\]|(?:(?!\[\d+\])[^.])+")


@dataclass(frozen=True)
class Frame:
    """A running constructor.

    Attributes:
        path: place of its spec in the document.
        keys: the arguments that the spec may contain.
        handed: arguments that the program passes instead.
        arguments: the values in the spec, by name.
    """

    path: str
    keys: frozenset[str]
    handed: frozenset[str]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ShortForm:
    """A value in place of a mapping with arguments: a list of layers, or an object."""

    value: Any


#: Place -> what was made there, in order: arguments by name, or short forms.
Records: TypeAlias = dict[str, list[Mapping[str, Any] | ShortForm]]

_frames: ContextVar[tuple[Frame, ...]] = ContextVar("frames", default=())
_records: ContextVar[Records | None] = ContextVar("records", default=None)


def parts_of(place: str) -> list[str]:
    """``"agent.network_spec[0].units" -> ["agent", "network_spec", "[0]", "units"]``."""
    return _PART.findall(place)


def is_index(part: str) -> bool:
    """Whether a part is an index, such as ``"[0]"``."""
    return _INDEX.fullmatch(part) is not None


def join_parts(*parts: str) -> str:
    """The place with these parts; empty parts are left out."""
    return "".join(p if is_index(p) else f".{p}" for p in parts if p).removeprefix(".")


@contextmanager
def making(
    path: str, keys: Iterable[str], handed: Iterable[str], arguments: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Context of a constructor that runs on the spec at `path`; see `Frame`."""
    frame = Frame(path, frozenset(keys), frozenset(handed), arguments or {})
    token = _frames.set((*_frames.get(), frame))
    try:
        yield
    finally:
        _frames.reset(token)


def locate(place: str, spec: Any = None) -> str:
    """The place in the document of `place`, as named by a running constructor.

    A mapping or list that is an argument of a running constructor has the place of this argument. Else, leading names
    that are not its arguments (its scope, a sub-component) are not in the document and are dropped. An argument that
    the program passed belongs to the constructor that passed it.

    Args:
        place: what the constructor calls it.
        spec: what is there.
    """
    return _place_of(spec) or _located(place) or place


def _place_of(spec: Any) -> str | None:
    if isinstance(spec, dict | list):
        for frame in reversed(_frames.get()):
            for name, value in frame.arguments.items():
                if value is spec:
                    return join_parts(frame.path, name)
    return None


def _located(place: str) -> str | None:
    parts = parts_of(place)
    for frame in reversed(_frames.get()):
        for start, part in enumerate(parts):
            if part in frame.keys:
                return join_parts(frame.path, *parts[start:])
    return None


def locate_faults(error: SpecError, path: str, owner: str) -> None:
    """Give the faults of `error`, raised by the running constructor, their places in the document.

    Args:
        error: the error.
        path: place of the constructor.
        owner: its class, which a fault may name as its place.
    """
    if not error.located:
        error.args = tuple(_locate_fault(fault, path, owner) for fault in error.faults)
        error.located = True


def _locate_fault(fault: Fault, path: str, owner: str) -> Fault:
    if fault.path == path or fault.path.startswith((f"{path}.", f"{path}[")):
        return fault
    place = _located(fault.path)
    if place is not None:
        return Fault(fault.text, place)
    if not _frames.get()[-1].handed.isdisjoint(parts_of(fault.path)[:1]):
        return fault
    return Fault(fault.text if fault.path == owner else str(fault), path)


@contextmanager
def recording() -> Iterator[Records]:
    """Records, by place, the arguments of the constructors that run in this context, including defaults."""
    records: Records = {}
    token = _records.set(records)
    try:
        yield records
    finally:
        _records.reset(token)


def record(path: str, made: Mapping[str, Any] | ShortForm) -> None:
    """Record what is made at `path`, if a recorder is active; what it is handed on to records nothing."""
    records = _records.get()
    if records is not None and all(frame.path != path for frame in _frames.get()):
        records.setdefault(path, []).append(made)


def record_form(place: str, form: Any) -> str:
    """Record a short form, of which the following objects are made; its place in the document."""
    where = locate(place, form)
    record(where, ShortForm(form))
    return where


def record_object(path: str, made: Any) -> None:
    """Record that an object is used at `path`, unless something was made there, of which it may be a part."""
    records = _records.get()
    if records is not None and path not in records:
        record(path, ShortForm(made))


def is_recording() -> bool:
    """Whether a recorder is active."""
    return _records.get() is not None
