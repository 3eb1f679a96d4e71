"""What algorithms that learn from rollouts with a policy and a value function have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import SHARED, network_for, policy_and_value_function
from rlgraph.algorithms.intrinsic_rewards import IntrinsicRewards
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.components import GeneralizedAdvantageEstimation, Optimizer
from rlgraph.core import graph_fn
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.experience.rollouts import Rollouts
from rlgraph.spaces import Space


class ActorCritic(Algorithm):
    """A policy, a value function, advantages, and one optimizer; a subclass adds a loss and writes `update`.

    Args:
        state_space, action_space: the task, as the policy sees it.
        scope: name of the algorithm; default: that of the class in lower case.
        discount, gae_lambda: of the advantages, in [0, 1]; a lambda of 0 uses one-step errors, of 1 whole returns.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of the value function, which are its own; default: the same as the policy's.
            ``"shared"``: one layer on the policy's features, as usual for pictures.
        optimizer_spec: one optimizer for policy and value function; default: Adam.
        intrinsic_reward: rewards for exploration: ``"rnd"``, ``"icm"`` or a spec of these; None: none.

    Attributes:
        default_optimizer: the type of an `optimizer_spec` without one.
    """

    experience = Rollouts.of()
    values_next_actions = False
    loss: Any
    metrics: Mapping[str, Metric] = usual(
        "policy_loss", "value_loss", "entropy", "explained_variance", "gradient_norm"
    )
    live_metrics: Sequence[str] = ("loss", "entropy")
    default_optimizer: ClassVar[str] = "adam"
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "discount": [0.9, 0.95, 0.98, 0.99, 0.995, 0.999],
        "gae_lambda": [0.8, 0.9, 0.92, 0.95, 0.98, 1.0],
        "rollout_length": [8, 16, 32, 64, 128, 256, 512],
        "weight_entropy": {"low": 1e-6, "high": 0.1, "log": True},
    }

    @classmethod
    def as_it_meant(cls, options: Mapping[str, Any], meaning: int) -> Mapping[str, Any]:
        """Up to version 0.2 curiosity saw actions as the environment takes them, and variances had an epsilon."""
        rewards = options.get("intrinsic_reward")
        if rewards is None:
            return options
        rewards = {"type": rewards} if isinstance(rewards, str) else rewards
        older = {"epsilon": 1e-8, **({"scale_actions": False} if rewards.get("type") == "icm" else {})}
        return {**options, "intrinsic_reward": {**rewards, **older}}

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        scope: str = "",
        /,
        *,
        discount: float = 0.99,
        gae_lambda: float = 0.95,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec | Literal["shared"] = None,
        optimizer_spec: ComponentSpec = None,
        intrinsic_reward: ComponentSpec = None,
    ):
        self.policy, self.value_function = policy_and_value_function(
            state_space, action_space, network_spec, value_network_spec
        )
        self.gae = GeneralizedAdvantageEstimation(gae_lambda, discount)
        self.optimizer = Optimizer.from_spec(
            optimizer_spec, path="optimizer_spec", default=self.default_optimizer
        )
        of_values = network_spec if value_network_spec in (None, SHARED) else value_network_spec
        self.intrinsic = IntrinsicRewards.for_agent(
            intrinsic_reward, network_for(state_space, of_values), action_space, gae_lambda, self.optimizer
        )
        if self.intrinsic is not None:
            self.metrics = {**self.metrics, **self.intrinsic.metrics}
        parts = (self.policy, self.value_function, self.gae, self.optimizer, self.intrinsic)
        super().__init__(*filter(None, dict.fromkeys(parts)), scope=scope)  # the first two may be one

    def compute_advantages(self, records: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values and advantages of a rollout ``[T, N]`` under the weights before an update, for use in `update`.

        Returns:
            Fields ``[T, N]`` and metrics ``[]``. The fields are ``"values"``, ``"trained_values"`` (see
            `evaluating`) and ``"advantages"``; with intrinsic rewards also
            ``"policy_advantages"``, the sum for both kinds of rewards, and those that `minimize` needs.
        """
        fields, metrics = ({}, {}) if self.intrinsic is None else self.intrinsic.explore(records)
        observations = records["observations"]
        found = self.value_function.get_values_of_transitions(observations, records["next_observations"])
        values, given = (
            found["evaluated_state_values"],
            (records[name] for name in ("rewards", "terminals", "ends")),
        )
        advantages = self.gae.calc_gae_values(values, *given, found["next_state_values"])
        fields |= {"values": values, "trained_values": found["state_values"], "advantages": advantages}
        if self.intrinsic is not None:
            fields["policy_advantages"] = self._sum(advantages, fields.pop("intrinsic_advantages"))
        return fields, metrics

    def explained(self, computed: Mapping[str, Any], records: Any) -> dict[str, Any]:
        """``{"explained_variance": []}`` of what `compute_advantages` returned, for use in `update`."""
        values = computed["values"]
        returns = self._sum(values, computed["advantages"])
        explained = self.loss.get_explained_variance(
            values=values, targets=returns, weights=records["weights"]
        )
        return {"explained_variance": explained}

    @graph_fn
    def _sum(self, ops: Any, a: Any, b: Any) -> Any:
        return a + b

    def minimize(self, losses: Any, records: Any, progress: Any) -> dict[str, Any]:
        """One step of the optimizer on ``losses["loss"]`` []; returns the losses, for use in API methods.

        Args:
            losses: what a loss returns.
            records: those that the loss is of, with the fields of `compute_advantages`.
            progress: how much of training is done, [].
        """
        variables = self.trainable_variables(self.policy, self.value_function)
        norm = self.optimizer.measured_step(variables, losses["loss"], progress)
        numbers = {name: loss for name, loss in losses.items() if name != "loss_per_item"} | norm
        return numbers if self.intrinsic is None else numbers | self.intrinsic.step(records, progress)
