"""What is known of an operation's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rlgraph.testing.operations.calls import Call


@dataclass(frozen=True)
class Cases:
    """The cases of one operation.

    Attributes:
        calls: a Hypothesis strategy of calls, every option and kind of argument among them.
        differentiable: where the result is a float, it has derivatives by the float tensors among the arguments; and
            in some calls it is.
        domain: where the floats of a difference quotient are drawn from, see `smooth`.
        epsilons: how far two backends may be apart, in machine epsilons of the dtype.
    """

    calls: st.SearchStrategy[Call]
    differentiable: bool = True
    domain: tuple[float, float] = (-2.0, 2.0)
    epsilons: float = 64.0

    def tolerance(self, dtype: Any) -> float:
        """The largest difference, relative and absolute, between results of `dtype`; 0.0 if it is no float."""
        kind = np.dtype(dtype)
        return self.epsilons * float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
