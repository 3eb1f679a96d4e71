"""Randomized ensembled double Q-learning, REDQ: Chen et al. (2021), https://arxiv.org/abs/2101.05982."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.agents import Replay
from rlgraph.algorithms.sac import SAC
from rlgraph.components import SACLoss
from rlgraph.core import SpecError, branch, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class REDQLoss(SACLoss):
    """`SACLoss` of an ensemble of critics.

    The value in targets is the smallest of a random subset of the critics, the same one for the whole batch; the policy
    climbs the mean of all (Algorithm 1).

    Args:
        subset: number of critics in the subset, the paper's M.
        options: see `SACLoss`.
    """

    def __init__(self, subset: int = 2, **options: Any):
        self.subset = subset
        super().__init__(**options)

    def target_value(self, ops: Any, q_values: Sequence[Any]) -> Any:
        chosen = ops.random_permutation(len(q_values))[: self.subset]
        return ops.min(ops.take(ops.stack(q_values), chosen, axis=0), axis=0)

    def policy_value(self, ops: Any, q_values: Sequence[Any]) -> Any:
        return ops.mean(ops.stack(q_values), axis=0)


class REDQ(SAC):
    """Soft actor-critic that learns twenty times from each step, with an ensemble of critics (Chen et al., 2021).

    Args:
        state_space, action_space, options: see `SAC`.
        num_critics: number of critics, the paper's N.
        subset: number of critics, drawn for each update, whose smallest value is the target, the paper's M.
        policy_delay: updates of the critics for each one of the policy and the temperature; the paper's is the number
            of updates for each step, ``update_spec.update_steps``.
    """

    experience = Replay.of(
        memory_spec={"capacity": 10**6},
        update_spec={
            "steps_before_update": 5000,
            "update_interval": 1,
            "update_steps": 20,
            "batch_size": 256,
        },
    )
    search_space: ClassVar[Mapping[str, Any]] = {
        **SAC.search_space,
        "num_critics": [5, 10],
        "subset": [1, 2, 3],
    }
    test_options: ClassVar[Mapping[str, Any]] = {
        "num_critics": 2,  # the smallest of all is what the suite can know
        "policy_delay": 1,
        "update_spec": {
            "steps_before_update": 16,
            "update_interval": 4,
            "update_steps": 1,
            "batch_size": 32,
        },
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        num_critics: int = 10,
        subset: int = 2,
        policy_delay: int = 20,
        **options: Any,
    ):
        if not 1 <= subset <= num_critics:
            raise SpecError(
                f"expected 1 to num_critics, {num_critics}, given {subset}",
                path="subset",
            )
        if policy_delay < 1:
            raise SpecError(
                f"expected at least 1, given {policy_delay}", path="policy_delay"
            )
        self.subset, self.policy_delay = subset, policy_delay
        super().__init__(state_space, action_space, num_critics=num_critics, **options)

    def make_loss(self, **options: Any) -> REDQLoss:
        return REDQLoss(self.subset, **options)

    def create_variables(
        self, input_spaces: Mapping[str, Any], action_space: Space | None = None
    ) -> None:
        super().create_variables(input_spaces, action_space)
        self.critic_updates = self.get_variable("critic-updates", int, trainable=False)
        self.actor_loss = self.get_variable("actor-loss", float, trainable=False)
        self.alpha_loss = self.get_variable("alpha-loss", float, trainable=False)

    @rlgraph_api
    def update(
        self, records: Any, importance_weights: Any = None, progress: Any = None
    ) -> Any:
        states, next_states = records["observations"], records["next_observations"]
        alpha = self.temperature.get_alpha()
        next_actions, next_log_probs = self.drawn_actions(next_states)
        per_item = self.loss.critic_loss_per_item(
            alpha=alpha,
            log_probs_next_sampled=next_log_probs,
            q_values_next_sampled=self.values_of(
                self.targets, next_states, next_actions
            ),
            q_values=self.values_of(self.critics, states, records["actions"]),
            rewards=records["rewards"],
            terminals=records["terminals"],
            actions=records["actions"],
            discounts=records["discounts"],
        )
        loss = self.loss.loss_average(per_item, importance_weights)
        norms = self.step("critic", self.critics, loss, progress)
        for target in self.targets:
            target.sync()

        branch(
            self._is_due(),
            lambda: self._update_policy(states, importance_weights, progress),
            lambda: None,
        )
        self.count_update()
        actor_loss, alpha_loss = self._read_losses()
        return {
            "loss": loss,
            "critic_loss": loss,
            "alpha": alpha,
            "priorities": self.loss.get_errors(per_item),
            "actor_loss": actor_loss,
            "alpha_loss": alpha_loss,
            **norms,
        }

    def _update_policy(self, states: Any, weights: Any, progress: Any) -> None:
        """One step of the policy and one of the temperature."""
        actions, log_probs = self.drawn_actions(states)
        alpha = self.temperature.get_alpha()
        actor_loss = self.loss.actor_loss_per_item(
            alpha=alpha,
            log_probs_sampled=log_probs,
            q_values_sampled=self.values_of(self.critics, states, actions),
        )
        alpha_loss = self.loss.alpha_loss_per_item(
            alpha=alpha,
            log_probs_sampled=log_probs,
            action_mask=states.get("action_mask"),
        )
        actor_loss = self.loss.loss_average(actor_loss, weights)
        alpha_loss = self.loss.loss_average(alpha_loss, weights)
        self.step("actor", [self.policy], actor_loss, progress)
        self.step("alpha", [self.temperature], alpha_loss, progress)
        self._keep_losses(actor_loss, alpha_loss)

    @graph_fn
    def _is_due(self, ops: Any) -> Any:
        """Whether the policy is updated now; counts the updates of the critics."""
        ops.assign_add(self.critic_updates, 1)
        return ops.read(self.critic_updates) % self.policy_delay == 0

    @graph_fn(returns=0)
    def _keep_losses(self, ops: Any, actor_loss: Any, alpha_loss: Any) -> None:
        ops.assign(self.actor_loss, actor_loss)
        ops.assign(self.alpha_loss, alpha_loss)

    @graph_fn(returns=2)
    def _read_losses(self, ops: Any) -> Any:
        return ops.read(self.actor_loss), ops.read(self.alpha_loss)
