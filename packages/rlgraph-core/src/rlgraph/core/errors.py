"""The errors of RLgraph. Each message says what was expected, what was given, where, and what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Maximum number of characters of a fault in a message.
LONG_FAULT = 2000


#: A line of a message that installs one of RLgraph's own distributions.
_INSTALL = re.compile(
    r"pip install ['\"]?(rlgraph-(?:spaces|core|torch|tf|agents|dist)(?:\[[\w,-]+\])?)(?![<>=])"
)


class RLGraphError(Exception):
    """Base class of all errors of RLgraph.

    Attributes:
        failure: where in the graph an assembly or a build failed (`rlgraph.core.graph.failure.Failure`), else None.
            ``rlgraph.draw.draw(error)`` draws the graph with that place marked.
    """

    failure: Any = None

    def __init__(self, *args: Any):
        super().__init__(*args)
        wanted = _INSTALL.search(" ".join(map(str, args)))
        if wanted:
            self.add_note(f'RLgraph is not on PyPI yet: in a clone of it, pip install "packages/{wanted[1]}"')


@dataclass(frozen=True)
class Fault:
    """One mistake in a configuration.

    Attributes:
        text: what was expected and what was given.
        path: place of the wrong value, ``"agent.memory_spec.capacity"``; empty if it has none.
    """

    text: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class SpecError(RLGraphError):
    """A configuration is wrong: an unknown key or name, a value of the wrong type or range.

    Args:
        faults: the mistakes, usually one; a string is the text of a `Fault`.
        path: place of the faults that are strings.
        located: whether the paths are places in the whole document; see `rlgraph.core.specs.spec_paths`.
    """

    def __init__(self, *faults: Fault | str, path: str = "", located: bool = False):
        located_faults = (Fault(fault, path) if isinstance(fault, str) else fault for fault in faults)
        super().__init__(*dict.fromkeys(located_faults))  # two parts of a document may meet one mistake
        self.located = located

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The mistakes."""
        return self.args

    def __str__(self) -> str:
        return "\n".join(_shortened(str(fault)) for fault in self.faults)


def _shortened(fault: str) -> str:
    """A fault without the middle of a long quoted value."""
    return fault if len(fault) <= LONG_FAULT else f"{fault[: LONG_FAULT - 200]} ... {fault[-200:]}"


class PluginError(RLGraphError):
    """A plug-in is missing, broken, registered twice, or made for another contract version."""


class AssemblyError(RLGraphError):
    """Components are connected wrongly; found while tracing API methods."""


class InferenceError(RLGraphError):
    """A graph function does not support its inputs."""


class BuildError(RLGraphError):
    """A component graph cannot be built from the given Spaces."""


class BuildWarning(UserWarning):
    """A component graph is probably not as intended, e.g. it has a component without calls."""


class CapabilityError(RLGraphError):
    """A plan needs a capability that the backend lacks."""


class InputError(RLGraphError):
    """A value passed to an API method does not belong to its Space."""


class NumericalError(RLGraphError):
    """A value that must be finite is not."""


class CollectiveError(RLGraphError):
    """A group of learners cannot go on: one is missing, was lost, or does something else than the others."""


class QueueClosedError(RLGraphError):
    """A queue is closed: no records can be inserted, or too few are left."""


class QueueTimeoutError(RLGraphError):
    """A queue had no capacity or too few records until the timeout."""


class CheckpointError(RLGraphError):
    """A checkpoint is missing, incomplete, damaged, or belongs to another graph or run."""


class CheckpointWarning(UserWarning):
    """A checkpoint is missing or damaged, and another one is used."""


class PerformanceWarning(UserWarning):
    """A plan is correct but slow, for a reason that the author of the component can remove."""


def text_of(error: BaseException) -> str:
    """The text of an error of other code, which may fail to give one."""
    try:
        return str(error)
    except Exception:
        return f"a {type(error).__name__} without a readable text"


def type_and_text(error: BaseException) -> str:
    """``Type: text`` of an error of other code."""
    return f"{type(error).__name__}: {text_of(error)}"


def first_line(error: BaseException) -> str:
    """The first line of `type_and_text`; a text that begins with empty lines begins after them."""
    return f"{type(error).__name__}: {text_of(error).strip()}".splitlines()[0]


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A sentence that suggests the candidate most similar to `name`, or lists all candidates."""
    known = sorted(candidates)
    close = most_like(name, known)
    if close is not None:
        return f"Did you mean {close!r}?"
    return f"Known: {', '.join(known)}." if known else "None exist."


def most_like(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to `name`; None if none is similar."""
    lowered = {candidate.lower(): candidate for candidate in sorted(candidates)}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def no_part(key: object, keys: Iterable[object] | None, of: str = "") -> str:
    """A sentence about a missing part `key`, with the existing `keys` (None: no container) and the nearest one."""
    if keys is None:
        return f"there is no part {key!r}{of}: it has no parts"
    known = list(keys)
    close = most_like(key, [k for k in known if isinstance(k, str)]) if isinstance(key, str) else None
    return f"there is no part {key!r}{of}; the parts are {known}" + (
        f". Did you mean {close!r}?" if close else ""
    )


#: Key in other libraries -> its place here, or a sentence that says what to do, or several of them.
OtherNames = Mapping[str, str | tuple[str, ...]]


def offer(key: str, candidates: Iterable[str], other_names: OtherNames) -> str:
    """A sentence that suggests the name of `key` here, or else the most similar candidate; see `nearest`.

    Args:
        key: the given key.
        candidates: the valid keys.
        other_names: what other libraries call keys. The first that holds is used: a place begins with one of
            `candidates`, a sentence, which ends with a period, quotes only these.
    """
    known = set(candidates)
    hints = other_names.get(key, ())
    for hint in (hints,) if isinstance(hints, str) else hints:
        if hint.endswith("."):
            if known.issuperset(re.findall(r"'(\w+)'", hint)):
                return hint
        elif hint.partition(".")[0] in known:
            return f"It is {hint!r} here."
    return nearest(key, known)
