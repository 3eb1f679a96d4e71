"""Recording data sets: whole episodes of an agent in an environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_flag, check_whole
from rlgraph.core import SpecError
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.environments.factory import is_instance, is_vector_instance, make_vector_env
from rlgraph.environments.interrupts import interruptible
from rlgraph.environments.masked_states import check_legal
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.experience.data_sets import RecordedEpisode, check_suffix, write_data_set
from rlgraph.experience.nested_arrays import map_arrays, row, stack
from rlgraph.experience.state_checks import StateChecks
from rlgraph.learning.actor import Actor
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.compatibility import check_fits


class _Script:
    """Acts by a function of one state, as an actor does."""

    masked = None

    def __init__(self, act: Callable[[Any], Any]):
        self._act = act

    def reset(self) -> None:
        """An episode begins."""

    def preprocess(self, states: Any) -> Any:
        return states

    def act(self, states: Any, use_exploration: bool) -> Any:
        return stack([self._act(row(states, 0))])

    def record_rewards(self, rewards: np.ndarray) -> None:
        """What came of the action."""


def record_data_set(
    agent: BaseAgent | Callable[[Any], Any],
    env: Any,
    episodes: int,
    file: str | Path,
    *,
    use_exploration: bool = True,
    seed: int = DEFAULT_SEED,
) -> Path:
    """Play whole episodes and write them as a data set, which `Agent.learn` takes; returns the file.

    Args:
        agent: acts, and observes nothing; or a function of one state that returns an action, such as a script.
        env: environment spec, or an environment, which is reset and left open. Its episodes have to end.
        episodes: number of episodes.
        file: an ``.npz`` file, or an HDF5 file in the format of Minari, ``.hdf5`` or ``.h5``, which needs h5py.
        use_exploration: explore; else act greedily.
        seed: of the environment.

    Raises:
        SpecError: `episodes` is no integer >= 1, a vector environment, another kind of file, or h5py is not installed;
            the agent was made for other states or actions.
        EnvironmentFault: the environment breaks its contract or fails.
    """
    check_whole(episodes, "episodes", least=1)
    check_flag(use_exploration, "use_exploration")
    if is_vector_instance(env):
        raise SpecError(f"expected a single environment, given the {type(env).__name__}", path="env")
    check_suffix(Path(file))
    vector = make_vector_env(env, 1, max_restarts=0)
    try:
        if isinstance(agent, BaseAgent):
            check_fits(agent, vector)
        actor = agent.new_actor() if isinstance(agent, BaseAgent) else _Script(agent)
        with interruptible():
            recorded = _play(actor, vector, episodes, use_exploration, seed)
        states, actions = vector.state_space, vector.action_space
    finally:
        if not is_instance(env):
            vector.terminate()
    return write_data_set(file, recorded, states, actions)


def _play(
    actor: Actor | _Script, vector: VectorEnv, episodes: int, use_exploration: bool, seed: int
) -> list[RecordedEpisode]:
    """Episodes of a vector environment of one environment."""
    checks = StateChecks(vector, None, actor)
    states, recorded = vector.reset(seed), []
    checks.begin([0], states)
    for _ in range(episodes):
        actor.reset()
        observations, actions, steps, ended = [_first(states)], [], [], False
        while not ended:
            check_legal("record_data_set", actor.masked, states)
            acted = actor.act(actor.preprocess(states), use_exploration)
            actions.append(_first(acted))
            states, *results, _ = vector.step(acted)
            actor.record_rewards(results[0])
            steps.append([column[0] for column in results])
            checks.step(vector.final_states, *results[1:])
            observations.append(_first(vector.final_states))
            ended = bool(vector.finished)
        checks.begin([0], states)
        rewards, terminals, truncations = (np.array(column) for column in zip(*steps, strict=True))
        recorded.append(RecordedEpisode(stack(observations), stack(actions), rewards, terminals, truncations))
    return recorded


def _first(rows: Any) -> Any:
    """A copy of the first row."""
    return map_arrays(np.copy, row(rows, 0))
