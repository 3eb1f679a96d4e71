"""Learning from steps that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.learning.actor import Actor
from rlgraph.experience.data_sets import DataSetReader, RecordedEpisode
from rlgraph.experience.step import VectorStep
from rlgraph.experience.nested_arrays import row
from rlgraph.core import InputError

if TYPE_CHECKING:
    from rlgraph.agents.agent import Agent
    from rlgraph.learning.learner import Learner


def import_steps(agent: Agent, observations: Any) -> int:
    """See `Agent.import_observations`."""
    if agent.learner.graph.memory is None:
        raise InputError(
            f"import_observations: expected an agent with a memory; {type(agent).__name__} learns from its own "
            "newest steps only: give update(batch) a rollout"
        )
    if isinstance(observations, str | Path):
        with agent._updating, agent._observing:
            return _import_data_set(agent, observations)
    if (
        agent.learner.statistics is not None
        or getattr(agent.learner.experience, "hindsight", None) is not None
    ):
        raise InputError(
            "import_observations: expected the file of a data set, since normalize_states, scale_rewards and "
            "hindsight_spec need whole episodes, given steps: write them with rlgraph.experience.data_sets.write_data_set"
        )
    records = agent._batches.records_of_steps(observations)
    steps = len(records["rewards"])
    with agent._observing:
        _check_room(agent.learner, "import_observations", steps, steps)
        agent.learner.insert_data(records)
    return steps


def update_offline(agent: Agent) -> dict[str, float]:
    """One update from the memory, which no steps of the agent's own made due; its results."""
    with agent._updating:
        return agent.learner.update_offline()


def _import_data_set(agent: Agent, place: str | Path) -> int:
    """Put the episodes of a data set into the memory of an agent; returns the number of their steps.

    Raises:
        InputError: a file is wrong, or the data set is larger than the memory; nothing was taken in.
    """
    learner = agent.learner
    reader = DataSetReader(agent.state_space, agent.action_space, learner.spec.dtype, learner.graph.masked)
    episodes = reader.read(place)
    lengths = [len(episode.rewards) for episode in episodes]
    steps = sum(lengths)
    _check_room(learner, place, steps, learner.experience.room_for(lengths))
    actor = agent.new_actor(learns=True)
    for episode in episodes:
        learner.insert_episode(_steps(episode, actor))
    return steps


def _check_room(learner: Learner, where: object, steps: int, needed: int) -> None:
    """Raise `InputError` if the memory does not keep all `steps`, which need room for `needed`."""
    room, held = learner.experience.room, learner.demonstrations or 0
    if needed + held > room:
        capacity = (needed + held) * learner.experience.records_per_step
        besides = f", {held} of them demonstrations that it has" if held else ""
        raise InputError(
            f"{where}: the data set has {steps} steps, and the memory keeps {room}{besides}: give memory_spec "
            f'{{"capacity": {capacity}}}, or a part of it'
        )


def _steps(episode: RecordedEpisode, actor: Actor) -> Iterator[VectorStep]:
    """The steps of an episode as the algorithm would have seen them, with the internal states of its networks."""
    actor.begin()
    seen = actor.see(row(episode.observations, slice(1)))
    for t in range(len(episode.rewards)):
        now = slice(t, t + 1)
        actions, rewards = row(episode.actions, now), episode.rewards[now]
        before = actor.internal_states
        if before is not None:
            actor.act(seen)
        actor.did(actions)
        actor.rewarded(rewards)
        reached = actor.see(row(episode.observations, slice(t + 1, t + 2)))
        ends = episode.terminals[now], episode.truncations[now]
        yield VectorStep(seen, actions, rewards, *ends, reached, np.array([t == 0]), None, before)
        seen = reached
