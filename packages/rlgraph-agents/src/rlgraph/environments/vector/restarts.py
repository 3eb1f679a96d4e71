"""The count and the limit of restarts of crashed environments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from rlgraph.core import SpecError

MAX_RESTARTS = 10
"""The default limit of restarts of each environment."""


class Restarts:
    """Counts the restarts of each of N environments and warns of the first one.

    Args:
        number: N.
        limit: restarts allowed for each environment.
        counts: restarts counted before, `[N]`.
        warn: receives the warnings.

    Raises:
        SpecError: the limit is not an integer >= 0.
    """

    def __init__(
        self,
        number: int,
        limit: int = MAX_RESTARTS,
        counts: Sequence[int] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise SpecError(f"expected an integer >= 0, given {limit!r}", path="max_restarts")
        self.limit = limit
        self.counts = list(counts) if counts is not None else [0] * number
        self._warn = warn or (lambda message: warnings.warn(message, RuntimeWarning, stacklevel=2))
        self._has_warned = False

    def allows(self, index: int) -> bool:
        """Whether environment `index` may be restarted again."""
        return self.counts[index] < self.limit

    def count(self, index: int, label: str, cause: str) -> None:
        """Counts a restart of environment `index`, which messages call `label`."""
        self.counts[index] += 1
        self.tell(
            f"{label}: crashed and is replaced ({cause}). Its episode is discarded. Further restarts, up to "
            f"max_restarts={self.limit} of each environment, are counted without a warning."
        )

    def tell(self, message: str) -> None:
        """Gives the warning, if it is the first one."""
        if not self._has_warned:
            self._has_warned = True
            self._warn(message)
