"""Dropout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.layers.input_checks import check_inputs, check_training
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.dropout import dropout
from rlgraph.spaces import Space


class Dropout(Component):
    """Sets elements to 0 with probability `rate` in training and scales the others: ``inputs [B, ...] -> [B, ...]``.

    The others are divided by ``1 - rate``, so that the expectation stays. Outside training nothing changes (Srivastava
    et al., 2014, https://jmlr.org/papers/v15/srivastava14a.html). A time rank stays; every step draws its own.

    Args:
        rate: probability of dropping an element, at least 0 and below 1.

    Raises:
        SpecError: the rate is not a number in [0, 1).
        SpaceError: the input is not a batch of floats with at least one axis.
    """

    def __init__(self, rate: float = 0.5, scope: str = "dropout", **kwargs: Any):
        self.rate = check_number(rate, f"{scope}.rate", least=0, below=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=None)
        check_training(input_spaces)

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """``inputs [B, ...] -> [B, ...]``.

        Args:
            inputs: floats.
            training: whether to drop: True or False, None for False, or a boolean tensor [].
        """
        return self._call(inputs, training)

    @graph_fn
    def _call(self, ops: Any, inputs: Any, training: Any) -> Any:
        if training is None or training is False or self.rate == 0.0:
            return inputs
        dropped = dropout(ops, inputs, ops.random_uniform(ops.shape(inputs)), self.rate)
        return dropped if training is True else ops.where(training, dropped, inputs)
