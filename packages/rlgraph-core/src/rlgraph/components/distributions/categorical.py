"""The categorical distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_choice
from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.categorical import (
    categorical_kl,
    entropy_of_log_p,
    log_p_of,
    log_probabilities,
)
from rlgraph.spaces import FloatBox, IntBox, Space, SpaceError

DTYPES = ("int64", "int32", "int16", "uint8")


class Categorical(Distribution):
    """One of A categories for each element: ``parameters`` are logits ``[B, ..., A]``, values integers ``[B, ...]``.

    A logit of minus infinity, as set by `mask_logits`, makes its category impossible.

    Args:
        dtype: dtype of the samples.
        low: the value of the first category; one number for all elements, or one for each.

    Raises:
        SpecError: `dtype` is not an integer type, or `low` is not an integer.
        SpaceError: the parameters are not floats with an axis of categories, or their shape is not that of `low`.
    """

    reparameterized = False
    value_kind = "int"
    category_rank = 1

    def __init__(self, dtype: str = "int64", low: Any = 0, scope: str = "categorical", **kwargs: Any):
        check_choice(dtype, f"{scope}.dtype", DTYPES)
        lows = np.asarray(low)
        if lows.dtype.kind not in "iu":
            raise SpecError(
                f"expected an integer, or one for each element, given {low!r}", path=f"{scope}.low"
            )
        self.dtype = dtype
        # A common value is a number in the graph; others are constants in a variable.
        self.low: Any = int(lows.flat[0]) if lows.size and np.ptp(lows) == 0 else lows
        self.starts_at_zero = isinstance(self.low, int) and self.low == 0
        super().__init__(scope=scope, **kwargs)

    def check_parameters(self, boxes: list[FloatBox]) -> None:
        super().check_parameters(boxes)
        if isinstance(self.low, np.ndarray) and self.low.shape != boxes[0].shape[:-1]:
            raise SpaceError(
                f"parameters: expected shape {[*self.low.shape, 'categories']}, as low has, given "
                f"{list(boxes[0].shape)}"
            )

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if isinstance(self.low, np.ndarray):
            space = IntBox(shape=self.low.shape)
            self.low = self.get_variable("low", space, initializer=self.low, trainable=False)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return self._typed(ops, ops.random_categorical(parameters))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return self._typed(ops, ops.argmax(parameters, axis=-1))

    # A loss needs both, so their common part is a separate call that is computed once.

    @rlgraph_api(must_be_complete=False)
    def log_prob(self, parameters: Any, values: Any) -> Any:
        """The logarithm of the probability of values ``[B, ...] -> [B]``."""
        return self._log_prob(self._log_probabilities(self.accept(parameters)), values)

    @rlgraph_api
    def entropy(self, parameters: Any) -> Any:
        """The entropy in nats ``[B]``."""
        return self._entropy(self._log_probabilities(parameters))

    @graph_fn
    def _log_probabilities(self, ops: Any, parameters: Any) -> Any:
        """``[B, ..., A] -> [B, ..., A]``."""
        return log_probabilities(ops, parameters)

    @graph_fn(space_of="values")
    def _log_prob(self, ops: Any, space: Any, log_p: Any, values: Any) -> Any:
        self.check_values(values, log_p)
        if isinstance(space, FloatBox):
            raise SpaceError(f"values: expected integers, given {space!r}")
        categories = values if space.dtype == "int64" else ops.astype(values, "int64")
        if not self.starts_at_zero:
            categories = categories - self.low
        return self.sum_own(ops, log_p_of(ops, categories, log_p))

    @graph_fn
    def _entropy(self, ops: Any, log_p: Any) -> Any:
        return self.sum_own(ops, entropy_of_log_p(ops, log_p))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, categorical_kl(ops, parameters, other_parameters))

    def _typed(self, ops: Any, values: Any) -> Any:
        if not self.starts_at_zero:
            values = values + self.low
        return values if self.dtype == "int64" else ops.astype(values, self.dtype)
