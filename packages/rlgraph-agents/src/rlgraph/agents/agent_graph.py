"""The component around an algorithm: preprocessing before it acts, a memory before it learns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.experience.replay import Replay
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.components import PreprocessorStack, PrioritizedReplay
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, Space


class AgentGraph(Component):
    """The root component of actors and learners: the same scopes, variables and starting values in both.

    Args:
        algorithm: the algorithm.
        preprocessor: what states go through before it; None: nothing.
        experience: what it learns from; None: it only acts.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        preprocessor: PreprocessorStack | None = None,
        experience: Rollouts | Replay | None = None,
        scope: str = "agent",
    ):
        self.algorithm, self.preprocessor = algorithm, preprocessor
        #: Where `update_from_memory` draws records; None: there is none.
        self.memory: Any = experience.memory if isinstance(experience, Replay) else None
        if isinstance(self.memory, PrioritizedReplay) and not self.takes("update", "importance_weights"):
            raise SpecError(
                f"expected 'replay_memory': update of {type(algorithm).__name__} takes no importance_weights",
                path="memory_spec.type",
            )
        #: Fields of a record besides states and next states.
        self.fields = () if experience is None else experience.fields(bool(algorithm.recurrent_parts))
        parts = [part for part in (algorithm, preprocessor, self.memory) if part is not None]
        off = set() if self.memory else {"insert_records", "get_memory_size", "update_from_memory"}
        off |= {"preprocess"} if preprocessor is None else set()
        super().__init__(*parts, scope=scope, switched_off_apis=off)
        for name in algorithm.schedule:
            self.add_member(rlgraph_api(name=name)(_passed_on(algorithm, name)))

    # Spaces.

    def seen_space(self, state_space: Space) -> Space:
        """One state as the algorithm sees it, from one raw state; both without ranks."""
        if self.preprocessor is None:
            return state_space
        seen: Space = self.preprocessor.get_preprocessed_space(state_space.with_batch_rank())
        return seen.without_ranks()

    def table_space(self, state_space: Space) -> Dict | None:
        """The Space of the rows of an actor's table ``[N, ...]``, by part; None if nothing keeps state.

        Args:
            state_space: one raw state, without ranks.
        """
        spaces: dict[str, Any] = dict(self.algorithm.internal_states_space or {})
        if self.preprocessor is not None:
            own = self.preprocessor.get_internal_states_space(state_space.with_batch_rank())
            spaces |= {"preprocessor": own} if own is not None else {}
        return Dict(spaces, add_batch_rank=True) if spaces else None

    def acting_spaces(self, state_space: Space) -> dict[str, Any]:
        """The Spaces of the arguments of the API methods that act."""
        raw, table = state_space.with_batch_rank(), dict(self.table_space(state_space) or {})
        seen = self.seen_space(state_space).with_batch_rank()
        spaces: dict[str, Any] = {"act.states": seen, "act_greedily.states": seen}
        if self.preprocessor is not None:
            spaces["preprocess.states"] = raw
        if "preprocessor" in table:
            spaces["preprocess.internal_states"] = table["preprocessor"]
        recurrent = {key: space for key, space in table.items() if key != "preprocessor"}
        for method in ("act", "act_greedily"):
            if recurrent:
                spaces[f"{method}.internal_states"] = Dict(recurrent, add_batch_rank=True)
            if self.takes(method, "time_percentage"):
                spaces[f"{method}.time_percentage"] = FloatBox(0.0, 1.0)
        return spaces

    def takes(self, method: str, argument: str) -> bool:
        """Whether an API method of the algorithm has this argument."""
        return argument in inspect.signature(self.algorithm.api_methods()[method]).parameters

    # Acting.

    @property
    def acting_methods(self) -> tuple[str, ...]:
        """The API methods that an actor needs."""
        return ("act", "act_greedily", *(("preprocess",) if self.preprocessor is not None else ()))

    @rlgraph_api
    def preprocess(self, states: Any, internal_states: Any = None) -> Any:
        """``{"states"}`` as the algorithm sees raw ``states [B, ...]``, and the ``"internal_states"`` after it."""
        assert self.preprocessor is not None
        if not self.preprocessor.has_state:
            return {"states": self.preprocessor.preprocess(states)}
        seen = self.preprocessor.preprocess_with_states(states, internal_states)
        return {"states": seen["output"], "internal_states": seen["internal_states"]}

    @rlgraph_api
    def act(self, states: Any, internal_states: Any = None, time_percentage: Any = None) -> Any:
        """``{"actions"}`` for ``states [B, ...]`` as the algorithm sees them, drawn or explored.

        With recurrent networks also ``"internal_states"`` after the step, by part.
        """
        return self._acted("act", states, internal_states, time_percentage)

    @rlgraph_api
    def act_greedily(self, states: Any, internal_states: Any = None, time_percentage: Any = None) -> Any:
        """As `act`, without draws and exploration."""
        return self._acted("act_greedily", states, internal_states, time_percentage)

    def _acted(self, method: str, states: Any, internal_states: Any, time_percentage: Any) -> dict[str, Any]:
        observations, recurrent = {"states": states}, self.algorithm.recurrent_parts
        if recurrent:
            observations["internal_states"] = internal_states
        acted = getattr(self.algorithm, method)(observations, **self._times(method, time_percentage))
        if not isinstance(acted, dict) or "action" not in acted:
            raise AssemblyError(
                f"{self.algorithm.scope_path}.{method}: expected a dict with 'action', as policies return it"
            )
        if not recurrent:
            return {"actions": acted["action"]}
        after: dict[str, Any] = {}
        for part in recurrent:  # what the algorithm called already is not computed twice
            after |= part.features_of(observations)["internal_states"]
        return {"actions": acted["action"], "internal_states": after}

    def _times(self, method: str, time_percentage: Any) -> dict[str, Any]:
        return {"time_percentage": time_percentage} if self.takes(method, "time_percentage") else {}

    # Learning.

    @rlgraph_api
    def update(
        self,
        records: Any,
        beginnings: Any = None,
        importance_weights: Any = None,
        time_percentage: Any = None,
    ) -> Any:
        """One update of the algorithm.

        Args:
            records: a dict of ``states``, ``next_states`` and `fields`, ``[B, ...]`` or ``[T, N, ...]``.
            beginnings: the internal states ``[N, ...]`` before the first step of sequences, by part.
            importance_weights: [B], of records drawn by priority.
            time_percentage: how much of training is done, [].
        """
        return self._update(records, beginnings, importance_weights, time_percentage)

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Put ``records``, a dict of fields ``[B, ...]``, into the memory."""
        return self.memory.insert_records(records)

    @rlgraph_api
    def get_memory_size(self) -> Any:
        """The number of records in the memory, []."""
        return self.memory.get_size()

    @rlgraph_api
    def update_from_memory(self, num_records: Any, time_percentage: Any = None) -> Any:
        """One update on ``num_records`` [] records of the memory; priorities go back to it."""
        memory = self.memory
        if isinstance(memory, PrioritizedReplay):
            records, indices, weights = memory.get_records(num_records, time_percentage)
            results = self._update(records, None, weights, time_percentage)
            memory.update_records(indices, results["priorities"])
        else:
            results = self._update(memory.get_records(num_records), None, None, time_percentage)
        return {name: number for name, number in results.items() if name != "priorities"}

    def _update(self, records: Any, beginnings: Any, weights: Any, time_percentage: Any) -> Any:
        observations, next_observations = {"states": records["states"]}, {"states": records["next_states"]}
        if beginnings is not None:
            observations |= {
                "internal_states": beginnings,
                "resets": records["begins"],
            }
        given = {name: records[name] for name in self.fields if name != "begins"}
        given |= {"observations": observations, "next_observations": next_observations}
        named = self._times("update", time_percentage)
        if self.takes("update", "importance_weights"):
            named["importance_weights"] = weights
        return self.algorithm.update(given, **named)


def _passed_on(algorithm: Algorithm, name: str) -> Callable[..., Any]:
    """An API method that calls the algorithm's of the same name."""

    def method(self: AgentGraph) -> Any:
        return getattr(self.algorithm, name)()

    method.__doc__ = algorithm.api_methods()[name].__doc__
    return method
