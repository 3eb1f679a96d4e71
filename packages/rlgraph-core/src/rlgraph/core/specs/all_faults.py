"""All mistakes of a spec at once, though every constructor stops at its first one.

A constructor checks its own values and raises; the rules stand there and nowhere else. After a mistake the value that
was complained about is taken out of the spec and the object is made once more, until nobody complains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rlgraph.core.errors import SpecError
from rlgraph.core.specs.spec_paths import is_index, is_nested, join_parts, parts_of

#: As many rounds are done at most; each one costs the constructors of the whole spec.
MOST_ROUNDS = 50

_FAULT = re.compile(r"[^\s:]+(?=: )")
_collecting: ContextVar[bool] = ContextVar("collecting", default=False)


class Stop(Exception):
    """Raised by what is expensive to make, in place of the expensive part, while only mistakes are looked for."""


def is_collecting() -> bool:
    """Whether what is being made only serves to find mistakes, and is thrown away."""
    return _collecting.get()


@contextmanager
def every_fault(make: Callable[[Any], Any], spec: Any, where: str) -> Iterator[None]:
    """Add to a `SpecError` of the block all further mistakes of `spec`.

    Args:
        make: makes the object from a spec, as the block does.
        spec: what the block makes it from.
        where: the place of the spec; its mistakes are named relative to it.
    """
    try:
        yield
    except SpecError as error:
        if is_nested() or is_collecting() or not isinstance(spec, Mapping | list | tuple):
            raise
        faults = _Search(make, spec, where).after([*error.args])
        if len(faults) == len(error.args):
            raise
        complete = SpecError(*faults)
        complete.located = True
        complete.__notes__ = list(getattr(error, "__notes__", ()))
        raise complete from error


def faults_of(make: Callable[[Any], Any], spec: Any, where: str) -> list[str]:
    """All mistakes of `spec`, found without the expensive part of what `make` makes; see `every_fault`."""
    search = _Search(make, spec, where)
    return search.after(search.attempt())


class _Search:
    def __init__(self, make: Callable[[Any], Any], spec: Any, where: str):
        self.make, self.where = make, where
        self.tree = _numbered(spec)
        self.faults: list[str] = []
        self.removed: list[tuple[Any, ...]] = []

    def after(self, found: list[str]) -> list[str]:
        """The faults `found` at first, and all others."""
        for _ in range(MOST_ROUNDS):
            if not self._take_out(found):
                break
            found = self.attempt()
        return self.faults

    def attempt(self) -> list[str]:
        """The faults that are found in what is left of the spec."""
        token = _collecting.set(True)
        try:
            self.make(_plain(self.tree))
        except SpecError as error:
            return [*error.args]
        except Stop:
            return []
        except Exception:
            if not self.removed:
                raise
            return []  # it follows from the holes in the spec
        finally:
            _collecting.reset(token)
        return []

    def _take_out(self, found: list[str]) -> bool:
        """Note the faults that do not come from what was taken out before, and take out what they are about."""
        places = []
        for fault in found:
            keys, place, text = self._place(str(fault))
            if keys in self.removed:
                keys = keys[:-1]  # what stood around it cannot be without it
            elif not any(gone[: len(keys)] == keys for gone in self.removed) and text not in self.faults:
                self.faults.append(text)
            if place is not None:
                places.append(keys)
        taken = [keys for keys in places if keys and self._remove(keys)]
        self.removed += taken
        return bool(taken)

    def _place(self, fault: str) -> tuple[tuple[Any, ...], str | None, str]:
        """Keys of the culprit in the tree, where it stands, and the fault with the numbers of the original lists."""
        match = _FAULT.match(fault)
        if match is None or not match[0].startswith((f"{self.where}.", f"{self.where}[")):
            return (), None, fault
        parts = parts_of(match[0][len(self.where) :])
        keys: list[Any] = []
        shown: list[str] = []
        node: Any = self.tree
        for part in parts:
            key = _key(node, part)
            shown.append(f"[{key}]" if isinstance(node, _Numbered) and key is not None else part)
            keys.append(part if key is None else key)
            node = node.get(key) if isinstance(node, dict) and key is not None else None
        if shown == parts:
            return self._culprit(keys), match[0], fault
        place = join_parts(self.where, *shown)
        return self._culprit(keys), place, place + fault[match.end() :]

    def _culprit(self, keys: list[Any]) -> tuple[Any, ...]:
        """What has to go: the value as deep as the spec has it; for a type, or what is missing, all around it."""
        node: Any = self.tree
        for depth, key in enumerate(keys):
            if not isinstance(node, dict) or key == "type":
                return tuple(keys[:depth])
            if key not in node:
                return tuple(keys[: depth if isinstance(node, _Numbered) else depth + 1])
            node = node[key]
        return tuple(keys)

    def _remove(self, keys: tuple[Any, ...]) -> bool:
        """Take out what stands at `keys`, or else the nearest thing around that is there."""
        for depth in range(len(keys), 0, -1):
            node = self.tree
            for key in keys[: depth - 1]:
                node = node.get(key) if isinstance(node, dict) else None
            if isinstance(node, dict) and keys[depth - 1] in node:
                del node[keys[depth - 1]]
                return True
        return False


class _Numbered(dict[int, Any]):
    """A list whose items keep their numbers when others are taken out."""


def _numbered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _numbered(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return _Numbered({number: _numbered(item) for number, item in enumerate(value)})
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, _Numbered):
        return [_plain(item) for item in value.values()]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _key(node: Any, part: str) -> Any:
    """What `part` of a place means in `node`; None if it is not there."""
    if isinstance(node, _Numbered):
        number = int(part[1:-1]) if is_index(part) else -1
        return list(node)[number] if 0 <= number < len(node) else None
    return part if isinstance(node, dict) and part in node else None
