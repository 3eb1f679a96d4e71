"""The base of algorithms that learn a policy and critics from a replay memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.default_network import critic_networks
from rlgraph.agents.experience.replay import Replay
from rlgraph.components import Optimizer, SACValueNetwork, Target
from rlgraph.core import Component
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class OffPolicyActorCritic(Algorithm):
    """Critics, targets that follow them, and optimizers; a subclass adds policy and loss, and writes `update`."""

    experience = Replay.of(
        memory_spec={"capacity": 10**5}, update_spec={"update_interval": 1, "batch_size": 256}
    )
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "discount": [0.9, 0.95, 0.98, 0.99, 0.995],
        "update_spec.batch_size": [64, 128, 256, 512],
    }
    loss: Any

    def make_critics(
        self,
        state_space: Space,
        layers: NetworkSpec,
        tau: float,
        number: int = 2,
        new: Callable[..., Any] | None = None,
    ) -> None:
        """Set `critics` and `targets`; `new` makes a critic, default: one of states and actions."""
        new = new or partial(SACValueNetwork, *critic_networks(state_space, layers))
        self.critics = [new(scope=f"critic-{i}") for i in range(number)]
        self.targets = [Target(critic, tau) for critic in self.critics]

    def make_optimizers(self, spec: ComponentSpec, *names: str) -> None:
        """Set `optimizers`: one for each name."""
        make = partial(Optimizer.from_spec, spec, path="optimizer_spec")
        self.optimizers = {name: make(scope=f"{name}-optimizer") for name in names}

    def step(self, name: str, parts: Sequence[Component], loss: Any, time_percentage: Any) -> None:
        """A step of the optimizer `name` on the variables of `parts`; for use in API methods."""
        self.optimizers[name].step(self.trainable_variables(*parts), loss, time_percentage)
