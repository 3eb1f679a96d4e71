"""What the platform expects of agents and environments, so that neither core nor an executor needs a concrete class."""

from __future__ import annotations

from typing import Any, Protocol

from rlgraph.spaces import Space


class Environment(Protocol):
    """A task, one episode at a time; single states and actions, without a batch rank."""

    state_space: Space
    action_space: Space

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode and return its first state."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act once: (state, reward, terminated, truncated, info)."""

    def terminate(self) -> None:
        """Release what the environment holds."""


class Agent(Protocol):
    """Something that acts, observes and learns."""

    state_space: Space
    action_space: Space

    def get_actions(self, states: Any, use_exploration: bool = True) -> Any:
        """Actions [B, ...] for states [B, ...]."""

    def observe(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any = None
    ) -> None:
        """Take in experience."""

    def update(self, batch: Any = None) -> Any:
        """Learn from memory, or from an external batch."""
