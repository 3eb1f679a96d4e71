"""The cases of an operation: calls to try, and how its results are compared."""

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
        calls: a Hypothesis strategy of calls, with every option and kind of argument among them.
        differentiable: float results have derivatives by the float tensors among the arguments; some calls have float
            results.
        domain: bounds of the floats that a difference quotient is taken at, see `smooth`.
        epsilons: how much the results of two backends may differ, in machine epsilons of the dtype.
        always: calls that the suite tries in any case, beside those that it draws.
    """

    calls: st.SearchStrategy[Call]
    differentiable: bool = True
    domain: tuple[float, float] = (-2.0, 2.0)
    epsilons: float = 64.0
    always: tuple[Call, ...] = ()

    def tolerance(self, dtype: Any) -> float:
        """The largest difference, relative and absolute, between results of `dtype`; 0.0 if it is not a float."""
        kind = np.dtype(dtype)
        return self.epsilons * float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
