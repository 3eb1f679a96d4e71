"""No experience: what is observed is forgotten."""

from __future__ import annotations

from typing import Any, NoReturn

from rlgraph.agents.experience.kind import ExperienceKind
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.agents.experience.step import VectorStep
from rlgraph.core import InputError
from rlgraph.spaces import Dict, Space


class Nothing(Rollouts):
    """For algorithms without ``update``: no step is kept, and no update is due."""

    def __init__(self) -> None:
        super().__init__(rollout_length=1)

    @classmethod
    def of(cls, *shared: str, **defaults: Any) -> ExperienceKind:
        return ExperienceKind(cls)

    @staticmethod
    def fields(is_recurrent: bool) -> tuple[str, ...]:
        return ()

    @staticmethod
    def input_spaces(states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        return {}

    @property
    def is_due(self) -> bool:
        return False

    def add(self, step: VectorStep) -> None:
        pass

    def take(self, version: int) -> NoReturn:
        raise InputError("update: expected an agent that learns; this one has no update")
