"""The numbers that updates return, between two reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.core import AssemblyError, NumericalError


def checked_numbers(algorithm: Algorithm, results: Any, update: str) -> dict[str, float]:
    """The numbers that an update returned.

    Args:
        algorithm: whose update it is.
        results: what it returned.
        update: which one, for messages.

    Raises:
        AssemblyError: it is no dict of numbers [] with a loss.
        NumericalError: a number is not finite.
    """
    try:
        numbers = {name: float(value) for name, value in results.items()}
        numbers["loss"]
    except (AttributeError, KeyError, TypeError):
        given = results
        if isinstance(results, Mapping):
            given = {name: f"{np.asarray(x).dtype}{list(np.shape(x))}" for name, x in results.items()}
        raise AssemblyError(
            f"{type(algorithm).__name__}.update: expected a dict of numbers [] with the key 'loss', given {given}"
        ) from None
    for name, value in numbers.items():
        if not isfinite(value):
            raise NumericalError(
                f"{algorithm.scope_path}/{name}: the {name} of {update} is {value}: lower "
                "optimizer_spec.learning_rate, set clip_grad_norm, or look for rewards and states that are very large"
            )
    return numbers


class UpdateNumbers:
    """Sums the numbers that updates return. They are on the host already; nothing is fetched here."""

    def __init__(self) -> None:
        #: Name -> the sum, and the number of updates that returned it.
        self._sums: dict[str, tuple[float, int]] = {}

    def add(self, numbers: Mapping[str, float]) -> None:
        """Take in what an update returned."""
        for name, number in numbers.items():
            total, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = (total + number, count + 1)

    def take(self) -> dict[str, float]:
        """The means since the last call, by name."""
        means = {name: total / count for name, (total, count) in self._sums.items()}
        self._sums = {}
        return means

    def get_state(self) -> dict[str, list[float]]:
        """Copies of the sums; JSON-able."""
        return {name: list(found) for name, found in self._sums.items()}

    def set_state(self, state: Mapping[str, Sequence[float]]) -> None:
        """Continue from what `get_state` gave."""
        self._sums = {name: (total, int(count)) for name, (total, count) in state.items()}
