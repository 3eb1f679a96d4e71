"""Random operations on PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


class TorchRandom:
    """The random operations (see `rlgraph.core.ops.random`); part of `TorchOps`.

    Attributes:
        stream: the stream of the component whose graph function draws.
    """

    stream: torch.Generator

    def _dtype(self, dtype: str | None) -> torch.dtype:
        raise NotImplementedError

    def random_uniform(
        self, shape: Sequence[int], low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        drawn = torch.empty(tuple(shape), dtype=self._dtype(dtype))
        return drawn.uniform_(low, high, generator=self.stream)

    def random_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        drawn = torch.empty(tuple(shape), dtype=self._dtype(dtype))
        return drawn.normal_(mean, stddev, generator=self.stream)

    def random_truncated_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        drawn = torch.empty(tuple(shape), dtype=self._dtype(dtype))
        low, high = mean - 2.0 * stddev, mean + 2.0 * stddev
        return torch.nn.init.trunc_normal_(drawn, mean, stddev, low, high, generator=self.stream)

    def random_integers(self, shape: Sequence[int], low: Any, high: Any, dtype: str = "int64") -> Tensor:
        kind = self._dtype(dtype)
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            # `randint` takes numbers only; a tensor need not be looked at to scale fractions of it.
            fractions = torch.rand(tuple(shape), dtype=torch.float64, generator=self.stream)
            return (low + (fractions * (high - low)).to(torch.int64)).to(kind)
        return torch.randint(low, high, tuple(shape), dtype=kind, generator=self.stream)

    def random_permutation(self, n: int) -> Tensor:
        return torch.randperm(n, generator=self.stream)

    def random_categorical(self, logits: Tensor) -> Tensor:
        # Gumbel's trick: the largest of the logits, each with noise of its own (Maddison et al., 2014).
        noise = torch.empty_like(logits).exponential_(generator=self.stream).log_()
        return torch.argmax(logits.detach() - noise, -1)

    def random_bernoulli(self, p: Tensor) -> Tensor:
        return torch.rand(p.shape, dtype=p.dtype, generator=self.stream) < p

    @staticmethod
    def through_host(x: Tensor, function: Callable[[np.ndarray], np.ndarray]) -> Tensor:
        """`x` as `function`, plain Python, returns it at run time; for tests (see `rlgraph.testing.record_draws`)."""
        return torch.from_numpy(np.array(function(x.numpy())))
