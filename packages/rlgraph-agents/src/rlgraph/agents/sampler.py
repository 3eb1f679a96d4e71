"""Samplers: the loop of an actor and a vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.actor import Actor, with_rows
from rlgraph.agents.experience.fragment import Fragment, FragmentBuffer, Origin
from rlgraph.agents.experience.step import Step
from rlgraph.agents.nested_arrays import row
from rlgraph.environments.vector_env import VectorEnv


class Sampler:
    """Steps a vector environment with an actor.

    Args:
        actor: has a slot for every environment.
        environments: a vector environment.
    """

    def __init__(self, actor: Actor, environments: VectorEnv):
        self.actor, self.environments = actor, environments
        number = environments.num_environments
        actor.resize(number)
        #: Where the next states begin an episode.
        self._begins = np.ones(number, bool)
        self._states: Any = None

    @property
    def states(self) -> Any:
        """The states to act on next, as the algorithm sees them; None before `reset`."""
        return self._states

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode in every environment."""
        self.actor.begin()
        self._states = self.actor.see(self.environments.reset(seed=seed))
        self._begins = np.ones(self.environments.num_environments, bool)

    def step(self, use_exploration: bool = True) -> Step:
        """Act once in every environment."""
        environments, actor, states = self.environments, self.actor, self._states
        before = actor.internal_states
        actions = actor.act(states, use_exploration)
        raw, rewards, terminals, truncations, _ = environments.step(actions)
        valid = None
        if environments.dropped:
            valid = np.ones(len(rewards), bool)
            valid[environments.dropped] = False
        reached = actor.see(environments.final_states)
        step = Step(states, actions, rewards, terminals, truncations, reached, self._begins, valid, before)
        self._begins = begins = terminals | truncations if valid is None else terminals | truncations | ~valid
        self._states = reached
        if (begun := np.flatnonzero(begins)).size:
            actor.begin(begun)
            self._states = with_rows(reached, begun, actor.see(row(raw, begun), begun))
        return step


class FragmentSampler(Sampler):
    """A sampler that collects fragments.

    Args:
        actor, environments: see `Sampler`.
        length: steps of a fragment.
        number: of the actor.
        incarnation: how often it was started again.
    """

    def __init__(
        self, actor: Actor, environments: VectorEnv, length: int, number: int = 0, incarnation: int = 0
    ):
        super().__init__(actor, environments)
        self._buffer = FragmentBuffer(length)
        self._origin = Origin(number, incarnation, 0)

    def reset(self, seed: int | None = None) -> None:
        if self._states is not None:
            self._buffer.cut(None, self._states)
        super().reset(seed)

    def collect(self) -> Fragment:
        """The next fragment."""
        if self._states is None:
            self.reset()
        while not self._buffer.is_full:
            self._buffer.add(self.step())
        fragment = self._buffer.take(self._origin, self.actor.version)
        self._origin = Origin(self._origin.actor, self._origin.incarnation, self._origin.number + 1)
        return fragment
