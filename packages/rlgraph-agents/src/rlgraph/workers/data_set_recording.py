"""Recording data sets: whole episodes of an agent in an environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.data_sets import RecordedEpisode, check_suffix, write_data_set
from rlgraph.agents.nested_arrays import row, stack, with_batch_rank
from rlgraph.core import SpecError
from rlgraph.environments import make_environment
from rlgraph.environments.factory import is_instance
from rlgraph.environments.interrupts import interruptible


def record_data_set(
    agent: Agent, env: Any, episodes: int, file: str | Path, *, use_exploration: bool = True, seed: int = 0
) -> Path:
    """Play whole episodes and write them as a data set, which `Agent.learn` takes; returns the file.

    Args:
        agent: who acts; it observes nothing.
        env: environment spec, or an environment, which is reset and left open. Its episodes have to end.
        episodes: number of episodes.
        file: an ``.npz`` file, or an HDF5 file in the format of Minari, ``.hdf5`` or ``.h5``, which needs h5py.
        use_exploration: explore; else act greedily.
        seed: of the environment.

    Raises:
        SpecError: fewer than one episode, another kind of file, or h5py is not installed.
    """
    if episodes < 1:
        raise SpecError(f"expected an integer >= 1, given {episodes!r}", path="episodes")
    check_suffix(Path(file))
    environment, actor, recorded = make_environment(env), agent.new_actor(), []
    try:
        for episode in range(episodes):
            actor.begin()
            states, actions, steps = [environment.reset(seed=seed if episode == 0 else None)], [], []
            ended = False
            with interruptible():
                while not ended:
                    seen = actor.see(with_batch_rank(states[-1]))
                    actions.append(row(actor.act(seen, use_exploration), 0))
                    state, reward, terminal, truncated, _ = environment.step(actions[-1])
                    actor.rewarded(np.array([reward]))
                    states.append(state)
                    steps.append((reward, terminal, truncated))
                    ended = terminal or truncated
            rewards, terminals, truncations = (np.array(column) for column in zip(*steps, strict=True))
            recorded.append(RecordedEpisode(stack(states), stack(actions), rewards, terminals, truncations))
    finally:
        if not is_instance(env):
            environment.terminate()
    return write_data_set(file, recorded, agent.state_space, agent.action_space)
