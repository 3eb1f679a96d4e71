"""Random operations on PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

#: Elementary draws: name -> ``f(generator, shape, dtype, *parameters)``.
DRAWS: dict[str, Callable[..., Tensor]] = {
    "uniform": lambda g, shape, dtype, low, high: torch.empty(shape, dtype=dtype).uniform_(
        low, high, generator=g
    ),
    "normal": lambda g, shape, dtype, mean, stddev: torch.empty(shape, dtype=dtype).normal_(
        mean, stddev, generator=g
    ),
    "truncated": lambda g, shape, dtype, mean, stddev: torch.nn.init.trunc_normal_(
        torch.empty(shape, dtype=dtype), mean, stddev, mean - 2.0 * stddev, mean + 2.0 * stddev, generator=g
    ),
    "exponential": lambda g, shape, dtype: torch.empty(shape, dtype=dtype).exponential_(generator=g),
    "fraction": lambda g, shape, dtype: torch.rand(shape, dtype=dtype, generator=g),
    "integers": lambda g, shape, dtype, low, high: torch.randint(low, high, shape, dtype=dtype, generator=g),
    "permutation": lambda g, shape, dtype: torch.randperm(*shape, dtype=dtype, generator=g),
}
#: Kinds for which one draw of several rows equals one draw per row, by PyTorch's present kernels: normal numbers come
#: in blocks, and MKL's exponential ones, which PyTorch does not use, would have a seed per draw.
SEQUENTIAL = {"uniform", "exponential", "fraction", "integers"}


class TorchRandom:
    """The random operations (see `rlgraph.core.ops.random`); part of `TorchOps`.

    Each draws once, depending only on shapes and numbers, not on values of tensors. So the draws of a compiled program
    can be made before it runs.

    Attributes:
        stream: the stream of the component whose graph function draws.
    """

    stream: Generator

    def _dtype(self, dtype: str | None) -> torch.dtype:
        raise NotImplementedError

    def draw(self, kind: str, shape: Sequence[int], dtype: torch.dtype, *parameters: float) -> Tensor:
        """One of `DRAWS` from the stream."""
        return DRAWS[kind](self.stream, tuple(shape), dtype, *parameters)

    def random_uniform(
        self, shape: Sequence[int], low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        return self.draw("uniform", shape, self._dtype(dtype), low, high)

    def random_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        return self.draw("normal", shape, self._dtype(dtype), mean, stddev)

    def random_truncated_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        return self.draw("truncated", shape, self._dtype(dtype), mean, stddev)

    def random_integers(self, shape: Sequence[int], low: Any, high: Any, dtype: str = "int64") -> Tensor:
        kind = self._dtype(dtype)
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            # `randint` takes only numbers; scaling fractions works with tensors without reading them.
            fractions = self.draw("fraction", shape, torch.float64)
            return (low + (fractions * (high - low)).to(torch.int64)).to(kind)
        return self.draw("integers", shape, kind, low, high)

    def random_permutation(self, n: int) -> Tensor:
        return self.draw("permutation", (n,), torch.int64)

    def random_categorical(self, logits: Tensor) -> Tensor:
        # Gumbel-max trick: the largest logit after adding independent noise (Maddison et al., 2014).
        noise = self.draw("exponential", logits.shape, logits.dtype).log()
        return torch.argmax(logits.detach() - noise, -1)

    def random_bernoulli(self, p: Tensor) -> Tensor:
        return self.draw("fraction", p.shape, p.dtype) < p

    @staticmethod
    def through_host(x: Tensor, function: Callable[[np.ndarray], np.ndarray]) -> Tensor:
        """Pass `x` through the Python `function` at run time; for tests (see `rlgraph.testing.record_draws`)."""
        return torch.from_numpy(np.array(function(x.numpy())))
