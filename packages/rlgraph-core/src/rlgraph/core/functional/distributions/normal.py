"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

Tensor = Any

LOG_2_PI = math.log(2.0 * math.pi)


def normal_log_prob(ops: Any, values: Tensor, mean: Tensor, stddev: Tensor) -> Tensor:
    """The log-density ``-((x - mean) / stddev)^2 / 2 - log(stddev) - log(2 pi) / 2``, elementwise.

    https://en.wikipedia.org/wiki/Normal_distribution
    """
    return -0.5 * ops.square((values - mean) / stddev) - ops.log(stddev) - 0.5 * LOG_2_PI


def normal_entropy(ops: Any, stddev: Tensor) -> Tensor:
    """``log(stddev) + log(2 pi e) / 2``, elementwise (Cover and Thomas, 2006, Example 8.1.2)."""
    return ops.log(stddev) + 0.5 * (LOG_2_PI + 1.0)


def normal_kl(ops: Any, mean: Tensor, stddev: Tensor, other_mean: Tensor, other_stddev: Tensor) -> Tensor:
    """KL(p || q) of two normal distributions, elementwise; q has the other parameters.

    ``log(s_q / s_p) + (s_p^2 + (m_p - m_q)^2) / (2 s_q^2) - 1/2`` (for a standard normal q: Kingma and Welling, 2014,
    Appendix B, https://arxiv.org/abs/1312.6114).
    """
    ratio = stddev / other_stddev
    distance = (mean - other_mean) / other_stddev
    return 0.5 * (ops.square(ratio) + ops.square(distance) - 1.0) - ops.log(ratio)
