"""What stored agents mean where options or layers have got another meaning since they were stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgraph.agents.agent import Agent

#: The key of the number in ``config.json`` and in a checkpoint's facts.
MEANING_KEY = "meaning"
#: What is stored now has this meaning; versions up to 0.2 stored no number, and had meaning 1.
MEANING = 2


def meaning_of(stored: Mapping[str, Any]) -> int:
    """The meaning of an agent in what is stored beside it: a ``config.json`` or the facts of a checkpoint."""
    return int(stored.get(MEANING_KEY, 1))


def as_it_meant(base: type[Agent], spec: Any, meaning: int) -> Any:
    """A stored spec of an agent, with options that give it the meaning it had; see `Algorithm.as_it_meant`."""
    if meaning >= MEANING or not isinstance(spec, Mapping):
        return spec
    kind: Any = base._lookup(spec.get("type"), "agent")
    return dict(kind.algorithm_class.as_it_meant(spec, meaning))
