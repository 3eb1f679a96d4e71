"""Prioritized experience replay."""

from __future__ import annotations

import numpy as np


def importance_weights(priorities: np.ndarray, beta: float, smallest: float | None = None) -> np.ndarray:
    """``w_i = (N P(i)) ** -beta / max_j w_j``: ``priorities [B] -> [B]``, in (0, 1].

    Schaul et al. (2016), section 3.4, https://arxiv.org/abs/1511.05952. The number of records and the sum of all
    priorities cancel out: only ratios to the `smallest` priority remain (default: the smallest of the batch).
    """
    return ((priorities.min(initial=np.inf) if smallest is None else smallest) / priorities) ** beta
