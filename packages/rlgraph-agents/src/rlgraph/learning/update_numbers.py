"""The numbers that updates return, between two reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


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
