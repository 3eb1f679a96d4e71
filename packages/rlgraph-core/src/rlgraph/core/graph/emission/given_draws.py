"""Operations for graph functions whose random numbers are drawn before they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import local
from typing import Any

Tensor = Any


class GivenDraws(local):
    """An `ops` namespace whose random operations take the numbers that a call was given, one after the other.

    Args:
        ops: all other operations.
    """

    # Of each thread: a segment that only reads runs in several of them at a time.

    def __init__(self, ops: Any):
        self._ops = ops

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ops, name)
        setattr(self, name, found)  # the next look-up takes a tenth of the time
        return found

    def taking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, bound to this namespace, with its random numbers as a further first argument."""

        def call(noise: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
            self._next = iter(noise).__next__
            return function(*args, **kwargs)

        return call

    def _given(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._next()

    random_uniform = random_normal = random_truncated_normal = random_integers = random_permutation = _given

    def random_categorical(self, logits: Tensor) -> Tensor:
        # Gumbel's trick: the largest of the logits, each with its own noise (Maddison et al., 2014).
        return self._ops.argmax(logits + self._next(), -1)

    def random_bernoulli(self, p: Tensor) -> Tensor:
        return p > self._next()
