"""Parameters of multivariate normal distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.normal_distribution_adapter import (
    NormalDistributionAdapter,
    stddev_of,
)
from rlgraph.core import graph_fn
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import FloatBox


class MultivariateNormalDistributionAdapter(NormalDistributionAdapter):
    """``(mean, spread)`` of float vectors, a `FloatBox` of shape [D].

    The spread is the standard deviation ``[B, D]``, as in `NormalDistributionAdapter`; or the Cholesky factor of the
    covariance ``[B, D, D]``, with such standard deviations on its diagonal and raw outputs below it.

    Args:
        action_space: a `FloatBox` of shape [D].
        full_covariance: parameters of the whole covariance, ``D + D (D + 1) / 2`` outputs, instead of its diagonal.
        kwargs: other arguments of `ActionAdapter`.
    """

    def __init__(self, action_space: SpaceSpec, full_covariance: bool = False, **kwargs: Any):
        self.full_covariance = full_covariance
        super().__init__(action_space, **kwargs)

    def wanted_actions(self) -> str:
        box = self.action_space
        return "" if isinstance(box, FloatBox) and box.rank == 1 else "a FloatBox of shape [D]"

    def num_outputs(self) -> int:
        size = self.num_elements
        return 2 * size + self.full_covariance * (size * (size - 1) // 2)

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "multivariate_normal", "parameterize_via_diagonal": not self.full_covariance}

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        size = self.num_elements
        if not self.full_covariance:
            mean, log_stddev = ops.split(outputs, [size, size], axis=-1)
            return mean, stddev_of(ops, log_stddev)
        mean, log_stddev, *below = ops.split(outputs, [size, size, *range(1, size)], axis=-1)
        ranks = [(0, 0)] * (len(outputs.shape) - 1)
        rows = [
            ops.zeros_like(mean),
            *(ops.pad(row, [*ranks, (0, size - i)]) for i, row in enumerate(below, 1)),
        ]
        diagonal = ops.expand_dims(stddev_of(ops, log_stddev), -1) * ops.eye(size)
        return mean, ops.stack(rows, axis=-2) + diagonal
