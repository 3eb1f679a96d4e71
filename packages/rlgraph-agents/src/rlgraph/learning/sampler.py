"""Samplers: the loop of an actor and a vector environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.environments.vector_env import VectorEnv
from rlgraph.experience.fragment import Fragment, FragmentBuffer, Origin
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.state_checks import StateChecks
from rlgraph.experience.step import VectorStep
from rlgraph.learning.actor import Actor, with_rows


class Sampler:
    """Steps a vector environment with an actor.

    Args:
        actor: gets a slot for every environment.
        environments: a vector environment.
        cut: is told of the slots whose episodes did not end; None: all.
        state: what `get_state` of another one gave, for `restore`.
        learns: whether an algorithm learns from the steps; False: they are played only.

    Attributes:
        states: the states to act on next, as the algorithm sees them; None before `reset`.
        infos: the dicts of the environments at the last step.
    """

    def __init__(
        self,
        actor: Actor,
        environments: VectorEnv,
        cut: Callable[[Any], None] = lambda slots: None,
        state: Mapping[str, Any] | None = None,
        learns: bool = True,
    ):
        self.actor, self.environments, self._cut = actor, environments, cut
        self._preprocesses, self._is_recurrent = actor.preprocesses, actor.internal_states is not None
        self.states: Any = None
        self._state = state
        self.infos: Sequence[dict[str, Any]] = ()
        actor.resize(environments.num_environments)
        self._checks = StateChecks(
            environments, actor.masked, actor, learns and actor.graph.algorithm.values_next_actions
        )
        #: Where `states` begin an episode; the same array wherever none does.
        self._begins = np.ones(environments.num_environments, bool)
        self._none = np.zeros(environments.num_environments, bool)

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode in every environment; those that run are cut."""
        self._begin(self.environments.reset(seed=seed))

    def restore(self, environments: Sequence[Any]) -> None:
        """Return the environments to a moment of `get_states`, and continue from `state` if it was given."""
        raw = self.environments.set_states(environments)
        if self._state is None:
            self._begin(raw)
            return
        self.actor.set_state(self._state.get("actor", {}))  # files keep no empty table
        self.states, self._begins = self._state["states"], self._state["begins"]
        self._checks.continue_from(self._state.get("steps", 0))
        self._state = None

    def get_state(self) -> dict[str, Any] | None:
        """Copies of the actor's table and of the states to act on; None before the first step."""
        if self.states is None:
            return None
        held = {"states": self.states, "begins": self._begins, "steps": self._checks.steps}
        return {"actor": self.actor.get_state(), **map_arrays(np.copy, held)}

    def get_states(self) -> list[Any] | None:
        """The inner states of the environments; None if one cannot give them."""
        return self.environments.get_states()

    def _begin(self, raw: Any) -> None:
        if self.states is not None or self._state is not None:
            self._cut(None)
        self._state = None
        self.actor.reset()
        self._checks.begin(slice(None), raw)
        self.states = self.actor.preprocess(raw)
        self._begins = np.ones(self.environments.num_environments, bool)

    def step(self, use_exploration: bool = True) -> VectorStep:
        """Act once in every environment."""
        environments, actor, states = self.environments, self.actor, self.states
        before = actor.internal_states if self._is_recurrent else None
        actions = actor.act(states, use_exploration)
        raw, rewards, terminals, truncations, self.infos = environments.step(actions)
        valid = self._valid() if environments.dropped else None
        reached = final = environments.final_states
        self._checks.step(final, terminals, truncations)
        if self._preprocesses:
            actor.record_rewards(rewards)
            reached = actor.preprocess(final)
        step = VectorStep(
            states,
            actions,
            rewards,
            terminals,
            truncations,
            reached,
            self._begins,
            valid,
            before,
            actor.remembered,
        )
        self.states, self._begins = reached, self._none
        if valid is not None or environments.finished:
            self._begins = begins = terminals | truncations
            if valid is not None:
                begins |= ~valid
            begun = np.flatnonzero(begins)
            self._checks.begin(begun, None if final is raw else raw)
            actor.reset(begun)
            self.states = raw
            if self._preprocesses:
                self.states = with_rows(reached, begun, actor.preprocess(row(raw, begun), begun))
        return step

    def _valid(self) -> np.ndarray:
        """Which rows of the last step are steps, where some are not."""
        environments = self.environments
        valid = np.ones(environments.num_environments, bool)
        valid[list(environments.dropped)] = False
        if lost := [i for i in environments.dropped if i not in environments.idle]:
            self._cut(lost)
        return valid


class FragmentSampler(Sampler):
    """A sampler that collects fragments.

    Args:
        actor, environments: see `Sampler`.
        length: steps of a fragment.
        number: of the actor.
        incarnation: how often it was started again.
        internal_state_interval: of the learner's experience.
    """

    def __init__(
        self,
        actor: Actor,
        environments: VectorEnv,
        length: int,
        number: int = 0,
        incarnation: int = 0,
        internal_state_interval: int | None = None,
    ):
        self._buffer = FragmentBuffer(length, internal_state_interval)
        super().__init__(actor, environments, self._buffer.cut)
        self._origin = Origin(number, incarnation, 0)

    def collect(self) -> Fragment:
        """The next fragment."""
        if self.states is None:
            self.reset()
        while not self._buffer.is_full:
            self._buffer.add(self.step())
        fragment = self._buffer.take(self._origin, self.actor.version)
        self._origin = Origin(self._origin.actor, self._origin.incarnation, self._origin.number + 1)
        return fragment
