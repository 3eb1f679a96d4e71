"""Parameters of normal distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.core import graph_fn
from rlgraph.spaces import FloatBox

#: Bounds of the logarithm of a standard deviation (Haarnoja et al., 2018, in the authors' code).
LOG_STDDEV_BOUNDS = (-20.0, 2.0)


def stddev_of(ops: Any, outputs: Any) -> Any:
    """``exp(outputs)``, with `outputs` limited to `LOG_STDDEV_BOUNDS`."""
    return ops.exp(ops.clip(outputs, *LOG_STDDEV_BOUNDS))


class NormalDistributionAdapter(ActionAdapter):
    """``(mean, stddev)``, both ``[B, ...]``, of float actions, a `FloatBox` of any shape; its bounds are ignored.

    The first half of the outputs are the means, the second the logarithms of the standard deviations, limited to
    ``-20..2``.
    """

    def wanted_actions(self) -> str:
        return "" if isinstance(self.action_space, FloatBox) else "a FloatBox"

    def num_outputs(self) -> int:
        return 2 * self.num_elements

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "normal"}

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        mean, log_stddev = self.halves(ops, outputs)
        return mean, stddev_of(ops, log_stddev)
