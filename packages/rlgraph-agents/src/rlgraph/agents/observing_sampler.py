"""The loop of an agent that observes step by step, and a vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.agents.acting_agent import ActingAgent
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.preprocessed_env import PreprocessedVectorEnv
from rlgraph.environments.vector_env import VectorEnv


class ObservingSampler:
    """Steps a vector environment with an agent; see `rlgraph.agents.sampler.Sampler`.

    Attributes:
        states: the states to act on next.
        infos: the dicts of the environments at the last step.
    """

    continues_exactly = False

    def __init__(self, agent: ActingAgent, environments: VectorEnv, prefix: str = "env"):
        self.agent, self._raw, self._trains = agent, agent.preprocessing is None, prefix == "env"
        self.environments = environments if self._raw else PreprocessedVectorEnv(environments, agent, prefix)
        self._nowhere = np.zeros(environments.num_environments, bool)
        self.states: Any = None
        self.infos: Sequence[dict[str, Any]] = ()

    def reset(self, seed: int | None) -> None:
        if self._trains:
            # Cut as a truncation cuts: a window of several steps would otherwise reach into another episode.
            self.agent.flush_buffers()
        self.states = self.environments.reset(seed=seed)
        self._begin_episodes(range(self.environments.num_environments))

    def restore(self, environments: Sequence[Any]) -> None:
        self.agent.flush_buffers()
        self.states = self.environments.set_states(environments)

    def get_states(self) -> list[Any] | None:
        return self.environments.get_states()

    def step(self, use_exploration: bool) -> VectorStep:
        environments, states = self.environments, self.states
        actions = self.agent.get_actions(states, use_exploration, self._raw)
        self.states, rewards, terminals, truncations, self.infos = environments.step(actions)
        valid = None
        if environments.dropped:
            valid = ~self._nowhere
            valid[environments.dropped] = False
            if self._trains:
                for i in environments.dropped:
                    self.agent.reset_env_buffers(i)
            self._begin_episodes(environments.dropped)
        if environments.finished:
            self._begin_episodes(environments.finished)
        reached = environments.final_states
        return VectorStep(states, actions, rewards, terminals, truncations, reached, self._nowhere, valid)

    def _begin_episodes(self, environments: Sequence[int]) -> None:
        """Tell the agent, where the environments as it sees them have not done so."""
        if self._raw and self._trains:
            self.agent.reset(environments)
