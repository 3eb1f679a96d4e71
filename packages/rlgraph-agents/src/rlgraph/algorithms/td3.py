"""Twin delayed deep deterministic policy gradient, TD3: Fujimoto et al. (2018), https://arxiv.org/abs/1802.09477."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.action_checks import check_bounded_floats
from rlgraph.algorithms.default_network import policy_and_value_networks
from rlgraph.algorithms.off_policy_actor_critic import OffPolicyActorCritic
from rlgraph.components import DeterministicPolicy, Exploration, Target, TD3Loss
from rlgraph.components.common.argument_checks import check_flag, check_number, check_whole
from rlgraph.components.common.observations import evaluating
from rlgraph.core import branch, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class TD3(OffPolicyActorCritic):
    """A deterministic policy that climbs a critic, with two critics, delayed and smoothed (Fujimoto et al., 2018).

    DDPG (Lillicrap et al., 2016, https://arxiv.org/abs/1509.02971) is ``num_critics=1, policy_delay=1,
    target_noise=0``.

    Args:
        state_space, action_space: the task, as the policy sees it. Actions are floats with both bounds, or a `Dict` or
            `Tuple` of them.
        network_spec, value_network_spec: layers of the policy, default: `default_network`; of critics, default: those.
        num_critics: number of critics; the smallest of their values is the target.
        policy_delay: updates of the critics for each update of the policy and the targets.
        target_noise, target_noise_clip: standard deviation and limit of the noise on the target's actions, in halves of
            the range of each element.
        exploration_spec: noise on actions; default: ``{"noise_spec": {"stddev": 0.1, "relative": True}}``.
        random_before_update: whether actions are uniformly random until the first update (see `UpdateSpec`), as in the
            paper's experiments.
        tau: the share of policy and critics in their targets' new values, in (0, 1].
        optimizer_spec: of policy and critics, which have one optimizer each; default: Adam.
        scale_actions: whether critics see actions scaled from their bounds to -1..1; False: as the environment takes
            them, which learns only with bounds near these.
    """

    make_loss: Any = TD3Loss
    live_metrics = ("critic_loss", "actor_loss")
    search_space: ClassVar[Mapping[str, Any]] = {
        **OffPolicyActorCritic.search_space,
        "tau": [0.005, 0.01, 0.02, 0.05],
        "target_noise": [0.1, 0.2, 0.4],
    }
    test_options: ClassVar[Mapping[str, Any]] = {
        # A tiny network has saturated before the critics know anything.
        "network_spec": [{"type": "dense", "units": 32, "activation": "relu"}] * 2,
        "exploration_spec": {"noise_spec": {"stddev": 0.5, "relative": True}},
        "normalize_states": True,
        "optimizer_spec": {"learning_rate": 0.003},
        "update_spec": {"steps_before_update": 16, "update_interval": 4, "batch_size": 64},
        "tau": 0.05,
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec = None,
        num_critics: int = 2,
        policy_delay: int = 2,
        target_noise: float = 0.2,
        target_noise_clip: float = 0.5,
        exploration_spec: ComponentSpec = None,
        random_before_update: bool = False,
        tau: float = 0.005,
        optimizer_spec: ComponentSpec = None,
        scale_actions: bool = True,
    ):
        check_bounded_floats(action_space)
        num_critics = check_whole(num_critics, "num_critics", least=1)
        self.policy_delay = check_whole(policy_delay, "policy_delay", least=1)
        self.target_noise = check_number(target_noise, "target_noise", least=0)
        self.target_noise_clip = check_number(target_noise_clip, "target_noise_clip", least=0)
        layers, value_layers = policy_and_value_networks(state_space, network_spec, value_network_spec)
        self.policy = DeterministicPolicy(layers, action_space)
        self.loss = self.make_loss(num_q_functions=num_critics)
        self.target_policy = Target(self.policy, tau)
        self.scale_actions = check_flag(scale_actions, "scale_actions")
        self.make_critics(state_space, value_layers, tau, num_critics)
        self.exploration = Exploration.from_spec(
            {"noise_spec": {"stddev": 0.1, "relative": True}}
            if exploration_spec is None
            else exploration_spec,
            path="exploration_spec",
            action_space=action_space,
        )
        self.make_optimizers(optimizer_spec, "actor", "critic")
        parts = (*self.critics, self.target_policy, *self.targets, self.exploration, self.loss)
        parts += self.make_first_actions(action_space, random_before_update)
        super().__init__(self.policy, *parts, *self.optimizers.values(), scope="td3")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.updates = self.get_variable("updates", int, trainable=False)
        self.actor_loss = self.get_variable("actor-loss", float, trainable=False)

    @rlgraph_api
    def act(self, observations: Any, progress: Any) -> Any:
        acted = self.policy.get_deterministic_action(observations)
        explored = self.exploration.get_action(acted["action"], progress, observations=observations)
        return self.at_first({**acted, "action": explored}, observations)

    @rlgraph_api
    def update(self, records: Any, importance_weights: Any = None, progress: Any = None) -> Any:
        states, next_states = records["observations"], records["next_observations"]
        following = self.policy.smoothed(
            self.target_policy.get_deterministic_action(next_states)["action"],
            self.target_noise,
            self.target_noise_clip,
        )
        losses = self.loss.loss(
            q_values_next=tuple(target.state_action_value(next_states, following) for target in self.targets),
            q_values=tuple(critic.state_action_value(states, records["actions"]) for critic in self.critics),
            q_values_policy=None,
            **{name: records[name] for name in ("rewards", "terminals", "discounts")},
            weights=importance_weights,
        )
        norms = self.step("critic", self.critics, losses["loss"], progress)

        def update_policy() -> None:
            actions = self.policy.get_deterministic_action(states)["action"]
            critic = self.critics[0]
            values = critic.state_action_value(evaluating(critic, states), actions)
            loss = self.loss.loss_average(
                self.loss.actor_loss_per_item(q_values_policy=values), importance_weights
            )
            self.step("actor", [self.policy], loss, progress)
            self._keep(loss)
            for target in (self.target_policy, *self.targets):
                target.sync()

        branch(self._is_due(), update_policy, lambda: None)
        return {
            "priorities": self.loss.get_errors(losses.pop("loss_per_item")),
            "actor_loss": self._last_actor_loss(),
            **losses,
            **norms,
        }

    @graph_fn
    def _is_due(self, ops: Any) -> Any:
        """Whether the policy is updated now; counts the updates."""
        ops.assign_add(self.updates, 1)
        return ops.read(self.updates) % self.policy_delay == 0

    @graph_fn(returns=0)
    def _keep(self, ops: Any, loss: Any) -> None:
        ops.assign(self.actor_loss, loss)

    @graph_fn
    def _last_actor_loss(self, ops: Any) -> Any:
        return ops.read(self.actor_loss)
