"""Q-learning with a target network (Mnih et al., 2015, https://www.nature.com/articles/nature14236).

Options: double Q-learning (arXiv:1509.06461), the dueling architecture (1511.06581), prioritized replay (1511.05952),
n-step returns (1710.02298), container actions (1711.08946).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import network_for
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.components import DuelingPolicy, Exploration, Optimizer, QPolicy, Target
from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.policies.return_distributions import ReturnDistribution
from rlgraph.core import SpecError, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.experience.replay import Replay
from rlgraph.spaces import Space


class QLearning(Algorithm):
    """Q-learning with a target network; a subclass sets `make_loss`, and `returns` where it learns distributions.

    Args:
        state_space, action_space: the task, as the policy sees it. Actions are categories or bools, of any shape, or a
            `Dict` or `Tuple` of them.
        network_spec: layers; default: what suits the states, see `default_network`.
        policy_spec: further arguments of the policy, e.g. ``{"units_state_value_stream": 128}``, or another ``type``;
            it must not contradict `dueling_q`.
        double_q, dueling_q: double Q-learning, and the dueling architecture.
        exploration_spec: ``{"epsilon_spec": [1.0, 0.05]}``, or ``{"noise_spec": {"type": "gumbel", "scale": 0.1}}``.
        optimizer_spec: e.g. ``{"type": "adam", "learning_rate": [1e-3, 1e-4]}``.
        sync_interval: environment steps between two synchronizations of the target.
        sync_tau: share of the policy in the target's new value, in (0, 1].

    Attributes:
        name: of the component in scopes.
        loss_options: what `make_loss` is given besides ``double_q``.
        returns: what the policy computes in place of action values; None: these.
    """

    experience = Replay.of()
    agent_class = "rlgraph.agents.shipped:QLearningAgent"
    schedule: ClassVar[Mapping[str, tuple[str, str]]] = {"sync_target": ("sync_interval", "steps")}
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "discount": [0.9, 0.95, 0.98, 0.99, 0.995],
        "update_spec.batch_size": [16, 32, 64, 128, 256],
        "sync_interval": [1, 10, 100, 500, 1000, 5000],
    }
    metrics: Mapping[str, Metric] = usual("gradient_norm")
    name: ClassVar[str] = "dqn"
    loss_options: Mapping[str, Any] = {}
    returns: ReturnDistribution | None = None

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        policy_spec: Mapping[str, Any] | None = None,
        double_q: bool = True,
        dueling_q: bool = True,
        exploration_spec: ComponentSpec = None,
        optimizer_spec: ComponentSpec = None,
        sync_interval: int = 128,
        sync_tau: float = 1.0,
    ):
        self.policy = self.make_policy(policy_spec, network_spec, state_space, action_space, dueling_q)
        self.target = Target(self.policy, sync_tau)
        self.exploration = Exploration.from_spec(
            exploration_spec, path="exploration_spec", action_space=action_space
        )
        self.double_q, self.loss = double_q, self.make_loss(double_q=double_q, **self.loss_options)
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec")
        self.sync_interval = check_whole(sync_interval, "sync_interval", least=1)
        parts = (self.policy, self.target, self.exploration, self.loss, self.optimizer)
        super().__init__(*parts, scope=self.name)

    @rlgraph_api
    def act(self, observations: Any, progress: Any) -> Any:
        greedy = self.act_greedily(observations)
        explored = greedy["action" if self.exploration.explores == "actions" else "q_values"]
        action = self.exploration.get_action(explored, progress, observations=observations)
        return {"action": action, "q_values": greedy["q_values"]}

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        greedy = self.policy.get_deterministic_action(observations)
        return {"action": greedy["action"], "q_values": self.get_q_values(observations)}

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, progress: Any = None) -> Any:
        values = self.loss_inputs(records)
        losses = self.loss.loss(**values, weights=importance_weights)
        variables = self.policy.variables(trainable_only=True)
        norm = self.optimizer.measured_step(variables, losses["loss"], progress)
        return {**losses, **norm, "priorities": self.loss.get_td_errors(**values)}

    @rlgraph_api
    def get_td_loss(self, records: Any, importance_weights: Any = None) -> Any:
        """The loss without learning from it: ``{"loss": [], "loss_per_item": [B]}``."""
        return self.loss.loss(**self.loss_inputs(records), weights=importance_weights)

    @rlgraph_api
    def get_td_errors(self, records: Any) -> Any:
        """The sizes of the TD errors [B]: priorities."""
        return self.loss.get_td_errors(**self.loss_inputs(records))

    @rlgraph_api
    def get_q_values(self, observations: Any) -> Any:
        """``[B, A]``; of a container action a container of such."""
        return self.policy.get_q_values(observations)["q_values"]

    def loss_inputs(self, records: Any) -> dict[str, Any]:
        """The arguments of the loss by name, without `weights`; for use in API methods."""
        states, next_states = records["observations"], records["next_observations"]
        values = {name: records[name] for name in ("actions", "rewards", "terminals", "discounts")}
        if self.returns is not None:
            following = self.target.get_distributions(next_states)
            chosen = self.policy.get_deterministic_action(next_states) if self.double_q else following
            q_next, q_values = (
                following["distributions"],
                self.policy.get_distributions(states)["distributions"],
            )
            values |= {"q_values": q_values, "q_next": q_next, "q_next_target": q_next}
            return {**values, "next_actions": chosen["action"]}
        q_next = self.target.get_q_values(next_states)["q_values"]
        # Only double Q-learning evaluates the policy in the next states.
        chosen = self.policy.get_q_values(next_states)["q_values"] if self.double_q else q_next
        q_values = self.policy.get_q_values(states)["q_values"]
        return {**values, "q_values": q_values, "q_next": chosen, "q_next_target": q_next}

    @rlgraph_api
    def sync_target(self) -> Any:
        """Move the target towards the policy."""
        return self.target.sync()

    def make_policy(
        self, spec: Any, network_spec: Any, states: Space, actions: Space, dueling_q: bool
    ) -> QPolicy:
        """The policy of the options `policy_spec`, `network_spec` and `dueling_q`."""
        given = {} if spec is None else spec
        if not isinstance(given, Mapping):
            raise SpecError(
                f"expected a mapping of the policy's arguments, given {spec!r}", path="policy_spec"
            )
        if network_spec is not None and "network_spec" in given:
            raise SpecError("given twice, here and as policy_spec.network_spec", path="network_spec")
        network = {} if "network_spec" in given else {"network_spec": network_for(states, network_spec)}
        kind = DuelingPolicy if dueling_q else QPolicy
        policy = kind.from_spec(
            spec, path="policy_spec", action_space=actions, returns=self.returns, **network
        )
        if not dueling_q and isinstance(policy, DuelingPolicy):
            contradicts = f"false contradicts policy_spec.type, a {type(policy).__name__}"
            raise SpecError(f"{contradicts}; change both, or leave out policy_spec (null)", path="dueling_q")
        return policy
