"""How an object in another place spends its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


class WorkTimes:
    """Splits time between work and waiting for the next call."""

    def __init__(self) -> None:
        self.waited = self.worked = 0.0
        self._begun = self._ended = time.perf_counter()

    def begin(self) -> None:
        """A call begins."""
        self._begun = time.perf_counter()
        self.waited += self._begun - self._ended

    def end(self) -> None:
        """The call ends."""
        self._ended = time.perf_counter()
        self.worked += self._ended - self._begun

    def take(self) -> tuple[float, float]:
        """Seconds that were waited and worked since the last call of this method."""
        taken = self.waited, self.worked
        self.waited = self.worked = 0.0
        return taken


def timed(method: Method) -> Method:
    """Measure a method of an object that has `WorkTimes` as ``times``."""

    @wraps(method)
    def measured(self: Any, *arguments: Any) -> Any:
        self.times.begin()
        try:
            return method(self, *arguments)
        finally:
            self.times.end()

    return measured  # type: ignore[return-value]


def share_waited(waited: float, worked: float) -> float:
    """The share of time that was waited, 0 to 1."""
    return waited / max(waited + worked, 1e-9)
