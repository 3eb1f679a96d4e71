"""Deep Q-learning from demonstrations, DQfD: Hester et al. (2018), https://arxiv.org/abs/1704.03732."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.algorithms.metric import Metric
from rlgraph.algorithms.q_learning import QLearning
from rlgraph.components import DQFDLoss
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.experience.replay_with_demonstrations import ReplayWithDemonstrations
from rlgraph.spaces import Space

#: Values of `QLearning` that do not depend on the number of steps.
OF_THE_STATE = ("actions", "q_values")


class DQFD(QLearning):
    """Deep Q-learning that also imitates demonstrations, and never forgets them (Hester et al., 2018).

    It learns from a data set first, ``learn(updates=N, data=FILE)``, and then in an environment.

    Args:
        state_space, action_space, options: see `QLearning`.
        expert_margin: by how much the value of a demonstrated action must exceed those of all others.
        supervised_weight, n_step_weight: weights of the margin loss and of the n-step loss beside the one-step loss.
        huber_loss: Huber loss instead of squared error.
        optimizer_spec: as of `QLearning`; its `l2_penalty` is 1e-5 unless given.
    """

    make_loss: Any = DQFDLoss
    experience = ReplayWithDemonstrations.of(memory_spec={"capacity": 10**5})
    metrics: Mapping[str, Metric] = {
        **QLearning.metrics,
        "td_loss": Metric("The part of the loss of the one-step targets.", "loss"),
        "n_step_loss": Metric("The part of the loss of the n-step targets.", "loss"),
        "margin_loss": Metric("The part of the loss that prefers demonstrated actions.", "loss"),
    }
    live_metrics: Sequence[str] = ("loss", "margin_loss", "epsilon")
    search_space: ClassVar[Mapping[str, Any]] = {
        **QLearning.search_space,
        "expert_margin": [0.1, 0.4, 0.8],
        "supervised_weight": [0.1, 1.0, 10.0],
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        expert_margin: float = 0.8,
        supervised_weight: float = 1.0,
        n_step_weight: float = 1.0,
        huber_loss: bool = False,
        optimizer_spec: ComponentSpec = None,
        **options: Any,
    ):
        self.loss_options = {
            "expert_margin": expert_margin,
            "supervised_weight": supervised_weight,
            "n_step_weight": n_step_weight,
            "huber_loss": huber_loss,
            "action_space": action_space,
        }
        if optimizer_spec is None or isinstance(optimizer_spec, Mapping):
            optimizer_spec = {"l2_penalty": 1e-5, **(optimizer_spec or {})}
        super().__init__(state_space, action_space, optimizer_spec=optimizer_spec, **options)

    def loss_inputs(self, records: Any) -> dict[str, Any]:
        values = {**super().loss_inputs(records), "apply_demo_loss": records["demonstrations"]}
        if "n_step_rewards" not in records:
            return values
        names = ("rewards", "terminals", "discounts", "next_observations")
        later = super().loss_inputs({**records, **{name: records[f"n_step_{name}"] for name in names}})
        return {**values, **{f"n_step_{name}": later[name] for name in later if name not in OF_THE_STATE}}
