"""The base of algorithms that learn a policy and critics from a replay memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import critic_networks
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.algorithms.random_actions import RandomActions
from rlgraph.components import Optimizer, SACValueNetwork, Target
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.core import Component, graph_fn
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.spec_paths import making
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.experience.replay import Replay
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
    metrics: Mapping[str, Metric] = usual("actor_loss", "critic_loss", "critic_gradient_norm")
    action_power = 4
    loss: Any
    #: What draws the actions before the first update; None: the policy.
    first_actions: RandomActions | None = None
    #: Whether critics of states and actions see actions scaled to -1..1; set before `make_critics`.
    scale_actions: bool = True

    @classmethod
    def as_it_meant(cls, options: Mapping[str, Any], meaning: int) -> Mapping[str, Any]:
        """Up to version 0.2 critics saw actions as the environment takes them."""
        return {**options, "scale_actions": False} if "scale_actions" in parameters_of(cls).named else options

    def make_first_actions(self, action_space: Space, random: bool) -> tuple[RandomActions, ...]:
        """Set `first_actions`; what was made, for the constructor."""
        if check_flag(random, "random_before_update"):
            self.first_actions = RandomActions(action_space)
        return () if self.first_actions is None else (self.first_actions,)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if self.first_actions is not None:
            self.updates = self.get_variable("updates", int, trainable=False)

    def at_first(self, acted: dict[str, Any], observations: Any) -> dict[str, Any]:
        """``acted``, before the first update with the actions of `first_actions`; for use in API methods."""
        if self.first_actions is None:
            return acted
        replaced = self.first_actions.replace(acted["action"], self._is_untrained(), observations)
        return {**acted, "action": replaced}

    @graph_fn
    def _is_untrained(self, ops: Any) -> Any:
        return ops.read(self.updates) == 0

    def count_update(self) -> None:
        """Say that an update is done, so that `first_actions` end; for use in `update`."""
        if self.first_actions is not None:
            self._count_update()

    @graph_fn(returns=0)
    def _count_update(self, ops: Any) -> None:
        ops.assign_add(self.updates, 1)

    def make_critics(
        self,
        state_space: Space,
        layers: NetworkSpec,
        tau: float,
        number: int = 2,
        new: Callable[..., Any] | None = None,
    ) -> None:
        """Set `critics` and `targets`; `new` makes a critic, default: one of states and actions."""
        new = new or partial(
            SACValueNetwork, *critic_networks(state_space, layers), scale_actions=self.scale_actions
        )
        with making("critics", ("network_spec",), ()):  # the policy has an option of this name
            self.critics = [new(scope=f"critic-{i}") for i in range(number)]
        self.targets = [Target(critic, tau) for critic in self.critics]

    def make_optimizers(self, spec: ComponentSpec, *names: str) -> None:
        """Set `optimizers`: one for each name."""
        make = partial(Optimizer.from_spec, spec, path="optimizer_spec")
        self.optimizers = {name: make(scope=f"{name}-optimizer") for name in names}

    def step(self, name: str, parts: Sequence[Component], loss: Any, progress: Any) -> dict[str, Any]:
        """A step of the optimizer `name` on the variables of `parts`; returns what it measures.

        For use in API methods.
        """
        measured = self.optimizers[name].measured_step(self.trainable_variables(*parts), loss, progress)
        return {f"{name}_{what}": number for what, number in measured.items()}
