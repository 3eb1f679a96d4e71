"""Acting of agents that observe step by step: raw and preprocessed states, environments by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.batch_checks import force_batch
from rlgraph.agents.nested_arrays import length, row
from rlgraph.agents.preprocessing import Preprocessing, make_room_for_evaluation
from rlgraph.core import Component, InputError, default_backend, executor_class
from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import Space

#: What one step of an unnamed environment belongs to.
DEFAULT_ENV_ID = "env_0"


class Acting(NamedTuple):
    """How an agent acts on states of one kind: programs, and the rank of a batch, -1 for containers."""

    rank: int
    greedy: Callable[..., Any]
    explore: Callable[..., Any]


class ActingAgent(Agent):
    """An agent around a root component that has its own API methods for raw and for preprocessed states.

    Args:
        state_space: one state, without ranks.
        action_space: one action, without ranks.
        root: the unbuilt root component. It has the API methods `greedy_method` and `exploring_method`, which take raw
            states. With a preprocessor also ``preprocess_states`` (see `rlgraph.agents.preprocessing.Preprocessing`)
            and the same two with ``_from_preprocessed`` behind their names; if the preprocessor keeps state, those
            without are not used.
        input_spaces: Spaces of the root's API arguments.
        preprocessor: the part of `root` that preprocesses states; None: there is none.
        exploration: the part of `root` that explores. Where it has an API method ``reset``, the root has
            ``reset_exploration(env_indices)``, and `reset` calls it.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`.
        seed: root of all random numbers; overrides the execution spec's.
        acting: ``"numpy"``, ``"backend"``, or ``"auto"``: see ``act_on`` of `rlgraph.core.ExecutionSpec`.
        env: the environment spec that `learn` and `evaluate` use.
    """

    #: API method that computes greedy actions, and the one that explores.
    greedy_method: ClassVar[str] = "get_greedy_actions"
    exploring_method: ClassVar[str] = "get_actions"
    #: What `get_actions` can return besides the actions, and the API method of preprocessed states that gives it.
    extra_methods: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        root: Component,
        input_spaces: Mapping[str, Any],
        *,
        preprocessor: Component | None = None,
        exploration: Component | None = None,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
        seed: int | None = None,
        acting: str = "auto",
        env: Any = None,
    ):
        checked = self._check_execution(execution_spec, seed, acting)
        if preprocessor is not None:
            make_room_for_evaluation(preprocessor)
        backend = backend or default_backend()
        has_state = preprocessor is not None and preprocessor.has_state  # type: ignore[attr-defined]
        executor = executor_class(backend)(
            root,
            input_spaces,
            action_space=action_space,
            backend=backend,
            execution_spec=replace(
                checked,
                acting_methods=self._acting_methods(preprocessor is not None, has_state),
                act_on=acting,
            ),
        )
        self._begin(state_space, action_space, executor, env)
        self.preprocessing = (
            None if preprocessor is None else Preprocessing(self.executor, preprocessor, state_space)
        )
        #: What makes exploration forget episodes, and of how many environments it remembers them.
        self._reset_exploration: Callable[..., Any] | None = None
        if exploration is not None and "reset" in exploration.api_methods():
            self._reset_exploration = self.executor.program("reset_exploration")
            self._explored_rows: int = exploration.num_environments  # type: ignore[attr-defined]
        #: Space of the states that policy and memory see.
        self.preprocessed_space = state_space if self.preprocessing is None else self.preprocessing.space
        self._acting_raw, self._acting_preprocessed = self._acting_programs()

    def _acting_methods(self, preprocesses: bool, has_state: bool) -> list[str]:
        """The API methods that act, those of preprocessed states first."""
        raw = [self.greedy_method, self.exploring_method]
        if not preprocesses:
            return raw
        preprocessed = [f"{method}_from_preprocessed" for method in raw]
        return preprocessed if has_state else [*preprocessed, *raw, "preprocess_states"]

    def _acting_programs(self) -> tuple[Acting, Acting]:
        """How it acts on raw states and on preprocessed ones."""
        greedy, explore, *more = map(self.executor.program, self.executor.execution.acting_methods)

        def rank(space: Space) -> int:
            return len(space.shape) + 1 if hasattr(space, "shape") else -1

        preprocessed = Acting(rank(self.preprocessed_space), greedy, explore)
        if self.preprocessing is None:
            return preprocessed, preprocessed
        if self.preprocessing.has_state:
            return preprocessed._replace(rank=-1), preprocessed
        return Acting(rank(self.state_space), *more[:2]), preprocessed

    # Acting.

    def get_actions(
        self,
        states: Any,
        use_exploration: bool = True,
        apply_preprocessing: bool = True,
        extra_returns: str | Sequence[str] | None = None,
    ) -> Any:
        """Actions for states.

        Args:
            states: a batch ``[B, ...]`` as the state Space says, or one state (then one action is returned). Where the
                preprocessor keeps state, row i is of environment i, and one state of environment 0 (`env_0`).
            use_exploration: explore; else act greedily.
            apply_preprocessing: False: the states are preprocessed already.
            extra_returns: names of what else to return, ``"preprocessed_states"`` or one of `extra_methods`.

        Returns:
            The actions; ``(actions, extra)`` if `extra_returns` is one name, ``(actions, {name: extra})`` if it is a
            list of names.

        Raises:
            InputError: the states do not fit their Space, or there is no such extra.
        """
        if extra_returns is None:
            acting = self._acting_raw if apply_preprocessing else self._acting_preprocessed
            if getattr(states, "ndim", None) == acting.rank:
                return (
                    acting.explore(states, self._time_percentage)
                    if use_exploration
                    else acting.greedy(states)
                )
        return self._get_actions(states, use_exploration, apply_preprocessing, extra_returns)

    get_action = get_actions

    def _get_actions(
        self, states: Any, use_exploration: bool, apply_preprocessing: bool, extra_returns: Any
    ) -> Any:
        """`get_actions` for all that is no plain batch, or needs the preprocessed states."""
        names = [extra_returns] if isinstance(extra_returns, str) else list(extra_returns or ())
        for name in names:
            if name != "preprocessed_states" and name not in self.extra_methods:
                known = ["preprocessed_states", *self.extra_methods]
                raise InputError(
                    f"get_actions: extra_returns: there is no {name!r}. {nearest(str(name), known)}"
                )
        space = self.state_space if apply_preprocessing else self.preprocessed_space
        batch, was_added = force_batch("get_actions", "states", states, space)
        acting = self._acting_raw
        if not apply_preprocessing:
            acting = self._acting_preprocessed
        elif self.preprocessing is not None and (names or self.preprocessing.has_state):
            acting = self._acting_preprocessed
            batch = self.preprocessing(batch, self._env_ids(None, length(batch), was_added))
        actions = acting.explore(batch, self._time_percentage) if use_exploration else acting.greedy(batch)
        extras = {name: self._extra(name, batch) for name in names}
        if was_added:
            actions, extras = row(actions, 0), {name: row(extra, 0) for name, extra in extras.items()}
        if extra_returns is None:
            return actions
        return (actions, extras[extra_returns]) if isinstance(extra_returns, str) else (actions, extras)

    def _extra(self, name: str, preprocessed_states: Any) -> Any:
        if name == "preprocessed_states":
            return preprocessed_states
        return self.executor.program(self.extra_methods[name])(preprocessed_states)

    def preprocess_states(self, states: Any, env_id: Any = None) -> Any:
        """What the policy sees of states; they are returned as they are where there is no preprocessor.

        Where the preprocessor keeps state, each state of an environment must come here, or to `get_actions`, once.

        Args:
            states: a batch ``[B, ...]``, or one state.
            env_id: of which environments. None: row i is of environment i; a list: of ``env_id[i]``; else the rows are
                consecutive states of this one environment.

        Raises:
            InputError: the states do not fit the state Space.
        """
        batch, was_added = force_batch("preprocess_states", "states", states, self.state_space)
        if self.preprocessing is not None:
            batch = self.preprocessing(batch, self._env_ids(env_id, length(batch), was_added))
        return row(batch, 0) if was_added else batch

    def reset(self, env_id: Any = None) -> None:
        """Tell the agent that a new episode begins: preprocessor and exploration forget the one before.

        Workers do so. Row i of the states that are explored is environment ``i``, or ``"env_i"``.

        What waits in the buffers of `observe` stays: the last steps may not have been observed yet. An episode that is
        given up without a terminal or truncated step is ended by `flush_buffers` or `reset_env_buffers`.

        Args:
            env_id: the environment, or a list of them; None: all.
        """
        if self.preprocessing is not None:
            self.preprocessing.reset(None if env_id is None else self._ids(env_id))
        if self._reset_exploration is not None:
            ids = _numbered(self._explored_rows) if env_id is None else self._ids(env_id)
            rows = [int(i.removeprefix("env_")) for i in ids if _NUMBERED_ID.fullmatch(i)]
            self._reset_exploration(np.array(rows, np.int64))

    @staticmethod
    def _ids(env_id: Any) -> list[str]:
        """Environments by the name they have inside: ``3`` is another word for ``"env_3"``."""
        listed = env_id if isinstance(env_id, list | tuple | range | np.ndarray) else [env_id]
        return [f"env_{i}" if isinstance(i, int | np.integer) else str(i) for i in listed]

    def _env_ids(self, env_id: Any, rows: int, single: bool = False) -> list[str]:
        """The environment of each of `rows` rows, as ``env_id`` of `observe` says."""
        if env_id is None:
            return [DEFAULT_ENV_ID] if single else _numbered(rows)
        ids = self._ids(env_id)
        if isinstance(env_id, list | tuple | range | np.ndarray):
            if len(ids) != rows:
                raise InputError(
                    f"env_id: expected one environment for each of {rows} rows, given {len(ids)}"
                )
            return ids
        return ids * rows

    def make_sampler(self, environments: VectorEnv) -> Any:
        from rlgraph.agents.observing_sampler import ObservingSampler

        return ObservingSampler(self, environments)

    @contextmanager
    def playing(self, environments: VectorEnv) -> Iterator[Any]:
        from rlgraph.agents.observing_sampler import ObservingSampler

        with nullcontext() if self.preprocessing is None else self.preprocessing.frozen():
            yield ObservingSampler(self, environments, "evaluation")

    def progress_facts(self) -> dict[str, Any]:
        facts = super().progress_facts()
        if self.preprocessing is not None and self.preprocessing.has_state:
            facts["preprocessor_slots"] = dict(self.preprocessing.slots)
        return facts

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        if self.preprocessing is not None:
            self.preprocessing.slots = dict(facts.get("preprocessor_slots", {}))

    def terminate(self) -> None:
        """Say that the agent is done with: what waits is dropped, and it refuses to act, observe and learn."""

        def refuse(*_: Any, **__: Any) -> Any:
            raise RLGraphError("the agent was terminated: make another one, and load what it has stored")

        with self._updating, self._observing:
            self.reset_env_buffers()
            self._get_actions = self.observe = self.update = refuse  # type: ignore[method-assign]
            self._acting_raw = self._acting_preprocessed = Acting(-1, refuse, refuse)


#: The name of an environment by its number.
_NUMBERED_ID = re.compile(r"env_\d+")


@lru_cache(64)
def _numbered(rows: int) -> list[str]:
    """The environments of the rows of a vector step; not to be changed."""
    return [f"env_{i}" for i in range(rows)]
