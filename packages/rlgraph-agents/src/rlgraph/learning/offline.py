"""Learning from steps that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.experience.data_sets import DataSetReader, RecordedEpisode
from rlgraph.experience.external_batches import BatchReader
from rlgraph.experience.nested_arrays import row
from rlgraph.experience.step import VectorStep
from rlgraph.learning.actor import Actor
from rlgraph.learning.learner import Learner


def import_steps(learner: Learner, batches: BatchReader, observations: Any) -> int:
    """Put steps into the memory; see `BaseAgent.import_observations`."""
    if learner.statistics is not None or getattr(learner.experience, "hindsight", None) is not None:
        raise InputError(
            "import_observations: expected the file of a data set, since normalize_states, scale_rewards and "
            "hindsight_spec need whole episodes, given steps: write them with "
            "rlgraph.experience.data_sets.write_data_set"
        )
    records = batches.records_of_steps(observations)
    steps = len(records["rewards"])
    _check_room(learner, "import_observations", steps, steps)
    learner.insert_data(records)
    return steps


def import_data_set(
    learner: Learner, reader: DataSetReader, make_actor: Callable[[], Actor], place: str | Path
) -> int:
    """Put the episodes of a data set into the memory; returns the number of their steps.

    Args:
        learner: has the memory.
        reader: of data sets in the Spaces of the agent.
        make_actor: makes what sees the states as the algorithm would have.
        place: the file or folder.

    Raises:
        InputError: a file is wrong, or the data set is larger than the memory; nothing was taken in.
    """
    lengths = reader.lengths(place)  # before anything is read that may be large
    steps = sum(lengths)
    _check_room(learner, place, steps, learner.experience.room_for(lengths))
    episodes, actor = reader.read(place), make_actor()
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
    actor.reset()
    seen = actor.preprocess(row(episode.observations, slice(1)))
    for t in range(len(episode.rewards)):
        now = slice(t, t + 1)
        actions, rewards = row(episode.actions, now), episode.rewards[now]
        before = actor.internal_states
        if before is not None:
            actor.act(seen)
        actor.record_actions(actions)
        actor.record_rewards(rewards)
        reached = actor.preprocess(row(episode.observations, slice(t + 1, t + 2)))
        ends = episode.terminals[now], episode.truncations[now]
        yield VectorStep(seen, actions, rewards, *ends, reached, np.array([t == 0]), None, before)
        seen = reached
