"""Importance-weighted actor-learner architecture: Espeholt et al. (2018), https://arxiv.org/abs/1802.01561."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import SHARED, policy_and_value_function
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.components import IMPALALoss, Optimizer
from rlgraph.components.common.observations import evaluating
from rlgraph.core import SpecError, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, ScheduleSpec
from rlgraph.experience.fragments import Fragments
from rlgraph.spaces import FloatBox, Space


class IMPALA(Algorithm):
    """An actor-critic that corrects for actors with older weights by V-trace (Espeholt et al., 2018).

    Args:
        state_space, action_space: the task, as the policy sees it.
        discount: discount factor of one step.
        reward_clipping: ``"clamp_one"`` limits rewards to [-1, 1], ``"soft_asymmetric"`` squeezes them; None: neither.
        rho_bar, c_bar: limits of the importance ratios in the TD errors and in the trace; None: no limit.
        weight_pg, weight_vf, weight_entropy: weights of the policy gradient, the value function's loss and the entropy.
        average_time_steps: the loss is the mean of all steps; False: the sum over the steps of each environment.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        value_network_spec: layers of the value function, which are its own; default: the same as the policy's.
            ``"shared"``: one layer on the policy's features, as usual for pictures.
        optimizer_spec: one optimizer for policy and value function; default: RMSProp.
        architecture: ``"small"`` or ``"large"``, in place of `network_spec`: the network of the paper, with an LSTM,
            for an image and optionally an instruction; the value function is ``"shared"`` unless it has layers. In the
            paper it also sees the previous action and reward: set ``previous_action_and_reward: true`` for that.
    """

    experience = Fragments.of()
    make_loss: Any = IMPALALoss
    values_next_actions = False
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "discount": [0.9, 0.95, 0.98, 0.99, 0.995],
        "rollout_length": [8, 16, 32, 64],
        "weight_entropy": {"low": 1e-6, "high": 0.1, "log": True},
    }
    test_alternatives: ClassVar[Mapping[str, Sequence[Any]]] = {
        "reward_clipping": ["clamp_one"],
        "architecture": [],  # for images
    }
    executor = "impala"
    metrics: Mapping[str, Metric] = usual(
        "policy_loss", "value_loss", "entropy", "explained_variance", "gradient_norm"
    )
    live_metrics = ("loss", "entropy")
    #: The behaviour policy's log-probability of the action.
    behaviour_outputs = MappingProxyType({"log_likelihood": FloatBox()})

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        discount: float = 0.99,
        reward_clipping: str | None = None,
        rho_bar: float | None = 1.0,
        c_bar: float | None = 1.0,
        weight_pg: ScheduleSpec = 1.0,
        weight_vf: ScheduleSpec = 0.5,
        weight_entropy: ScheduleSpec = 0.01,
        average_time_steps: bool = True,
        network_spec: NetworkSpec = None,
        value_network_spec: NetworkSpec | Literal["shared"] = None,
        optimizer_spec: ComponentSpec = None,
        architecture: Literal["small", "large"] | None = None,
    ):
        if architecture is not None:
            if network_spec is not None:
                raise SpecError("expected architecture or network_spec, given both", path="architecture")
            network_spec = f"{architecture}_impala_network"
            value_network_spec = SHARED if value_network_spec is None else value_network_spec
        self.policy, self.value_function = policy_and_value_function(
            state_space, action_space, network_spec, value_network_spec
        )
        self.loss = self.make_loss(
            discount=discount,
            reward_clipping=reward_clipping,
            weight_pg=weight_pg,
            weight_baseline=weight_vf,
            weight_entropy=weight_entropy,
            rho_bar=rho_bar,
            c_bar=c_bar,
            average_time_steps=average_time_steps,
        )
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec", default="rmsprop")
        parts = (self.policy, self.value_function, self.loss, self.optimizer)
        super().__init__(*dict.fromkeys(parts), scope="impala")  # the first two may be one

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        return self.policy.get_action_and_log_likelihood(observations, False)

    @rlgraph_api
    def update(self, records: Any, progress: Any = None) -> Any:
        observations = records["observations"]
        values = self.value_function.get_values_of_transitions(observations, records["next_observations"])
        log_probs = self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"]
        calm, evaluated_log_probs = evaluating(self.policy, observations), log_probs
        if calm is not observations:
            likelihood = self.policy.get_log_likelihood(calm, records["actions"])
            evaluated_log_probs = likelihood["log_likelihood"]
        evaluated_values = values["evaluated_state_values"]
        given = {
            "behaviour_log_probs": records["remembered"]["log_likelihood"],
            "bootstrap_values": values["next_state_values"],
            "rewards": records["rewards"],
            "terminals": records["terminals"],
            "truncations": records["ends"],
            "weights": records["weights"],
        }
        losses = self.loss.loss(
            **given,
            log_probs=log_probs,
            state_values=values["state_values"],
            entropy=self.policy.get_entropy(observations)["entropy"],
            progress=progress,
            evaluated_log_probs=evaluated_log_probs,
            evaluated_values=evaluated_values,
        )
        targets = self.loss.get_value_targets(
            **given, log_probs=evaluated_log_probs, state_values=evaluated_values
        )
        variables = self.trainable_variables(self.policy, self.value_function)
        norm = self.optimizer.measured_step(variables, losses["loss"], progress)
        # After the derivatives, which do not go back through sums over learners.
        explained = self.loss.get_explained_variance(
            values=evaluated_values, targets=targets, weights=records["weights"]
        )
        numbers = {name: loss for name, loss in losses.items() if name != "loss_per_item"}
        return {**numbers, **norm, "explained_variance": explained}
