"""Standardization by running mean and standard deviation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.running_moments import deviation_of, merge_rows, moment_variables
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, check_numeric
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, Space

#: Options of graph functions on the host that standardize one part of a container.
PER_PART: dict[str, Any] = {
    "host": True,
    "spaces": lambda self, key, inputs: self.get_preprocessed_space(inputs),
    "same_ranks": True,
    "flatten_ops": True,
    "split_ops": True,
    "add_auto_key_as_first_param": True,
}


class MovingStandardize(PreprocessLayer):
    """``(x - mean) / sqrt(variance + epsilon)``, elementwise, with mean and variance of all states so far.

    Constant elements become 0. All environments share the moments, and the states of a call are counted before they are
    standardized. The variance is that of the population; the moments are merged as by Chan et al. (1983), eq. 1.5,
    https://doi.org/10.1080/00031305.1983.10483115. They live on the host, in NumPy and double precision. `apply`, as in
    evaluations, standardizes without counting.

    Args:
        epsilon: at least 0; states whose variance is as small get a deviation below 1 (1e-8 up to version 0.2).

    Raises:
        SpecError: `epsilon` is below 0.
        SpaceError: text.
    """

    learns = True

    def __init__(self, epsilon: float = 0.0, scope: str = "moving-standardize", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        return FloatBox(shape=box.shape, **box.ranks.options())

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        shapes = {path: box.shape for path, box in self.boxes.items()}
        self.count, self.mean, self.variance = moment_variables(self, shapes)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...] -> [B, ...]``, floats; a time rank is kept, and every step counts."""
        return self._count(inputs)

    @rlgraph_api
    def apply(self, inputs: Any) -> Any:
        """As `call`, with the statistics so far, which stay; before the first state it changes nothing."""
        return self._apply(inputs)

    @rlgraph_api
    def reset(self) -> Any:
        """Forget all states so far: the next call begins with the first state."""
        self._forget()

    @graph_fn(host=True, returns=0, spaces=())
    def _forget(self) -> None:
        for variables in (self.count, self.mean, self.variance):
            for value in variables.values():
                value[...] = 0

    @graph_fn(**PER_PART)
    def _count(self, key: str, inputs: np.ndarray) -> np.ndarray:
        count, mean, variance = self.count[key], self.mean[key], self.variance[key]
        merge_rows(count, mean, variance, inputs.reshape(-1, *mean.shape).astype(mean.dtype))
        return self._standardized(key, inputs)

    @graph_fn(**PER_PART)
    def _apply(self, key: str, inputs: np.ndarray) -> np.ndarray:
        return self._standardized(key, inputs)

    def _standardized(self, key: str, inputs: np.ndarray) -> np.ndarray:
        mean, variance = self.mean[key], self.variance[key]
        inputs = inputs.astype(mean.dtype)
        return (inputs - mean) / deviation_of(mean, variance, self.epsilon) if self.count[key] else inputs
