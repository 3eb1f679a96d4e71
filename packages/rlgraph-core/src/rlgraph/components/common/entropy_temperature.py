"""The temperature of soft actor-critic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, Space
from rlgraph.spaces.errors import mismatch

#: The target entropy of categories, as a share of the largest: Christodoulou (2019), section 4.
DISCRETE_SHARE = 0.98


class EntropyTemperature(Component):
    """The weight alpha of the entropy, a variable that an optimizer steps (Haarnoja et al., 2018, section 5).

    https://arxiv.org/abs/1812.05905. The variable is its logarithm, so that alpha stays above 0. `SACLoss` with a
    target entropy has its loss, ``alpha_loss``.

    Args:
        initial_alpha: the temperature to start with, above 0.

    Raises:
        SpecError: a temperature that is not above 0.
    """

    def __init__(self, initial_alpha: float = 1.0, scope: str = "entropy-temperature", **kwargs: Any):
        self.initial_alpha = check_number(initial_alpha, f"{scope}.initial_alpha", above=0)
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.log_alpha = self.get_variable("log-alpha", FloatBox(), initializer=math.log(self.initial_alpha))

    @rlgraph_api
    def get_alpha(self) -> Any:
        """The temperature, []."""
        return self._alpha()

    @graph_fn
    def _alpha(self, ops: Any) -> Any:
        return ops.exp(ops.read(self.log_alpha))


def default_target_entropy(action_space: Space) -> float:
    """The target entropy of an action, the sum of those of its parts.

    Minus the number of floats (Haarnoja et al., 2018, appendix D), which is meant for bounds -1..1: for other bounds it
    is that of the same distribution, stretched. Of categories 0.98 times the largest entropy (Christodoulou, 2019,
    section 4, https://arxiv.org/abs/1910.07207).

    Raises:
        SpaceError: an element is neither float, category nor bool.
    """
    return sum(_of_box(path, box) for path, box in action_space.flatten().items())


def _of_box(path: str, box: BoxSpace) -> float:
    size = math.prod(box.shape)
    if isinstance(box, FloatBox):
        half_ranges = (np.asarray(box.high) - np.asarray(box.low)) / 2 if box.bounded else 1.0
        return float(np.log(np.broadcast_to(half_ranges, box.shape)).sum()) - size
    if isinstance(box, BoolBox):
        return DISCRETE_SHARE * size * math.log(2.0)
    if isinstance(box, IntBox) and box.low is not None and box.high is not None:
        counts = np.broadcast_to(np.asarray(box.high) - np.asarray(box.low), box.shape)
        return DISCRETE_SHARE * float(np.log(counts).sum())
    raise mismatch(path or "action_space", "floats, bools or integers with bounds", repr(box))
