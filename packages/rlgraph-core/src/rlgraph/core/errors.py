"""Every error RLgraph raises on purpose. Each message says what was expected, what was given, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Characters of one mistake that are shown.
LONG_FAULT = 2000


class RLGraphError(Exception):
    """Base class of all errors RLgraph raises on purpose.

    Attributes:
        failure: where in the graph an assembly or a build failed (`rlgraph.core.graph.failure.Failure`), else None.
            ``rlgraph.draw.draw(error)`` draws the graph with that place marked.
    """

    failure: Any = None


@dataclass(frozen=True)
class Fault:
    """One mistake in a configuration.

    Attributes:
        text: what was expected and what was given.
        path: place of the wrong value, ``"agent.memory_spec.capacity"``; empty where it has none.
    """

    text: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class SpecError(RLGraphError):
    """A configuration is wrong: an unknown key or name, a value of the wrong type or range.

    Args:
        faults: the mistakes, usually one; a string is the text of a `Fault`.
        path: where the faults given as strings are.
        located: whether the paths are places in the whole document; see `rlgraph.core.specs.spec_paths`.
    """

    def __init__(self, *faults: Fault | str, path: str = "", located: bool = False):
        super().__init__(*(Fault(fault, path) if isinstance(fault, str) else fault for fault in faults))
        self.located = located

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The mistakes."""
        return self.args

    def __str__(self) -> str:
        return "\n".join(_shortened(str(fault)) for fault in self.faults)


def _shortened(fault: str) -> str:
    """A fault without the middle of a long value that it quotes."""
    return fault if len(fault) <= LONG_FAULT else f"{fault[: LONG_FAULT - 200]} ... {fault[-200:]}"


class PluginError(RLGraphError):
    """A plug-in is missing, broken, registered twice, or made for another contract version."""


class AssemblyError(RLGraphError):
    """A component is wired wrongly; found while tracing its API methods."""


class InferenceError(RLGraphError):
    """A graph function was given Spaces it cannot compute with."""


class BuildError(RLGraphError):
    """A component graph cannot be built from the given Spaces."""


class BuildWarning(UserWarning):
    """Something about a component graph is probably not meant: a component nobody calls."""


class CapabilityError(RLGraphError):
    """A plan needs something that the backend does not offer."""


class InputError(RLGraphError):
    """A value handed to an API method does not belong to its Space."""


class NumericalError(RLGraphError):
    """A value that must be finite is not."""


class QueueClosedError(RLGraphError):
    """A queue was closed: nothing goes in any more, or what was waited for will not come."""


class QueueTimeoutError(RLGraphError):
    """A queue had no room, or nothing to give, for as long as its user was ready to wait."""


class CheckpointError(RLGraphError):
    """A checkpoint is missing, incomplete, damaged, or belongs to something else."""


class CheckpointWarning(UserWarning):
    """A checkpoint is not where or what it should be, and another one is taken."""


class PerformanceWarning(UserWarning):
    """A plan is right, but slow for a reason that the component's author can remove."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A sentence that offers the candidate most like `name`, or lists what exists."""
    known = sorted(candidates)
    close = most_like(name, known)
    if close is not None:
        return f"Did you mean {close!r}?"
    return f"Known: {', '.join(known)}." if known else "None exist."


def most_like(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, if one is like it at all."""
    lowered = {candidate.lower(): candidate for candidate in sorted(candidates)}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def no_part(key: object, keys: Iterable[object] | None, of: str = "") -> str:
    """Says that a container has no `key`, which `keys` it has (None: it is no container), and which is most like it."""
    if keys is None:
        return f"there is no part {key!r}{of}: there are no parts"
    known = list(keys)
    close = most_like(key, [k for k in known if isinstance(k, str)]) if isinstance(key, str) else None
    return f"there is no part {key!r}{of}: there are {known}" + (
        f". Did you mean {close!r}?" if close else ""
    )


def offer(key: str, candidates: Iterable[str], other_names: Mapping[str, str]) -> str:
    """A sentence that offers where `key` stands here, or else the candidate most like it; see `nearest`.

    Args:
        key: what was given.
        candidates: the keys that there are.
        other_names: what others call a key -> its place, which begins with one of `candidates`.
    """
    known = set(candidates)
    place = other_names.get(key)
    if place is not None and place.partition(".")[0] in known:
        return f"It is {place!r} here."
    return nearest(key, known)
