"""Standardization by running mean and standard deviation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.preprocess_layer import StatefulLayer, check_numeric
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space


class MovingStandardize(StatefulLayer):
    """``(x - mean) / sqrt(variance + epsilon)``, elementwise, with mean and variance of all states so far.

    All environments share them, the states of a call are counted before they are standardized, and a reset keeps
    them, since they describe the environment, not an episode. The variance is that of the population; the moments are
    merged as by Chan et al. (1983), eq. 1.5, https://doi.org/10.1080/00031305.1983.10483115. They live on the
    host, in NumPy and double precision. Inside `frozen`, as in evaluations, states are standardized but not
    counted.

    Args:
        epsilon: keeps constant elements at 0; at least 0.
        num_environments: largest number of environments.
        scope: name among its siblings.

    Raises:
        SpecError: `epsilon` is below 0.
        SpaceError: text.
        InputError: an environment index is out of range, or occurs twice in one call.
    """

    def __init__(
        self,
        epsilon: float = 1e-8,
        num_environments: int = 64,
        scope: str = "moving-standardize",
        **kwargs: Any,
    ):
        super().__init__(num_environments, scope=scope, **kwargs)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        #: Whether to count states; a list, since all views of a component share it.
        self._counts = [True]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Context in which the statistics do not change, in any executor of this component."""
        before, self._counts[0] = self._counts[0], False
        try:
            yield
        finally:
            self._counts[0] = before

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        return FloatBox(shape=box.shape, **box.ranks.options())

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        self.count: Any = {}
        self.mean: Any = {}
        self.variance: Any = {}
        for path, box in self.boxes.items():
            moment = FloatBox(shape=box.shape, dtype="float64")
            self.count[path] = self.get_variable(f"count/{path}", IntBox(), host=True)
            self.mean[path] = self.get_variable(f"mean/{path}", moment, host=True)
            self.variance[path] = self.get_variable(f"variance/{path}", moment, host=True)

    @rlgraph_api
    def call(self, inputs: Any, env_indices: Any) -> Any:
        """``inputs [B, ...], env_indices [B] -> [B, ...]``, floats."""
        return self._standardize(inputs, env_indices)

    @rlgraph_api
    def reset(self, env_indices: Any) -> Any:
        """The environments ``env_indices [N]`` begin new episodes; the statistics stay."""
        return self._reset(env_indices)

    @graph_fn(
        host=True,
        spaces=lambda self, key, inputs, env_indices: self.get_preprocessed_space(inputs),
        flatten_ops={"inputs"},
        split_ops=True,
        add_auto_key_as_first_param=True,
    )
    def _standardize(self, key: str, inputs: np.ndarray, env_indices: np.ndarray) -> np.ndarray:
        new = len(inputs)
        self.rows_of(env_indices, new)
        count, mean, variance = self.count[key], self.mean[key], self.variance[key]
        inputs = inputs.astype(mean.dtype)
        if self._counts[0] and new:
            count += new
            share = new / int(count)
            difference = inputs.mean(axis=0) - mean
            mean += share * difference
            variance += share * (inputs.var(axis=0) - variance + (1.0 - share) * difference**2)
        elif not count:
            return inputs  # no statistics yet
        return (inputs - mean) / np.sqrt(variance + self.epsilon)

    @graph_fn(host=True, returns=0, spaces=())
    def _reset(self, env_indices: np.ndarray) -> None:
        self.check_range(env_indices.tolist())
