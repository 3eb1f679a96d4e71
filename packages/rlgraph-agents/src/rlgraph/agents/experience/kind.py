"""The kind of experience that an algorithm names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ExperienceKind:
    """A kind of experience, and the options that it shares with the algorithm.

    Attributes:
        kind: its class.
        shared: names of options that both take; the agent has each of them once.
    """

    kind: type[Any]
    shared: tuple[str, ...] = ()
