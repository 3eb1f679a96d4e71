"""Parameters of Gumbel-softmax distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.categorical_distribution_adapter import CategoricalDistributionAdapter
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import IntBox


class GumbelSoftmaxDistributionAdapter(CategoricalDistributionAdapter):
    """Logits ``[B, ..., A]`` of A categories; the actions are relaxed one-hot vectors, ``[B, ..., A]``.

    It does not support `action_mask`: the density covers vectors of all A numbers, and is 0 if one of them is 0.

    Args:
        action_space: an ``IntBox(A)`` of any shape.
        temperature: temperature of the distribution (see `GumbelSoftmax`).
        kwargs: other arguments of `ActionAdapter`.
    """

    takes_mask = False

    def __init__(self, action_space: SpaceSpec, temperature: float = 1.0, **kwargs: Any):
        self.temperature = temperature
        super().__init__(action_space, **kwargs)

    def wanted_actions(self) -> str:
        box = self.action_space
        if isinstance(box, IntBox) and box.num_categories:
            return ""
        return "an IntBox(n) whose elements all have the n categories 0 to n - 1 (else a Tuple of IntBoxes)"

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "gumbel_softmax", "temperature": self.temperature}
