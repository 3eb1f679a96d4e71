"""The `repr` of agents."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgraph.agents.agent import Agent


def describe(agent: Agent) -> str:
    """Class, backend and preset; states and actions, network, steps and updates: one line each."""
    preset = "" if agent.preset is None else f", preset {agent.preset.name}"
    lines = [
        f"{type(agent).__name__} on {agent.executor.backend.name}{preset}",
        f"states {_short(agent.state_space)}",
        f"actions {_short(agent.action_space)}",
        *([f"network {agent.network}"] if agent.network else []),
        f"trained for {agent.timesteps:,} steps, {agent.updates:,} updates",
    ]
    return "<" + "\n  ".join(lines) + ">"


def _short(space: Any) -> str:
    return shorten(repr(space), 100, placeholder=" ...")  # bounds may have hundreds of numbers
