"""Playing whole episodes greedily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError
from rlgraph.environments import SequentialVectorEnv, make_environments
from rlgraph.environments.factory import is_instance

#: Environments stepped in turn during an evaluation; acting in batches is cheaper than one by one.
PARALLEL = 10


@dataclass(frozen=True)
class Evaluation:
    """The outcome of an evaluation.

    Attributes:
        returns: undiscounted return of each episode.
        lengths: steps of each episode.
        timesteps: training steps the agent had observed.
    """

    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    timesteps: int

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        return float(np.std(self.returns))


def evaluate(agent: Agent, env: Any, episodes: int, seed: int) -> Evaluation:
    """Play `episodes` whole episodes greedily in fresh environments.

    Every environment plays a number of episodes fixed beforehand; taking whichever end first would favour short ones.

    Args:
        agent: who acts; it observes nothing.
        env: environment spec; one instance is played alone and left open.
        episodes: how many.
        seed: root seed of the environments.

    Raises:
        SpecError: fewer than one episode.
    """
    if episodes < 1:
        raise SpecError(f"episodes: expected an integer >= 1, given {episodes!r}")
    number = 1 if is_instance(env) else min(PARALLEL, episodes)
    vector = SequentialVectorEnv(make_environments(env, number))
    quota = [episodes // number + (i < episodes % number) for i in range(number)]
    returns: list[list[float]] = [[] for _ in range(number)]
    lengths: list[list[int]] = [[] for _ in range(number)]
    running_return, running_length = np.zeros(number), np.zeros(number, np.int64)
    try:
        states = vector.reset(seed=seed)
        while any(len(done) < wanted for done, wanted in zip(returns, quota, strict=True)):
            states, rewards, _, _, _ = vector.step(agent.get_actions(states, use_exploration=False))
            running_return += rewards
            running_length += 1
            for i in vector.finished:
                if len(returns[i]) < quota[i]:
                    returns[i].append(float(running_return[i]))
                    lengths[i].append(int(running_length[i]))
                running_return[i] = running_length[i] = 0
    finally:
        if not is_instance(env):
            vector.terminate()
    return Evaluation(
        tuple(r for done in returns for r in done),
        tuple(n for done in lengths for n in done),
        agent.timesteps,
    )
