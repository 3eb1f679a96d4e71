"""What all explorations share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from rlgraph.core import Component, SpecError


class Exploration(Component):
    """Turns what a policy prefers into actions that explore.

    It has the API method ``get_action(actions, time_percentage)``, or ``get_action(q_values, time_percentage)`` if
    `explores` says so. The draws come from the component's host stream whichever backend computes what it is given, so
    a run explores alike on all backends.
    """

    #: What `get_action` is given: greedy ``"actions"``, or ``"q_values"``.
    explores: ClassVar[str] = "actions"

    get_action: Any

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; without ``type``, ``noise_spec`` or ``epsilon_spec`` says which one is meant.

        Raises:
            SpecError: both are there.
        """
        if cls is Exploration and (spec is None or (isinstance(spec, Mapping) and "type" not in spec)):
            spec = dict(spec or {})
            if {"epsilon_spec", "noise_spec"} <= spec.keys():
                raise SpecError(
                    f"{path or cls.__name__}: expected epsilon_spec (random actions) or noise_spec (noise on the "
                    "action values), given both: leave one of them out"
                )
            spec["type"] = "noisy_greedy" if "noise_spec" in spec else "epsilon_greedy"
        return super().from_spec(spec, path=path, **kwargs)

    def metrics(self, time_percentage: float) -> dict[str, float]:
        """Numbers for a report, at this fraction of training."""
        return {}
