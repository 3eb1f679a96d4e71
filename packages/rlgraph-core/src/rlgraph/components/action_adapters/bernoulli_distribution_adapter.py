"""Parameters of Bernoulli distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.core import graph_fn
from rlgraph.spaces import BoolBox


class BernoulliDistributionAdapter(ActionAdapter):
    """Logits ``[B, ...]`` of bool actions, a `BoolBox` of any shape."""

    def wanted_actions(self) -> str:
        return "" if isinstance(self.action_space, BoolBox) else "a BoolBox"

    def num_outputs(self) -> int:
        return self.num_elements

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "bernoulli"}

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        return self.shaped(ops, outputs)
