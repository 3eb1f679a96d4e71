"""The categorical distribution."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError, graph_fn
from rlgraph.core.errors import nearest
from rlgraph.core.functional.distributions.categorical import (
    categorical_entropy,
    categorical_kl,
    categorical_log_prob,
)

DTYPES = ("int64", "int32", "int16", "uint8")


class Categorical(Distribution):
    """One of A categories for each element: ``parameters`` are logits ``[B, ..., A]``, values integers ``[B, ...]``.

    A logit of minus infinity, or one that `mask_logits` has put there, makes its category impossible.

    Args:
        dtype: of the values that are drawn.
        scope: name among its siblings.

    Raises:
        SpecError: `dtype` is no integer.
        SpaceError: the parameters are no floats with an axis of categories.
    """

    reparameterized = False
    category_rank = 1

    def __init__(self, dtype: str = "int64", scope: str = "categorical", **kwargs: Any):
        if dtype not in DTYPES:
            raise SpecError(f"{scope}.dtype: unknown {dtype!r}. {nearest(str(dtype), DTYPES)}")
        self.dtype = dtype
        super().__init__(scope=scope, **kwargs)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return self._typed(ops, ops.random_categorical(parameters))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return self._typed(ops, ops.argmax(parameters, axis=-1))

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        return self.sum_own(ops, categorical_log_prob(ops, ops.astype(values, "int64"), parameters))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        return self.sum_own(ops, categorical_entropy(ops, parameters))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, categorical_kl(ops, parameters, other_parameters))

    def _typed(self, ops: Any, values: Any) -> Any:
        return values if self.dtype == "int64" else ops.astype(values, self.dtype)
