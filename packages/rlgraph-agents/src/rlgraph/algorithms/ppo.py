"""Proximal policy optimization: Schulman et al. (2017), https://arxiv.org/abs/1707.06347."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from rlgraph.algorithms.actor_critic import ActorCritic
from rlgraph.algorithms.metric import Metric
from rlgraph.components import IterativeOptimization, PPOLoss, Standardize
from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.observations import evaluating
from rlgraph.core import SpecError, rlgraph_api
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.experience.rollouts import Rollouts
from rlgraph.spaces import Space


class PPO(ActorCritic):
    """Proximal policy optimization (Schulman et al., 2017).

    Args:
        state_space, action_space, options: see `ActorCritic`.
        clip_ratio: how far the ratio of new and old probabilities may move from 1.
        value_clipping: how far values may move from the old ones; None: no limit.
        weight_entropy, weight_vf: weights of the entropy bonus and of the value function's loss.
        num_epochs, num_minibatches: passes over a rollout, and parts of it with one update each.
        kl_limit: an update ends once the divergence from the policy that acted exceeds it; None: never.
        standardize_advantages: whether the advantages of a minibatch or of the whole ``"batch"`` get mean 0 and
            deviation 1; False: they stay.
    """

    make_loss: Any = PPOLoss
    experience = Rollouts.of()
    metrics: Mapping[str, Metric] = {
        **ActorCritic.metrics,
        "kl": Metric("Estimated divergence of the new policy from the one that acted.", "nats"),
        "clip_fraction": Metric("Share of steps whose probability ratio was clipped.", "share"),
        "num_updates": Metric("Minibatches that an update learned from.", "minibatches"),
    }
    live_metrics = ("loss", "entropy", "kl")
    search_space: ClassVar[Mapping[str, Any]] = {
        **ActorCritic.search_space,
        "num_epochs": [1, 4, 10, 20],
        "num_minibatches": [1, 2, 4, 8, 16],
        "clip_ratio": [0.1, 0.2, 0.3],
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        clip_ratio: ScheduleSpec = 0.2,
        value_clipping: ScheduleSpec = None,
        weight_entropy: ScheduleSpec = 0.0,
        weight_vf: ScheduleSpec = 0.5,
        num_epochs: int = 4,
        num_minibatches: int = 4,
        kl_limit: float | None = None,
        standardize_advantages: Literal["minibatch", "batch", False] = "minibatch",
        **options: Any,
    ):
        super().__init__(state_space, action_space, "ppo", **options)
        self.standardize = Standardize() if standardize_advantages == "batch" else None
        self.loss = self.make_loss(
            clip_ratio=clip_ratio,
            value_function_clipping=value_clipping,
            weight_entropy=weight_entropy,
            weight_vf=weight_vf,
        )
        advantages = "advantages" if self.intrinsic is None else "policy_advantages"
        if kl_limit is not None:
            check_number(kl_limit, "kl_limit", above=0)
        self.epochs = IterativeOptimization(
            num_epochs,
            num_minibatches,
            bool(self.recurrent_parts),
            stop_if=None if kl_limit is None else ("kl", kl_limit),
            standardized=(advantages, "policy_advantages") if standardize_advantages == "minibatch" else None,
        )
        self.add_components(*filter(None, (self.standardize, self.loss, self.epochs)))

    def check_sequences(self, number: int) -> None:
        if number < (wanted := self.epochs.num_minibatches):
            raise SpecError(
                f"expected at most {number}, given {wanted}: a rollout has {number} sequences: more environments, "
                "num_envs, or a shorter sequence_length gives more",
                path="agent.num_minibatches",
            )

    @rlgraph_api
    def update(self, records: Any, progress: Any = None) -> Any:
        observations = records["observations"]
        calm = {**records, "observations": evaluating(self.value_function, observations)}
        computed, metrics = self.compute_advantages(calm)
        del computed["trained_values"]  # each minibatch has its own
        old = self.policy.get_log_likelihood(evaluating(self.policy, observations), records["actions"])
        computed["log_probs"] = old["log_likelihood"]
        if self.standardize is not None:
            advantages = computed.get("policy_advantages", computed["advantages"])
            computed["policy_advantages"] = self.standardize.standardize(advantages, records["weights"])
        metrics |= self.explained(computed, records)
        return {**self.epochs.run(self.step, records, computed, progress), **metrics}

    @rlgraph_api
    def step(self, records: Any, progress: Any = None) -> Any:
        """One update on a minibatch: eq. 9."""
        observations = records["observations"]
        losses = self.loss.loss(
            log_probs=self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            prev_log_probs=records["log_probs"],
            state_values=self.value_function.get_state_values(observations)["state_values"],
            prev_state_values=records["values"],
            advantages=records["advantages"],
            entropy=self.policy.get_entropy(observations)["entropy"],
            progress=progress,
            weights=records["weights"],
            policy_advantages=records.get("policy_advantages"),
        )
        return self.minimize(losses, records, progress)
