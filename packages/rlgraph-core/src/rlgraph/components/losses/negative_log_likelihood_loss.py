"""The negative log-likelihood of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.losses.supervised_loss import SupervisedLoss
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.policy_gradient import sum_of_parts
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import Space


class NegativeLogLikelihoodLoss(SupervisedLoss):
    """``-log p(label)``.

    Args:
        distribution_spec: a component with the API method ``log_prob(parameters, values)``; None: inputs are
            log-probabilities instead of parameters.
        average_time_steps: as in `LossFunction`.

    Raises:
        SpecError: the component has no `log_prob`.
    """

    def __init__(
        self,
        distribution_spec: ComponentSpec = None,
        average_time_steps: bool = False,
        scope: str = "negative-log-likelihood-loss",
        **kwargs: Any,
    ):
        self.distribution: Any = None
        if distribution_spec is not None:
            self.distribution = Component.from_spec(distribution_spec, path=f"{scope}.distribution_spec")
            if "log_prob" not in self.distribution.api_methods():
                raise SpecError(
                    "expected a component with an API method log_prob(parameters, values), "
                    f"given {distribution_spec!r}",
                    path=f"{scope}.distribution_spec",
                )
        super().__init__(average_time_steps, scope=scope, **kwargs)
        if self.distribution is not None:
            self.add_components(self.distribution)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        used = {name: space for name, space in input_spaces.items() if self.distribution or name != "labels"}
        super().check_input_spaces(used, action_space)

    @rlgraph_api
    def loss_per_item(self, parameters: Any, labels: Any = None) -> Any:
        """One number per item, the sum over all parts and axes but those of batch and time.

        Args:
            parameters: parameters of the distribution, ``[B, ...]``, of sequences ``[T, B, ...]`` or ``[B, T, ...]``,
                or a container of these; without a distribution the labels' log-probabilities.
            labels: values of the distribution; not used without one.
        """
        log_probs = parameters
        if self.distribution is not None:
            if labels is None:
                raise AssemblyError(f"{self.scope_path}: a distribution needs the argument labels")
            log_probs = self.distribution.log_prob(parameters, labels)
        return self._loss_per_item(log_probs)

    @graph_fn(flatten_ops={"log_probs"})
    def _loss_per_item(self, ops: Any, log_probs: Mapping[str, Any]) -> Any:
        return -sum_of_parts(ops, list(log_probs.values()), self.item_rank)
