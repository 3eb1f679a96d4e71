"""Samplers: the loop of an actor and a vector environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.agents.actor import Actor, with_rows
from rlgraph.agents.experience.fragment import Fragment, FragmentBuffer, Origin
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.nested_arrays import map_arrays, row
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.vector_env import VectorEnv


class Sampler:
    """Steps a vector environment with an actor.

    Args:
        actor: gets a slot for every environment.
        environments: a vector environment.
        cut: is told of the slots whose episodes did not end; None: all.
        state: what `get_state` of another one gave, for `restore`.

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
    ):
        self.actor, self.environments, self._cut = actor, environments, cut
        self.states: Any = None
        self._state = state
        self.infos: Sequence[dict[str, Any]] = ()
        actor.resize(environments.num_environments)
        #: Where `states` begin an episode; the same array wherever none does.
        self._begins = np.ones(environments.num_environments, bool)
        self._nowhere = np.zeros(environments.num_environments, bool)
        #: Steps of the running episodes; only counted where states have masks.
        self._steps = np.zeros(environments.num_environments, np.int64)

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
        self._state = None

    def get_state(self) -> dict[str, Any] | None:
        """Copies of the actor's table and of the states to act on; None before the first step."""
        if self.states is None:
            return None
        held = {"states": self.states, "begins": self._begins}
        return {"actor": self.actor.get_state(), **map_arrays(np.copy, held)}

    def get_states(self) -> list[Any] | None:
        """The inner states of the environments; None if one cannot give them."""
        return self.environments.get_states()

    def _begin(self, raw: Any) -> None:
        if self.states is not None or self._state is not None:
            self._cut(None)
        self._state = None
        self.actor.begin()
        self._steps[:] = 0
        self._check_masks(raw)
        self.states = self.actor.see(raw)
        self._begins = np.ones(self.environments.num_environments, bool)

    def step(self, use_exploration: bool = True) -> VectorStep:
        """Act once in every environment."""
        environments, actor, states = self.environments, self.actor, self.states
        before = actor.internal_states
        actions = actor.act(states, use_exploration)
        raw, rewards, terminals, truncations, self.infos = environments.step(actions)
        actor.rewarded(rewards)
        valid = None
        if environments.dropped:
            valid = np.ones(len(rewards), bool)
            valid[list(environments.dropped)] = False
            if lost := [i for i in environments.dropped if i not in environments.idle]:
                self._cut(lost)
        final = environments.final_states
        if actor.masked is not None:
            self._steps += 1
            self._steps[list(environments.dropped)] = 0
            # Nobody acts in a terminal state, which a vector class may show until it resets.
            self._check_masks(final, terminals)
            self._steps[terminals | truncations] = 0
            if final is not raw:
                self._check_masks(raw)
        reached = actor.see(final)
        step = VectorStep(
            states, actions, rewards, terminals, truncations, reached, self._begins, valid, before
        )
        self.states, self._begins = reached, self._nowhere
        if environments.finished or valid is not None:
            self._begins = begins = (
                terminals | truncations if valid is None else terminals | truncations | ~valid
            )
            begun = np.flatnonzero(begins)
            actor.begin(begun)
            self.states = with_rows(reached, begun, actor.see(row(raw, begun), begun))
        return step

    def _check_masks(self, raw: Any, exempt: Any = None) -> None:
        """Check that every state to act on has a legal action, if the states have masks.

        Raises:
            EnvironmentFault: one has none; names environment and step.
        """
        masked = self.actor.masked
        index = None if masked is None else masked.row_without_actions(raw, exempt)
        if index is not None:
            raise EnvironmentFault(
                f"{self.environments.describe(index)}, step {self._steps[index]}: the action mask allows no action: "
                "every state in which the episode goes on needs a legal one."
            )


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
