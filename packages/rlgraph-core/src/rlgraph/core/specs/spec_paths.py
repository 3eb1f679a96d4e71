"""Where in a document a spec stands while its object is made.

A constructor knows the names of its own arguments, not where in a larger document its spec stands. What is being made
is therefore kept as a stack of frames; a place that a constructor names, ``memory.capacity`` (its scope and its
argument), becomes ``agent.memory_spec.capacity``. The same stack tells a recorder what every constructor was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rlgraph.core.errors import Fault, SpecError

_INDEX = re.compile(r"\[\d+\]")
_PART = re.compile(r"\[\d+\]|(?:(?!\[\d+\])[^.])+")


@dataclass(frozen=True)
class Frame:
    """One constructor at work.

    Attributes:
        path: place of its spec in the document.
        keys: the arguments that stand in the spec, or may.
        handed: those that the program hands over instead.
    """

    path: str
    keys: frozenset[str]
    handed: frozenset[str]


_frames: ContextVar[tuple[Frame, ...]] = ContextVar("frames", default=())
_records: ContextVar[dict[str, Mapping[str, Any]] | None] = ContextVar("records", default=None)


def parts_of(place: str) -> list[str]:
    """``"agent.network_spec[0].units" -> ["agent", "network_spec", "[0]", "units"]``."""
    return _PART.findall(place)


def is_index(part: str) -> bool:
    """Whether a part is the number of an item: ``"[0]"``."""
    return _INDEX.fullmatch(part) is not None


def join_parts(*parts: str) -> str:
    """The place that consists of these parts; empty ones are left out."""
    return "".join(p if is_index(p) else f".{p}" for p in parts if p).removeprefix(".")


@contextmanager
def making(path: str, keys: Iterable[str], handed: Iterable[str]) -> Iterator[None]:
    """A constructor works on the spec at `path`; see `Frame`."""
    token = _frames.set((*_frames.get(), Frame(path, frozenset(keys), frozenset(handed))))
    try:
        yield
    finally:
        _frames.reset(token)


def locate(place: str) -> str:
    """The place in the document of what a constructor at work calls `place`.

    Leading names that are no arguments of it (its scope, a component it is made of) say nothing about the document and
    are dropped; an argument that the program handed over belongs to the constructor that did so.
    """
    return _located(place) or place


def _located(place: str) -> str | None:
    parts = parts_of(place)
    for frame in reversed(_frames.get()):
        for start, part in enumerate(parts):
            if part in frame.keys:
                return join_parts(frame.path, *parts[start:])
    return None


def locate_faults(error: SpecError, path: str, owner: str) -> None:
    """Give the faults of `error`, raised by the constructor at work, their places in the document.

    Args:
        error: what was raised.
        path: the constructor's own place.
        owner: its class, which a fault may give as its place.
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
def recording() -> Iterator[dict[str, Mapping[str, Any]]]:
    """Notes, by place, the arguments that constructors in this context are called with, defaults included."""
    records: dict[str, Mapping[str, Any]] = {}
    token = _records.set(records)
    try:
        yield records
    finally:
        _records.reset(token)


def record(path: str, arguments: Mapping[str, Any]) -> None:
    """Note what the spec at `path` amounts to, where somebody records."""
    records = _records.get()
    if records is not None:
        records[path] = arguments


def is_recording() -> bool:
    """Whether somebody records."""
    return _records.get() is not None
