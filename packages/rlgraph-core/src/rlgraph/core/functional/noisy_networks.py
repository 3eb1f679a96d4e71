"""Parameter noise for exploration."""

from __future__ import annotations

from typing import Any

Tensor = Any


def factorised_noise(ops: Any, e_in: Tensor, e_out: Tensor) -> tuple[Tensor, Tensor]:
    """Noise for weights and biases from ``N + M`` draws: ``e_in [N], e_out [M] -> [N, M], [M]``.

    ``f(e_in) f(e_out)^T`` and ``f(e_out)`` with ``f(e) = sign(e) sqrt(abs(e))``. Fortunato et al. (2018), eqs. 10 and
    11, https://arxiv.org/abs/1706.10295.
    """
    f_in, f_out = (ops.sign(e) * ops.sqrt(ops.abs(e)) for e in (e_in, e_out))
    return ops.outer(f_in, f_out), f_out
