"""Environments as an agent with a preprocessor sees them: each state is preprocessed exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.agents.acting_agent import ActingAgent
from rlgraph.environments.rows import Rows
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult


class PreprocessedVectorEnv(VectorEnv):
    """`states` and `final_states` of a `VectorEnv`, preprocessed by the agent that acts in it.

    Args:
        vector: the environments.
        agent: has a preprocessor.
        prefix: of the names by which the agent tells its environments apart.
    """

    def __init__(self, vector: VectorEnv, agent: ActingAgent, prefix: str = "env"):
        self.vector, self.agent = vector, agent
        self.num_environments = vector.num_environments
        self.state_space, self.action_space = agent.preprocessed_space, vector.action_space
        self.finished = []
        self._ids = [f"{prefix}_{i}" for i in range(self.num_environments)]
        self._final_states: Rows = None

    def reset(self, seed: int | None = None) -> Rows:
        states = self.vector.reset(seed)
        self.agent.reset(self._ids)
        return self._begin(states)

    def step(self, actions: Any) -> VectorStepResult:
        return self.see(self.vector.step(actions))

    def see(self, result: VectorStepResult) -> VectorStepResult:
        """What the agent sees of a step of the environments."""
        states, rewards, terminated, truncated, infos = result
        self.finished, self.dropped = self.vector.finished, self.vector.dropped
        self.restarts, self.idle = self.vector.restarts, self.vector.idle
        seen = self._final_states = self.agent.preprocess_states(self.vector.final_states, env_id=self._ids)
        if begun := sorted({*self.finished, *self.dropped}):
            ids = [self._ids[i] for i in begun]
            self.agent.reset(ids)
            first = self.agent.preprocess_states(take_rows(states, begun), env_id=ids)
            seen = replace_rows(seen, begun, first)
        return seen, rewards, terminated, truncated, infos

    @property
    def final_states(self) -> Rows:
        return self._final_states

    def describe(self, index: int) -> str:
        return self.vector.describe(index)

    def render(self, index: int = 0) -> Any:
        return self.vector.render(index)

    def terminate(self) -> None:
        self.vector.terminate()

    def get_states(self) -> list[Any] | None:
        # A state that was preprocessed already must not be preprocessed again.
        preprocessing = self.agent.preprocessing
        return None if preprocessing is not None and preprocessing.has_state else self.vector.get_states()

    def set_states(self, states: Sequence[Any]) -> Rows:
        return self._begin(self.vector.set_states(states))

    def _begin(self, states: Rows) -> Rows:
        self.finished, self.dropped = [], ()
        seen = self._final_states = self.agent.preprocess_states(states, env_id=self._ids)
        return seen


def take_rows(batch: Rows, rows: Sequence[int]) -> Rows:
    """Some rows of a batch, leaf by leaf."""
    if isinstance(batch, dict):
        return {key: take_rows(part, rows) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(take_rows(part, rows) for part in batch)
    return np.asarray(batch)[list(rows)]


def replace_rows(batch: Rows, rows: Sequence[int], values: Rows) -> Rows:
    """A copy of a batch with some rows replaced, leaf by leaf."""
    if isinstance(batch, dict):
        return {key: replace_rows(part, rows, values[key]) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(replace_rows(part, rows, value) for part, value in zip(batch, values, strict=True))
    copy = np.array(batch)
    copy[list(rows)] = values
    return copy
