"""Acting for users, who name environments and have a loop of their own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from rlgraph.core import InputError
from rlgraph.core.errors import offer
from rlgraph.environments.masked_states import check_legal
from rlgraph.experience.environment_slots import EnvironmentSlots
from rlgraph.experience.nested_arrays import length, map_arrays, row
from rlgraph.experience.pending_steps import rounds
from rlgraph.experience.step_reader import StepReader, force_batch
from rlgraph.learning.acting_arguments import as_flag, names_of
from rlgraph.learning.actor import Actor
from rlgraph.learning.option_hints import EXTRAS_OF_0_5
from rlgraph.spaces import BoxSpace


class ExternalActor:
    """Acts for environments by name.

    Args:
        actor: never the one of training; it has random numbers of its own.
        reader: checks states.
    """

    def __init__(self, actor: Actor, reader: StepReader):
        self.actor, self._reader = actor, reader
        self._raw, self._seen = reader.raw, reader.seen
        self._look_at_raw = reader.look_at_raw
        self.environments = EnvironmentSlots()
        #: Where the actor keeps state, one thread acts at a time.
        self._acting = threading.RLock()
        #: Rank of a batch of states that it may act on at once; -1: none.
        self._plain_rank = -1
        if isinstance(self._raw, BoxSpace) and not actor.has_table:
            self._plain_rank = len(self._raw.shape) + 1

    def get_actions(
        self, states: Any, use_exploration: bool, apply_preprocessing: bool, extra_returns: Any
    ) -> Any:
        """See `Agent.get_actions`."""
        try:
            if (
                extra_returns is None
                and apply_preprocessing is True
                and (use_exploration is True or use_exploration is False)
                and type(states) is ndarray
                and states.ndim == self._plain_rank
                and self._look_at_raw(states)
            ):
                actor = self.actor
                return actor.act(actor.preprocess(states, learns=use_exploration), use_exploration)
            return self._get_actions(states, use_exploration, apply_preprocessing, extra_returns)
        except InputError as error:  # of the API method that it calls
            raise InputError(f"get_actions:{str(error).partition(':')[2]}") from None

    def _get_actions(
        self, states: Any, use_exploration: bool, apply_preprocessing: bool, extra_returns: Any
    ) -> Any:
        """`get_actions` for all that is no plain batch, keeps state, or wants more."""
        use_exploration = as_flag("get_actions", "use_exploration", use_exploration)
        apply_preprocessing = as_flag("get_actions", "apply_preprocessing", apply_preprocessing)
        names, actor = [] if extra_returns is None else names_of(extra_returns), self.actor
        space = self._raw if apply_preprocessing else self._seen
        batch, was_added = force_batch("get_actions", "states", states, space)
        batch = self._reader.states("get_actions", batch, apply_preprocessing)
        check_legal("get_actions", actor.masked if apply_preprocessing else actor.policy_input_mask, batch)
        with self._acting:
            slots = self._slots(None, length(batch), was_added)
            seen = actor.preprocess(batch, slots, learns=use_exploration) if apply_preprocessing else batch
            extras = {"preprocessed_states": seen, "internal_states": actor.internal_states_of(slots)}
            if set(names) <= extras.keys():
                actions = actor.act(seen, use_exploration, slots)
            else:
                actions, more = actor.act_with_extras(seen, use_exploration, slots)
                extras |= {
                    **more,
                    "remembered": {name: more[name] for name in actor.graph.algorithm.behaviour_outputs},
                }
        for name in names:
            if name not in extras:
                raise InputError(
                    f"get_actions: extra_returns: there is no {name!r}. {offer(str(name), extras, EXTRAS_OF_0_5)}"
                )
        extras = {name: extras[name] for name in names}
        if was_added:
            actions, extras = row(actions, 0), {name: row(extra, 0) for name, extra in extras.items()}
        if extra_returns is None:
            return actions
        return (actions, extras[extra_returns]) if isinstance(extra_returns, str) else (actions, extras)

    def preprocess_states(self, states: Any, env_id: Any) -> Any:
        """See `Agent.preprocess_states`."""
        if self.actor.sees_previous:
            raise InputError(
                "preprocess_states: states come with the reward before them, which observe() tells the agent: take "
                "get_actions(..., extra_returns='preprocessed_states') after it"
            )
        batch, was_added = force_batch("preprocess_states", "states", states, self._raw)
        batch = self._reader.states("preprocess_states", batch, is_raw=True)
        with self._acting:
            slots = self._slots(env_id, length(batch), was_added)
            if slots is None:
                seen = self.actor.preprocess(batch)
            else:
                parts = [self.actor.preprocess(row(batch, chosen), slots[chosen]) for chosen in rounds(slots)]
                seen = parts[0] if len(parts) == 1 else map_arrays(lambda *x: np.concatenate(x), *parts)
        return row(seen, 0) if was_added else seen

    def reset(self, env_id: Any) -> None:
        """See `Agent.reset`."""
        with self._acting:
            self.actor.reset(self.environments.known(env_id))

    def _slots(self, env_id: Any, rows: int, single: bool) -> np.ndarray | None:
        """The slots of the actor; None where it keeps no state."""
        if not self.actor.has_table:
            return None
        slots = self.environments.of(env_id, rows, single)
        self.actor.have_room(int(slots.max()) + 1)
        return slots

    # Checkpoints.

    def facts(self) -> dict[str, Any]:
        """The names of the environments, in the order of their slots, and the random streams; JSON-able."""
        assert self.actor.streams is not None
        return {"environments": self.environments.names, "streams": self.actor.streams.get_state()}

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Take over what `facts` gave."""
        assert self.actor.streams is not None
        self.environments.restore(facts["environments"])
        self.actor.streams.set_state(facts["streams"])

    def get_state(self) -> Any:
        """Copies of the actor's table; see `set_state`."""
        return self.actor.get_state()

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave, after `set_facts`."""
        self.actor.have_room(len(self.environments.names))
        self.actor.set_state(state)
