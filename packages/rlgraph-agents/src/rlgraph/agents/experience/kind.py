"""The kind of experience that an algorithm names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ExperienceKind:
    """A kind of experience, the options that it shares with the algorithm, and the algorithm's defaults of others.

    Attributes:
        kind: its class.
        shared: names of options that both take; the agent has each of them once.
        defaults: option -> its default, a mapping; a mapping that is given overrides its keys.
    """

    kind: type[Any]
    shared: tuple[str, ...] = ()
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def make(self, options: Mapping[str, Any]) -> Any:
        """The experience with these options."""
        merged = dict(options)
        for name, default in self.defaults.items():
            given = options.get(name)
            if given is None or isinstance(given, Mapping):
                merged[name] = {**default, **(given or {})}
        return self.kind(**merged)
