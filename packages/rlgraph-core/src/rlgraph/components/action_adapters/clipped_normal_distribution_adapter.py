"""Parameters of clipped normal distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.squashed_normal_distribution_adapter import (
    SquashedNormalDistributionAdapter,
)


class ClippedNormalDistributionAdapter(SquashedNormalDistributionAdapter):
    """``(mean, stddev)`` before clipping, both ``[B, ...]``, of float actions that have both bounds.

    They are in halves of the range, from its middle.
    """

    def distribution_spec(self) -> dict[str, Any]:
        return {**super().distribution_spec(), "type": "clipped_normal"}
