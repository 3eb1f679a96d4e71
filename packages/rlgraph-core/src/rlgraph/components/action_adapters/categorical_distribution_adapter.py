"""Parameters of categorical distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.core import graph_fn
from rlgraph.core.functional.distributions.categorical import mask_logits
from rlgraph.spaces import BoolBox, IntBox, Space, SpaceError


class CategoricalDistributionAdapter(ActionAdapter):
    """Logits ``[B, ..., A]`` of actions that are one of A, an ``IntBox(A)`` of any shape.

    What `action_mask`, bool ``[B, ..., A]``, does not allow is never drawn, and adds neither probability nor entropy
    nor gradient. Rows that allow nothing allow everything: it is the environment that has to avoid them.
    """

    takes_mask = True

    def wanted_actions(self) -> str:
        box = self.action_space
        if isinstance(box, IntBox) and box.num_categories:
            return ""
        return "an IntBox(n) whose elements all have the n categories 0 to n - 1 (others: a Tuple of such)"

    def num_outputs(self) -> int:
        return self.num_elements * self.num_categories

    @property
    def num_categories(self) -> int:
        """The number of actions."""
        return int(self.action_space.num_categories or 0)

    def distribution_spec(self) -> dict[str, Any]:
        return {"type": "categorical", "dtype": self.action_space.dtype}

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        mask = input_spaces.get("action_mask")
        shape = (*self.action_space.shape, self.num_categories)
        if mask is not None and not (isinstance(mask, BoolBox) and mask.shape == shape):
            raise SpaceError(f"action_mask: expected a BoolBox of shape {list(shape)}, given {mask!r}")

    @graph_fn
    def _parameters(self, ops: Any, outputs: Any) -> Any:
        return self.shaped(ops, outputs, self.num_categories)

    @graph_fn
    def _masked_parameters(self, ops: Any, outputs: Any, mask: Any) -> Any:
        return mask_logits(ops, self.shaped(ops, outputs, self.num_categories), mask)
