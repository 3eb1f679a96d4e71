"""Spaces of actions as they are given to components."""

from __future__ import annotations

from typing import Any

from rlgraph.core import SpecError
from rlgraph.spaces import Space, SpaceError, from_spec


def action_space_of(given: Any, where: str) -> Space:
    """The Space of one action, of a Space or of what stands for one.

    Raises:
        SpecError: `given` stands for none.
    """
    try:
        return from_spec(given).without_ranks()
    except SpaceError as error:
        raise SpecError(f"{where}: {error}") from None
