"""The statistics of training episodes."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: Episodes that mean returns are taken over.
WINDOW = 100


class Episodes:
    """Returns and lengths, of episodes that run and of those that ended.

    Where an environment's info has ``episode_return`` (and ``episode_length``) at an end, these are what counts: what
    an agent learns from may be clipped and cut into lives. An ``episode_return`` of None says that the episode is one
    for learning only: its true one goes on.

    Args:
        number: of environments.
    """

    def __init__(self, number: int):
        #: Return of each episode, in the order they ended; 8 bytes each, however long a run is.
        self.returns = array("d")
        self.running_return, self.running_length = np.zeros(number), np.zeros(number, np.int64)
        self.recent_lengths: deque[int] = deque(maxlen=WINDOW)

    @property
    def recent_returns(self) -> tuple[float, ...]:
        """Returns of the last 100 episodes."""
        return tuple(self.returns[-WINDOW:])

    def end(self, index: int, info: Mapping[str, Any]) -> tuple[float, int] | None:
        """The episode of environment `index` ended: its return and length; None if it is none for statistics."""
        episode_return = info.get("episode_return", self.running_return[index])
        length = info.get("episode_length", self.running_length[index])
        self.forget(index)
        if episode_return is None:
            return None
        self.returns.append(float(episode_return))
        self.recent_lengths.append(int(length))
        return float(episode_return), int(length)

    def forget(self, index: int | slice = slice(None)) -> None:
        """What environment `index` (or all) gathered of its episode is none."""
        self.running_return[index] = self.running_length[index] = 0

    def running(self) -> dict[str, list[float]]:
        """What was gathered of the episodes under way, JSON-able."""
        return {"returns": self.running_return.tolist(), "lengths": self.running_length.tolist()}

    def restore_running(self, running: Mapping[str, Sequence[float]]) -> None:
        self.running_return[:], self.running_length[:] = running["returns"], running["lengths"]

    def restore(self, returns: Sequence[float], lengths: Sequence[int]) -> None:
        """Take over episodes that ended before."""
        self.returns = array("d", returns)
        self.recent_lengths = deque(lengths, maxlen=WINDOW)
