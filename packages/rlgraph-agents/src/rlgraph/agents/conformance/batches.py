"""Batches of steps that rows hand to `Agent.update`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.subject import AgentUnderTest, acted
from rlgraph.experience.nested_arrays import map_arrays, stack

#: Steps and environments of a batch.
LENGTH, WIDTH = 8, 2
Columns = dict[str, Any]


def sample_steps(agent: Agent, seed: int = 0, length: int = LENGTH, width: int = WIDTH) -> Columns:
    """Fields ``[T, N, ...]`` of steps in random states, with actions of the agent; no episode ends.

    The states of a step are those that the step before reached.
    """
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(length + 1, width, 4))
    taken = [acted(agent, row) for row in states[:-1]]
    columns = {
        "states": states[:-1].copy(),
        "actions": stack([actions for actions, _ in taken]),
        "rewards": rng.normal(size=(length, width)),
        "terminals": np.zeros((length, width), bool),
        "truncations": np.zeros((length, width), bool),
        "next_states": states[1:].copy(),
    }
    extras = [extra for _, extra in taken]
    if "remembered" in extras[0]:
        columns["remembered"] = stack([extra["remembered"] for extra in extras])
    return columns


def as_batch(agent: Agent, columns: Mapping[str, Any]) -> Columns:
    """Fields ``[T, N, ...]`` as `Agent.update` takes them: of agents that learn from transitions ``[T * N, ...]``."""
    if agent.learner.experience.is_sequential:
        return dict(columns)
    flat = map_arrays(lambda x: x.reshape(-1, *x.shape[2:]), dict(columns))
    return {name: column for name, column in flat.items() if name != "truncations"}


def updated(
    subject: AgentUnderTest, columns: Mapping[str, Any], updates: int = 2, **options: Any
) -> dict[str, np.ndarray]:
    """The weights of a new agent after updates on steps ``[T, N, ...]``, each of which is a transition."""
    agent = subject.make(**{"n_step": 1, **options})
    for _ in range(updates):
        agent.update(as_batch(agent, columns))
    return agent.get_weights()
