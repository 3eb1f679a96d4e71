"""A virtual clock: work that shares cores, and delays."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from math import inf

Action = Callable[[], None]


class VirtualClock:
    """Does what is due in the order of virtual time.

    Work that runs at the same time shares the cores equally: with more work than cores each gets its share.

    Args:
        cores: how many there are; infinitely many by default. A core that does two things at a time counts as less
            than two.
    """

    def __init__(self, cores: float = inf):
        self.time = 0.0
        self._cores, self.is_shared = cores, cores < inf
        #: Seconds of a core that each running work has had since the beginning, if it ran since then.
        self._served = 0.0
        self._numbers = count()
        #: What happens when: time, or seconds served; a number that keeps the order; what is done then.
        self._delays: list[tuple[float, int, Action]] = []
        self._work: list[tuple[float, int, Action]] = []

    def after(self, seconds: float, action: Action) -> None:
        """Do something after a delay."""
        heapq.heappush(self._delays, (self.time + seconds, next(self._numbers), action))

    def work(self, seconds: float, action: Action) -> None:
        """Do something after this many seconds of work of one core."""
        heapq.heappush(self._work, (self._served + seconds, next(self._numbers), action))

    def run(self, is_done: Callable[[], bool], until: float = inf) -> None:
        """Go on until `is_done`, or until a time.

        Raises:
            RuntimeError: nothing is left to happen, and there is no such time.
        """
        while not is_done():
            speed = min(1.0, self._cores / len(self._work)) if self._work else 1.0
            work_ends = self.time + (self._work[0][0] - self._served) / speed if self._work else inf
            delay_ends = self._delays[0][0] if self._delays else inf
            following = min(work_ends, delay_ends, until)
            if following == inf:
                raise RuntimeError("nothing is left to happen")
            self._served += (following - self.time) * speed
            self.time = following
            if following == until < min(work_ends, delay_ends):
                return
            _, _, action = heapq.heappop(self._work if work_ends <= delay_ends else self._delays)
            action()
