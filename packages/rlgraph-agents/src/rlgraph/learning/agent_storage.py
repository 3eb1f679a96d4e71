"""Weights, checkpoints and exports of an agent."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from rlgraph.components.common.argument_checks import check_flag
from rlgraph.core import CheckpointError, GraphExecutor, InputError, SpecError
from rlgraph.core.checkpoint import find_checkpoint, read_beside, read_manifest
from rlgraph.core.specs.documents import check_limits
from rlgraph.experience.nested_arrays import flatten_arrays, unflatten_arrays
from rlgraph.learning.agent_spec import stored_spec
from rlgraph.learning.exporting import export_methods
from rlgraph.learning.external_actor import ExternalActor
from rlgraph.learning.group import Alone, LearnerGroup
from rlgraph.learning.learner import Learner
from rlgraph.learning.observer import Observer
from rlgraph.learning.stored_meaning import MEANING, MEANING_KEY, check_scales, meaning_of
from rlgraph.learning.weights import take_over_weights

#: The key of the spec in a checkpoint's facts.
AGENT = "agent"


class TrainingSampler(Protocol):
    """What makes the steps of training."""

    def get_state(self) -> dict[str, Any] | None:
        """What a checkpoint keeps of it, in nested arrays; None: nothing yet."""


class AgentStorage:
    """Stores, loads and exports an agent. `BaseAgent` sets the attributes that are used here.

    Attributes:
        greedy_method: the API method that `export_graph` writes by default.
    """

    greedy_method: ClassVar[str] = "get_greedy_actions"
    learner: Learner
    executor: GraphExecutor
    group: Alone | LearnerGroup
    _arguments: Mapping[str, Any]
    _updating: threading.RLock
    _observing: threading.RLock
    _user: ExternalActor
    _observer: Observer
    _sampler: TrainingSampler | None
    _sampler_state: Any

    @property
    @abstractmethod
    def timesteps(self) -> int:
        """Environment steps observed."""

    @property
    @abstractmethod
    def updates(self) -> int:
        """Updates done."""

    @abstractmethod
    def reset_env_buffers(self, env_id: Any = None) -> None:
        """Throw away what waits of environments."""

    def get_weights(self) -> dict[str, np.ndarray]:
        """Copies of all variables by scoped name; the same names on every backend."""
        return self.executor.get_weights()

    def get_policy_weights(self) -> dict[str, np.ndarray]:
        """Copies of the variables of `get_weights` that acting reads: of the policy, and of what normalizes states.

        These are what executors send to actors. Optimizers, targets, and critics that only learning reads are left out.
        """
        return self.learner.policy_weights()

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Write the named variables, all or some, e.g. those of `get_policy_weights`; others keep their values.

        Raises:
            InputError: an unknown name or a wrong shape; then nothing is written.
        """
        self.executor.set_weights(weights)

    set_policy_weights = set_weights

    def store_model(
        self,
        directory: str | Path | None = None,
        *,
        path: str | Path | None = None,
        add_timestep: bool = False,
        memory: bool = True,
        facts: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a checkpoint (safetensors and JSON): variables, optimizer state, random streams, counters.

        Values are written as they are, NaN too; the checkpoints of a run are checked (`rlgraph.runs`).

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            path: `directory` by its name in RLgraph 0.5.
            add_timestep: add the number of steps to the name: ``model`` is ``model-1000`` after 1,000 steps, as by
                default in RLgraph 0.5.
            memory: the replay memory and all other experience as well.
            facts: further JSON-able facts to keep.

        Returns:
            The directory, which `load_model` takes.

        Raises:
            CheckpointError: it cannot be written.
            InputError: neither `directory` nor `path` is given, or both.
        """
        memory = check_flag(memory, "store_model.memory")
        add_timestep = check_flag(add_timestep, "store_model.add_timestep")
        place = _the_place("store_model", directory, path)
        if add_timestep and place.name in ("", ".."):
            raise InputError(
                f"store_model: expected a path with a name, to which the step is added, given {place}"
            )
        with self._updating, self._observing:  # counters, weights and memory of one moment
            if memory:
                self.learner.copy_memory_back()
            own = {**self.progress_facts(), AGENT: self._readable_spec(), MEANING_KEY: MEANING}
            return self.executor.save(
                place.with_name(f"{place.name}-{self.timesteps}") if add_timestep else place,
                facts={**own, **(facts or {})},
                host=memory and self.learner.keeps_memory,
                beside=flatten_arrays(self.experience_state()) if memory else None,
            )

    def _readable_spec(self) -> dict[str, Any] | None:
        """The agent's spec; None if it has no JSON form, or is larger than what is read from a checkpoint."""
        spec = stored_spec(type(self), self._arguments)
        try:
            check_limits(spec, AGENT)
        except SpecError:
            return None
        return spec

    def load_model(
        self,
        directory: str | Path | None = None,
        *,
        path: str | Path | None = None,
        scope: str | None = None,
    ) -> None:
        """Restore a checkpoint of the same kind of agent, from any backend.

        Args:
            directory: the checkpoint, as `store_model` returned it.
            path: `directory` by its name in RLgraph 0.5.
            scope: restore only the variables of this component, e.g. ``dqn/policy``, of any agent; the rest stays.

        Raises:
            CheckpointError: it is missing, damaged, or of another component graph; then nothing changes.
            InputError: there is no such component, or it has no variables; or neither `directory` nor `path` is given,
                or both.
        """
        place = _the_place("load_model", directory, path)
        source = find_checkpoint(place)
        if not source.exists() and (newest := _newest_with_timestep(place)):
            raise CheckpointError(
                f"{place} does not exist: store_model with add_timestep wrote {newest} beside it; give that"
            )
        with self._updating, self._observing:
            if scope is not None:
                self.executor.load(source, scope=scope)
                return
            with self.group.own_draws(self.executor):
                self._load(source)

    def _load(self, source: Path) -> None:
        there = read_manifest(source).facts
        check_scales(self.learner, there, source)
        beside = read_beside(source)
        self.learner.copy_memory_back(to_write=True)
        try:
            facts = self.executor.load(source, required_facts=self.progress_facts())
        except CheckpointError as error:
            if "/~stream" in str(error) and meaning_of(there) < MEANING:
                raise CheckpointError(
                    f"{error}. Version 0.2 or older stored it, whose dropout dropped nothing: use Agent.load, or give "
                    "it rate 0"
                ) from None
            if "lacks the facts learner" not in str(error):
                raise
            raise CheckpointError(
                f"{error}: agents of rlgraph-agents 0.2 and older kept other variables and counters; train anew, or "
                "use that version"
            ) from None
        self.learner.progress[()] = facts["time_percentage"]
        self.learner.set_counters(facts["learner"])
        self._user.set_facts(facts["observer"])
        self.reset_env_buffers()
        state = unflatten_arrays(beside or {})  # without what is empty
        self.learner.set_state(state.get("learner", {}))
        observed = state.get("observer", {})
        self._observer.set_state(observed)
        if "actor" in observed:
            self._user.set_state(observed["actor"])
        is_own = self.learner.continues_exactly and self.group.rank == 0
        self._sampler, self._sampler_state = None, state.get("sampler") if is_own else None

    def load_weights(self, path: str | Path, *, only: str | Sequence[str] | None = None) -> list[str]:
        """Take over weights of another agent, to train on from them with a fresh optimizer (fine-tuning).

        Targets become copies of what they follow, and statistics continue from those of the other agent. Counters,
        memory and optimizers do not change.

        Args:
            path: a checkpoint.
            only: scoped names of weights or components, ``"ppo/policy/network"``, or patterns, ``"*/network/*"``: one,
                or a list of them. Default: all weights.

        Returns:
            The names of the weights that were taken over.

        Raises:
            CheckpointError: `path` is none, or is damaged.
            InputError: weights are missing there or have another shape, or no weight matches; nothing is changed.
        """
        with self._updating, self._observing:
            return take_over_weights(self.learner, find_checkpoint(path), only)

    def progress_facts(self) -> dict[str, Any]:
        """The counters a checkpoint keeps; JSON-able."""
        return {
            "timesteps": self.timesteps,
            "updates": self.updates,
            "time_percentage": float(self.learner.progress),
            "learner": self.learner.counters(),
            "observer": self._user.facts(),
        }

    def experience_state(self) -> dict[str, Any]:
        """What a checkpoint keeps of what was observed, in nested arrays, besides variables and the memory."""
        return {
            "learner": self.learner.get_state(),
            "observer": {**self._observer.get_state(), "actor": self._user.get_state()},
            "sampler": self._sampler_state if self._sampler is None else self._sampler.get_state(),
        }

    export_model, import_model = store_model, load_model

    def export_graph(
        self, directory: str | Path, methods: Sequence[str] | None = None, *, format: str | None = None
    ) -> Path:
        """Write API methods for use without RLgraph; see `rlgraph.core.GraphExecutor.export_graph`.

        ``get_greedy_actions`` and ``get_sampled_actions`` act on raw states. Random numbers, and what acting remembers
        (frame stacks, states of recurrent networks), are inputs and outputs.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: greedy acting.
            format: ``"onnx"``, which PyTorch writes; default: that of the backend.

        Raises:
            CapabilityError: the backend cannot export one of them; names the function.
            InputError: an unknown format.
        """
        return export_methods(
            self.learner, directory, [self.greedy_method] if methods is None else methods, format
        )


def _the_place(method: str, directory: str | Path | None, path: str | Path | None) -> Path:
    """The one of two arguments that is given."""
    place = path if directory is None else directory
    if place is None or None not in (directory, path):
        given = "neither" if place is None else "both"
        raise InputError(f"{method}: expected directory, or path, its name in RLgraph 0.5; given {given}")
    return Path(place)


def _newest_with_timestep(place: Path) -> str:
    """The name of the checkpoint of most steps that `add_timestep` made of `place`; empty: there is none."""
    names = [path.name for path in place.parent.glob("*") if path.name.rpartition("-")[0] == place.name]
    numbers = [int(number) for name in names if (number := name.rpartition("-")[2]).isdecimal()]
    return f"{place.name}-{max(numbers)}" if numbers else ""
