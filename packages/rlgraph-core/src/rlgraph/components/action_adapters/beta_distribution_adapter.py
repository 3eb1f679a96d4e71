"""Parameters of beta distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.core import graph_fn
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import FloatBox


class BetaDistributionAdapter(ActionAdapter):
    """``(alpha, beta)``, both ``[B, ...]``, of float actions that have both bounds.

    The first half of the outputs is for alpha, the second for beta: ``softplus(output) + 1``, so that the density has
    one mode (Chou et al., 2017, section 4, https://proceedings.mlr.press/v70/chou17a.html).

    Args:
        action_space: a `FloatBox` with both bounds.
        reparameterize: argument of the distribution (see `Beta`).
        kwargs: other arguments of `ActionAdapter`.
    """

    def __init__(self, action_space: SpaceSpec, reparameterize: bool = False, **kwargs: Any):
        self.reparameterize = reparameterize
        super().__init__(action_space, **kwargs)

    def wanted_actions(self) -> str:
        box = self.action_space
        return "" if isinstance(box, FloatBox) and box.bounded else "a FloatBox with both bounds"

    def num_outputs(self) -> int:
        return 2 * self.num_elements

    def distribution_spec(self) -> dict[str, Any]:
        return {
            "type": "beta",
            "low": self.action_space.low,
            "high": self.action_space.high,
            "reparameterize": self.reparameterize,
        }

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        return self.halves(ops, ops.softplus(outputs) + 1.0)
