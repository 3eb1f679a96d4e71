"""Parameters of Gumbel-softmax distributions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.action_adapters.categorical_distribution_adapter import CategoricalDistributionAdapter
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import IntBox


class GumbelSoftmaxDistributionAdapter(CategoricalDistributionAdapter):
    """Logits ``[B, ..., A]`` of actions that are one of A; the actions are drawn almost one-hot, ``[B, ..., A]``.

    It takes no `action_mask`: the density is one of vectors of all A numbers, and is 0 where one of them is.

    Args:
        action_space: an ``IntBox(A)`` of any shape.
        temperature: of the distribution (see `GumbelSoftmax`).
        kwargs: as of `ActionAdapter`.
    """

    takes_mask = False

    def __init__(self, action_space: SpaceSpec, temperature: float = 1.0, **kwargs: Any):
        self.temperature = temperature
        super().__init__(action_space, **kwargs)

    def wanted_actions(self) -> str:
        box = self.action_space
        if isinstance(box, IntBox) and box.num_categories:
            return ""
        return "an IntBox(n) whose elements all have the n categories 0 to n - 1 (others: a Tuple of such)"

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "gumbel_softmax", "temperature": self.temperature}
