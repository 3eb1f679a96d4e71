"""What RLgraph expects of an environment, so that core needs no concrete class."""

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
