"""No experience: what is observed is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from rlgraph.core import InputError
from rlgraph.experience.experience import Experience
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import Dict, Space


class NoExperience(Experience):
    """For algorithms without ``update``: no step is kept, and no update is due."""

    learns = False

    def fields(self, is_recurrent: bool) -> tuple[str, ...]:
        return ()

    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        return {}

    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> NoExperience:
        return self

    def take_due(self, steps: int) -> int:
        return 0

    def take(self, version: int) -> NoReturn:
        raise InputError("update: expected an agent that learns; this one has no update")

    # It writes nothing.

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        pass

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        pass

    drop = cut

    def get_state(self) -> None:
        return None

    def set_state(self, state: Any) -> None:
        pass
