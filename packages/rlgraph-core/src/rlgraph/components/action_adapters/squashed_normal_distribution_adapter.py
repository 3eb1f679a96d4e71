"""Parameters of squashed normal distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.normal_distribution_adapter import NormalDistributionAdapter
from rlgraph.spaces import FloatBox


class SquashedNormalDistributionAdapter(NormalDistributionAdapter):
    """``(mean, stddev)`` before the squashing, both ``[B, ...]``, of float actions that have both bounds."""

    def wanted_actions(self) -> str:
        box = self.action_space
        return "" if isinstance(box, FloatBox) and box.bounded else "a FloatBox with both bounds"

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "squashed_normal", "low": self.action_space.low, "high": self.action_space.high}
