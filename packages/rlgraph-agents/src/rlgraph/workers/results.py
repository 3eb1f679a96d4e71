"""The result of a training run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rlgraph.core.errors import InputError, nearest
from rlgraph.workers.episodes import WINDOW
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.short_repr import short_repr


class UnknownStatistic(InputError, KeyError):
    """A result has no such statistic. A `KeyError`, as of every mapping, so that ``in`` and `get` work."""

    __str__ = Exception.__str__  # a KeyError quotes its message


@dataclass(frozen=True)
class TrainingResult(Mapping[str, float]):
    """The result of a training run; as a mapping it is its `statistics`: ``result["mean_episode_reward"]``.

    Attributes:
        timesteps: environment steps of this run, including those before it was resumed.
        episodes: episodes that ended.
        updates: updates done.
        seconds: wall-clock time, without evaluations and checkpoints.
        returns: return of each episode, in the order they ended.
        evaluations: evaluations during training.
        interrupted: Ctrl-C or SIGTERM ended it.
        num_envs: environments stepped together.
        frameskip: frames per step.
        hint: a sentence if all returns were equal, so that nothing could be learned; else empty.
    """

    timesteps: int
    episodes: int
    updates: int
    seconds: float
    returns: tuple[float, ...]
    evaluations: tuple[Evaluation, ...]
    interrupted: bool
    num_envs: int = 1
    frameskip: int = 1
    hint: str = ""

    @property
    def steps_per_second(self) -> float:
        return self.timesteps / self.seconds if self.seconds else 0.0

    @property
    def mean_return(self) -> float:
        """Mean return of the last 100 episodes; NaN before the first end."""
        return _mean(self.returns[-WINDOW:])

    @property
    def statistics(self) -> dict[str, float]:
        """The statistics of a worker by the names of RLgraph 0.5; NaN if no episode ended.

        Times are in seconds, rewards undiscounted sums of an episode; `mean_episode_runtime` is that of one
        environment.
        """
        frames, seconds, returns = self.timesteps * self.frameskip, self.seconds, self.returns
        return {
            "runtime": seconds,
            "timesteps_executed": self.timesteps,
            "ops_per_second": self.steps_per_second,
            "env_frames": frames,
            "env_frames_per_second": self.steps_per_second * self.frameskip,
            "episodes_executed": self.episodes,
            "episodes_per_minute": 60.0 * self.episodes / seconds if seconds else 0.0,
            "mean_episode_runtime": seconds * self.num_envs / self.episodes
            if self.episodes
            else float("nan"),
            "mean_episode_reward": _mean(returns),
            "mean_episode_reward_last_10_episodes": _mean(returns[-10:]),
            "max_episode_reward": max(returns, default=float("nan")),
            "final_episode_reward": returns[-1] if returns else float("nan"),
        }

    def __getitem__(self, name: str) -> float:
        statistics = self.statistics
        if name not in statistics:
            raise UnknownStatistic(f"unknown statistic {name!r}. {nearest(name, statistics)}")
        return statistics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.statistics)

    def __len__(self) -> int:
        return len(self.statistics)

    def __repr__(self) -> str:
        shown = ("timesteps", "episodes", "updates", "mean_return", "seconds")
        return short_repr(self, *shown, interrupted=self.interrupted or None)


def _mean(values: tuple[float, ...]) -> float:
    return float(np.mean(values)) if values else float("nan")
