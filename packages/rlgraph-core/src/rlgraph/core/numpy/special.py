"""Special functions in float64 that NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Coefficients of the asymptotic series of the digamma function, -B(2k) / 2k for k = 1, 2, ...: Abramowitz and
#: Stegun, "Handbook of Mathematical Functions", 6.3.18.
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def _log_gamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


_erf = np.frompyfunc(math.erf, 1, 1)
_lgamma = np.frompyfunc(_log_gamma, 1, 1)


def erf(x: Any) -> Any:
    """The error function, in the dtype of `x`."""
    return np.asarray(_erf(x), x.dtype)


def lgamma(x: Any) -> Any:
    """Logarithm of the gamma function's absolute value, in the dtype of `x`."""
    return np.asarray(_lgamma(x), x.dtype)


def digamma(x: Any) -> Any:
    """The digamma function of a positive `x`, in the dtype of `x`.

    ``digamma(x) = digamma(x + 1) - 1 / x`` leads to arguments where the asymptotic series is exact in float64.
    """
    z = np.asarray(x, np.float64)
    shift = np.zeros_like(z)
    for _ in range(10):
        small = z < 10
        shift = shift + np.where(small, 1 / z, 0.0)
        z = np.where(small, z + 1, z)
    series = np.zeros_like(z)
    for coefficient in reversed(_DIGAMMA):
        series = (series + coefficient) / (z * z)
    return np.asarray(np.log(z) - 0.5 / z + series - shift, x.dtype)
