"""Parameters of log-normal distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.normal_distribution_adapter import (
    NormalDistributionAdapter,
    stddev_of,
)
from rlgraph.core import graph_fn
from rlgraph.spaces import FloatBox

#: Bounds of the mean of the logarithm. With the largest standard deviation, e^2, samples within 9 standard deviations
#: are finite in single precision.
MEAN_BOUNDS = (-20.0, 20.0)


class LogNormalDistributionAdapter(NormalDistributionAdapter):
    """``(mean, stddev)`` of the logarithm of the distance from the bound, both ``[B, ...]``, of half-bounded floats.

    The first half of the outputs are the means, limited to ``-20..20``, the second the logarithms of the standard
    deviations, limited to ``-20..2``.
    """

    def wanted_actions(self) -> str:
        box = self.action_space
        wanted = "a FloatBox with one bound, low or high, in every element"
        return "" if isinstance(box, FloatBox) and box.half_bounded else wanted

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "log_normal", "low": self.action_space.low, "high": self.action_space.high}

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        mean, log_stddev = self.halves(ops, outputs)
        return ops.clip(mean, *MEAN_BOUNDS), stddev_of(ops, log_stddev)
