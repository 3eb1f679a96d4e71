"""Parameters of categorical distributions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.components.common.action_masks import check_mask, check_ranks
from rlgraph.core import graph_fn
from rlgraph.core.functional.distributions.categorical import mask_logits
from rlgraph.spaces import BoolBox, IntBox, Space


class CategoricalDistributionAdapter(ActionAdapter):
    """Logits ``[B, ..., A]`` of A categories, an ``IntBox(A)`` or ``IntBox(low, low + A)`` of any shape.

    If elements differ, as in ``IntBox([3, 5])``, A is the largest number of categories, and the categories that an
    element does not have are impossible.

    Actions that `action_mask`, bool ``[B, ..., A]``, forbids are never drawn and contribute no probability, entropy or
    gradient. Rows that allow nothing allow everything; the environment should avoid them.
    """

    takes_mask = True

    def wanted_actions(self) -> str:
        box = self.action_space
        if isinstance(box, IntBox) and box.low is not None and box.high is not None:
            return ""
        return "an IntBox with both bounds, such as IntBox(n)"

    def num_outputs(self) -> int:
        return self.num_elements * self.num_categories

    @cached_property
    def num_categories(self) -> int:
        """The number of actions; the largest if elements differ."""
        return int(np.max(self._counts()))

    def _counts(self) -> np.ndarray:
        """The number of actions of each element."""
        counts = np.asarray(self.action_space.high) - np.asarray(self.action_space.low)
        return np.broadcast_to(counts, self.action_space.shape)

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "categorical", "dtype": self.action_space.dtype, "low": self.action_space.low}

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        counts = self._counts()
        self.existing = None
        if np.ptp(counts) > 0:
            existing = np.arange(self.num_categories) < counts[..., np.newaxis]
            space = BoolBox(shape=existing.shape)
            self.existing = self.get_variable("existing", space, initializer=existing, trainable=False)

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        logits = self.shaped(ops, outputs, self.num_categories)
        return logits if self.existing is None else mask_logits(ops, logits, self.existing)

    @graph_fn(space_of="mask")
    def _masked_parameters(self, ops: Any, space: Space, outputs: Any, mask: Any) -> Any:
        shape = (*self.action_space.shape, self.num_categories)
        check_mask(space, shape)
        logits = self.shaped(ops, outputs, self.num_categories)
        check_ranks(mask, logits, shape)
        if self.existing is not None:
            # An element whose mask allows nothing has all actions that exist.
            logits, mask = mask_logits(ops, logits, self.existing), mask & self.existing
        return mask_logits(ops, logits, mask)
