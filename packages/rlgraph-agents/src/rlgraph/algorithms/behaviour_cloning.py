"""Behaviour cloning: Pomerleau (1989).

https://proceedings.neurips.cc/paper/1988/hash/812b4ba287f5ee0bc9d43bbf5bbe87fb-Abstract.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import network_for
from rlgraph.algorithms.metric import Metric, usual
from rlgraph.components import NegativeLogLikelihoodLoss, Optimizer, Policy
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.experience.demonstrations import Demonstrations
from rlgraph.spaces import Space


class BehaviourCloning(Algorithm):
    """Behaviour cloning (Pomerleau, 1989): a policy under which the actions of a data set are as likely as possible.

    Args:
        state_space, action_space: the task, as the policy sees it.
        network_spec: layers of the policy; default: what suits the states, see `default_network`.
        distributions_spec: of actions, see `choose_adapter`; for data with actions at their bounds
            ``{"bounded_distribution_type": "clipped_normal"}``.
        optimizer_spec: default: Adam.
    """

    make_loss: Any = NegativeLogLikelihoodLoss
    experience = Demonstrations.of(memory_spec={"capacity": 10**5})
    values_next_actions = False
    metrics: Mapping[str, Metric] = usual("gradient_norm")
    search_space: ClassVar[Mapping[str, Any]] = {
        "optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": True},
        "update_spec.batch_size": [32, 64, 128, 256],
    }
    test_alternatives: ClassVar[Mapping[str, Sequence[Any]]] = {"memory_spec": []}  # holds the whole data set

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        network_spec: NetworkSpec = None,
        distributions_spec: Mapping[str, Any] | None = None,
        optimizer_spec: ComponentSpec = None,
    ):
        layers = network_for(state_space, network_spec)
        self.policy = Policy(layers, action_space, distributions_spec=distributions_spec)
        self.loss = self.make_loss()
        self.optimizer = Optimizer.from_spec(optimizer_spec, path="optimizer_spec")
        super().__init__(self.policy, self.loss, self.optimizer, scope="bc")

    @rlgraph_api
    def update(self, records: Any, progress: Any = None) -> Any:
        observations = records["observations"]
        likelihood = self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"]
        losses = self.loss.loss(parameters=likelihood)
        variables = self.policy.variables(trainable_only=True)
        return {**losses, **self.optimizer.measured_step(variables, losses["loss"], progress)}
