"""Local response normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.normalization import local_response_norm
from rlgraph.spaces import Space


class LocalResponseNorm(Component):
    """Normalizes each channel by its neighbours: ``inputs [B, ..., C] -> [B, ..., C]``; a time rank stays.

    ``inputs / (bias + alpha * s)^beta``, s the sum of the squares of the channels at most `depth_radius` away.
    Krizhevsky et al. (2012), section 3.3.

    Args:
        depth_radius: number of channels on each side.
        bias: keeps the divisor away from 0.
        alpha: factor of the sum of squares.
        beta: exponent of the divisor.

    Raises:
        SpecError: an argument is not a number, or `depth_radius` is below 0.
        SpaceError: the input is not a batch of floats with at least one axis.
    """

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        scope: str = "local-response-norm",
        **kwargs: Any,
    ):
        self.depth_radius = check_whole(depth_radius, f"{scope}.depth_radius", least=0)
        self.bias = check_number(bias, f"{scope}.bias")
        self.alpha = check_number(alpha, f"{scope}.alpha")
        self.beta = check_number(beta, f"{scope}.beta")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=None)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ..., C] -> [B, ..., C]``."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        return local_response_norm(ops, inputs, self.depth_radius, self.bias, self.alpha, self.beta)
