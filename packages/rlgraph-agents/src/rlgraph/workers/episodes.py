"""Statistics of training episodes."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.environments import EnvironmentFault
from rlgraph.environments.step_checks import explain_number

#: Episodes that mean returns are taken over.
WINDOW = 100


class Episodes:
    """Returns and lengths of running and ended episodes.

    If an environment's info has ``episode_return`` (and ``episode_length``) at an end, these count, since rewards for
    learning may be clipped and episodes cut into lives. An ``episode_return`` of None ends an episode for learning
    only: the episode of the task continues.

    Args:
        number: number of environments.
    """

    def __init__(self, number: int):
        #: Return of each episode, in the order they ended; 8 bytes each.
        self.returns = array("d")
        self.recent_lengths: deque[int] = deque(maxlen=WINDOW)
        self._running = [0.0] * number
        #: Steps done, and their number when each running episode began.
        self._clock, self._began = 0, [0] * number

    def add(self, rewards: np.ndarray) -> None:
        """Count a step of all environments, with its rewards [N]."""
        self._clock += 1
        running = self._running
        # Python floats: for a few environments NumPy needs several times as long.
        for i, reward in enumerate(rewards.tolist()):
            running[i] += reward

    @property
    def running_lengths(self) -> list[int]:
        """Steps of the running episodes [N]."""
        return [self._clock - began for began in self._began]

    @property
    def recent_returns(self) -> tuple[float, ...]:
        """Returns of the last 100 episodes."""
        return tuple(self.returns[-WINDOW:])

    def end(self, index: int, info: Mapping[str, Any]) -> tuple[float, int] | None:
        """End the episode of environment `index`; its return and length, None if it does not count in statistics.

        Raises:
            EnvironmentFault: ``episode_return`` or ``episode_length`` of the info is not a number, or the length is
                no number of steps.
        """
        episode_return = info.get("episode_return", self._running[index])
        length = info.get("episode_length", self._clock - self._began[index])
        self.forget(index)
        if episode_return is None:
            return None
        for name, value in (("episode_return", episode_return), ("episode_length", length)):
            if (fault := explain_number(value, f"info[{name!r}]")) is not None:
                raise EnvironmentFault(f"environment {index}, end of an episode: {fault}.")
        if not 0 <= length < 2**63:
            raise EnvironmentFault(
                f"environment {index}, end of an episode: info['episode_length'] is {length}; expected a number of "
                "steps >= 0."
            )
        self.record(float(episode_return), int(length))
        return float(episode_return), int(length)

    def record(self, episode_return: float, length: int) -> None:
        """Count an episode that ended."""
        self.returns.append(episode_return)
        self.recent_lengths.append(length)

    def forget(self, index: int) -> None:
        """Discard the running episode of environment `index`."""
        self._running[index], self._began[index] = 0.0, self._clock

    def forget_all(self) -> None:
        for index in range(len(self._running)):
            self.forget(index)

    def running(self) -> dict[str, list[float]]:
        """Returns and lengths of the running episodes, JSON-able."""
        return {"returns": list(self._running), "lengths": list(self.running_lengths)}

    def restore_running(self, running: Mapping[str, Sequence[float]]) -> None:
        self._running = [float(each) for each in running["returns"]]
        self._began = [self._clock - int(length) for length in running["lengths"]]

    def restore(self, returns: Sequence[float], lengths: Sequence[int]) -> None:
        """Restore episodes that had ended."""
        self.returns = array("d", returns)
        self.recent_lengths = deque(lengths, maxlen=WINDOW)
