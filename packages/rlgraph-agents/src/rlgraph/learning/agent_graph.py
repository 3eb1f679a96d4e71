"""The component around an algorithm: preprocessing before it acts, a memory before it learns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.components import DemonstrationReplay, DictPreprocessorStack, PreprocessorStack
from rlgraph.components.common.normalizer import Normalizer
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.graph.trace import updating
from rlgraph.environments.masked_states import OBSERVATION, MaskedStates, as_bools
from rlgraph.environments.state_bounds import Report, ReportOnce
from rlgraph.experience.experience import Experience
from rlgraph.experience.no_experience import NoExperience
from rlgraph.experience.previous_steps import PREVIOUS, PreviousSteps
from rlgraph.experience.sequences import suited_experience
from rlgraph.learning.policy_input import PolicyInput
from rlgraph.spaces import Dict, FloatBox, Space

#: What `Algorithm.update` returns per item [B]: for the memory, and for whoever gave the batch.
PER_ITEM = ("priorities", "loss_per_item")
#: The API methods that act on raw states: what exports are made of, from a graph that only acts.
ON_RAW_STATES = ("get_greedy_actions", "get_sampled_actions")


class AgentGraph(Component):
    """The root component of actors and learners: the same scopes, variables and starting values in both.

    Args:
        algorithm: the algorithm.
        preprocessor: what states go through before it; None: nothing.
        experience: what it learns from; None: it only acts.
        masked: the raw states, if a part of them is a mask.
        normalize: what the algorithm's states go through at last; records hold them as they are.
        scale_rewards: what rewards of records go through before the algorithm learns from them.
        previous: what the algorithm's states have of the steps before them; None: nothing.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        preprocessor: PreprocessorStack | DictPreprocessorStack | None = None,
        experience: Experience | None = None,
        masked: MaskedStates | None = None,
        normalize: Normalizer | None = None,
        scale_rewards: Normalizer | None = None,
        previous: PreviousSteps | None = None,
        scope: str = "agent",
    ):
        self.algorithm, self.preprocessor = algorithm, preprocessor
        self.normalize, self.scale_rewards = normalize, scale_rewards if experience else None
        #: The raw states, if a part of them is a mask.
        self.masked, self.previous = masked, previous
        #: The structure of states as the algorithm sees them.
        self.policy_input = PolicyInput(preprocessor, masked, previous)
        #: Takes floats of states outside their bounds, of all environments that its actors act in.
        self.report_bounds: Report = ReportOnce()
        acts_only = experience is None
        #: What it learns from: that which was given, or what suits recurrent networks.
        self.experience = experience = suited_experience(
            experience or NoExperience(), bool(algorithm.recurrent_parts)
        )
        if algorithm.behaviour_outputs and experience.learns and not experience.is_sequential:
            raise AssemblyError(
                f"{type(algorithm).__name__}.behaviour_outputs: expected an experience of rollouts, given "
                f"{type(experience).__name__}"
            )
        experience.remembered = algorithm.behaviour_outputs
        self.sequences = experience.sequences
        #: Where `update_from_memory` draws records; None: there is none.
        self.memory: Any = experience.memory
        self._is_prioritized = experience.is_prioritized
        #: Whether what data sets bring stays in the memory.
        self.keeps_demonstrations = isinstance(self.memory, DemonstrationReplay)
        if self._is_prioritized and not self.takes("update", "importance_weights"):
            found = f"update of {type(algorithm).__name__} takes no importance_weights"
            if self.sequences is not None:
                found += ", which it needs for memories of sequences, and so for recurrent layers"
            expected, path = (
                ("'replay_memory'", "memory_spec.type")
                if self.sequences is None
                else ("layers without memory", "network_spec")
            )
            raise SpecError(f"expected {expected}: {found}", path=path)
        #: Fields of a record besides states and next states.
        self.fields = experience.fields(bool(algorithm.recurrent_parts))
        #: The factor of the values of next states, where it is the same for all of them.
        self.discount = experience.discount
        given = (algorithm, preprocessor, self.memory, self.sequences, self.normalize, self.scale_rewards)
        parts = [part for part in given if part is not None]
        exists = {
            "preprocess": preprocessor is not None,
            "preprocess_frozen": preprocessor is not None and preprocessor.learns,
            "get_greedy_actions": previous is None,  # raw states do not have the steps before them
            "get_sampled_actions": previous is None and acts_only,  # for exports
            "update": "update" in algorithm.api_methods(),
            **dict.fromkeys(("insert_records", "get_memory_size", "update_from_memory"), bool(self.memory)),
            "get_number_of_demonstrations": self.keeps_demonstrations,
        }
        off = {name for name, is_there in exists.items() if not is_there}
        super().__init__(*parts, scope=scope, switched_off_apis=off)
        # The algorithm's further API methods are the agent's as well.
        for name in algorithm.api_methods():
            if name in algorithm.schedule or name.startswith("get_"):
                self.add_member(rlgraph_api(name=name)(self._passed_on(name)))

    # Spaces.

    def table_space(self, state_space: Space) -> Dict | None:
        """The Space of the rows of an actor's table ``[N, ...]``, by part; None if nothing keeps state.

        Args:
            state_space: one raw state, without ranks.
        """
        spaces: dict[str, Any] = dict(self.algorithm.internal_states_space or {})
        for part in self._noisy_parts():
            spaces |= dict(part.internal_states_space)
        if self.preprocessor is not None:
            rest = state_space if self.masked is None else self.masked.rest_space
            own = self.preprocessor.get_internal_states_space(rest.with_batch_rank())
            spaces |= {"preprocessor": own} if own is not None else {}
        return Dict(spaces, add_batch_rank=True) if spaces else None

    def acting_spaces(self, state_space: Space, methods: Sequence[str]) -> dict[str, Any]:
        """The Spaces of the arguments of API methods that act.

        Args:
            state_space: one raw state, without ranks.
            methods: of `acting_methods` and `front_methods`.
        """
        raw, table = state_space.with_batch_rank(), dict(self.table_space(state_space) or {})
        acting = {key: space for key, space in table.items() if key != "preprocessor"}
        spaces: dict[str, Any] = {"states": self.policy_input.space(state_space).with_batch_rank()}
        for method in methods:
            kept: Any = Dict(acting, add_batch_rank=True) if acting else None
            if method in ON_RAW_STATES:
                kept = Dict(table, add_batch_rank=True) if table else None
            elif method.startswith("preprocess"):
                kept = table.get("preprocessor")
            if not method.startswith("act"):
                spaces[f"{method}.states"] = raw
            if kept is not None:
                spaces[f"{method}.internal_states"] = kept
            greedy = method == "get_greedy_actions" or method.startswith("act_greedily")
            if not method.startswith("preprocess") and self.takes(
                "act_greedily" if greedy else "act", "progress"
            ):
                spaces[f"{method}.progress"] = FloatBox(0.0, 1.0)
        return spaces

    def takes(self, method: str, argument: str) -> bool:
        """Whether the algorithm has an API method with this argument."""
        methods = self.algorithm.api_methods()
        return method in methods and argument in inspect.signature(methods[method]).parameters

    # Acting.

    @property
    def acting_methods(self) -> tuple[str, ...]:
        """The API methods that an actor needs."""
        if self.preprocessor is None:
            return ("act", "act_greedily")
        return ("act", "act_greedily", "preprocess", *(("preprocess_frozen",) * self.preprocessor.learns))

    @property
    def front_methods(self) -> tuple[str, ...]:
        """The further API methods that act, for the front of an agent."""
        methods = ("act_with_extras", "act_greedily_with_extras", "get_greedy_actions")
        return tuple(method for method in methods if method not in self.switched_off_apis)

    @rlgraph_api
    def preprocess(self, states: Any, internal_states: Any = None) -> Any:
        """``{"states"}`` as the algorithm sees raw ``states [B, ...]``, and the ``"internal_states"`` after it."""
        return self._preprocessed("preprocess", states, internal_states)

    @rlgraph_api
    def preprocess_frozen(self, states: Any, internal_states: Any = None) -> Any:
        """As `preprocess`; layers that learn from the states that they see do not."""
        return self._preprocessed("preprocess_frozen", states, internal_states)

    def _preprocessed(self, method: str, states: Any, internal_states: Any) -> dict[str, Any]:
        preprocessor, masked = self.preprocessor, self.masked
        assert preprocessor is not None
        rest, mask = (states, None) if masked is None else masked.split(states)
        if not preprocessor.has_state:
            results = {"states": getattr(preprocessor, method)(rest)}
        else:
            seen = getattr(preprocessor, method)(rest, internal_states)
            results = {"states": seen["output"], "internal_states": seen["internal_states"]}
        return results if masked is None else {**results, "states": masked.join(results["states"], mask)}

    def observed(self, states: Any) -> dict[str, Any]:
        """The bundle of observations of ``states`` as the algorithm sees them: the mask among them apart."""
        masked = self.policy_input.mask
        rest, mask = (states, None) if masked is None else masked.split(states)
        previous = None
        if self.previous is not None:
            rest, previous = rest[OBSERVATION], rest[PREVIOUS]
        seen = rest if self.normalize is None else self.normalize.normalize(rest)
        if self.previous is not None:
            joined = {OBSERVATION: seen, PREVIOUS: previous}
            seen = self._as_vector(seen, previous) if self.previous.is_flat else joined
        observations = {"states": seen}
        if masked is not None:
            observations["action_mask"] = as_bools(mask, masked, self._as_bools)
        return observations

    @graph_fn
    def _as_vector(self, ops: Any, states: Any, previous: Any) -> Any:
        return ops.concat([states, previous], axis=-1)

    @graph_fn
    def _as_bools(self, ops: Any, mask: Any, path: str) -> Any:
        mask = ops.astype(mask, "bool")
        if self.masked is None or (columns := self.masked.flat.get(path)) is None:
            return mask
        sizes = np.sum(columns < mask.shape[-1], axis=-1).ravel().tolist()
        parts = zip(ops.split(mask, sizes, axis=-1), sizes, strict=True)
        before, widest = [(0, 0)] * (len(mask.shape) - 1), columns.shape[-1]
        padded = [ops.pad(part, [*before, (0, widest - size)], False) for part, size in parts]
        return ops.reshape(ops.concat(padded, axis=-1), (*ops.shape(mask)[:-1], *columns.shape))

    @rlgraph_api
    def act(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """``{"actions"}`` for ``states [B, ...]`` as the algorithm sees them, drawn or explored.

        Where acting keeps state also ``"internal_states"`` after the step, by part, and ``"remembered"`` if the
        algorithm remembers something.
        """
        return self._acted("act", states, internal_states, progress)[0]

    @rlgraph_api
    def act_greedily(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """As `act`, without draws and exploration."""
        return self._acted("act_greedily", states, internal_states, progress)[0]

    @rlgraph_api
    def act_with_extras(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """As `act`, with ``"extras"``: a dict of what else the algorithm returned, from the same draws."""
        results, extras = self._acted("act", states, internal_states, progress)
        return {**results, "extras": extras}

    @rlgraph_api
    def act_greedily_with_extras(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """As `act_with_extras`, without draws and exploration."""
        results, extras = self._acted("act_greedily", states, internal_states, progress)
        return {**results, "extras": extras}

    @rlgraph_api
    def get_greedy_actions(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """The best actions for raw ``states [B, ...]``, e.g. for exports.

        Where acting keeps state, `internal_states` are all of it, by part, and the results ``{"actions",
        "internal_states"}``.
        """
        return self._acted_on_raw("act_greedily", states, internal_states, progress)

    @rlgraph_api
    def get_sampled_actions(self, states: Any, internal_states: Any = None, progress: Any = None) -> Any:
        """As `get_greedy_actions`, drawn or explored."""
        return self._acted_on_raw("act", states, internal_states, progress)

    def _acted_on_raw(self, method: str, states: Any, internal_states: Any, progress: Any) -> Any:
        seen, after = states, {}
        if self.preprocessor is not None:
            of_preprocessor = internal_states["preprocessor"] if self.preprocessor.has_state else None
            preprocess = "preprocess_frozen" if self.preprocessor.learns else "preprocess"
            results = self._preprocessed(preprocess, states, of_preprocessor)
            seen = results["states"]
            after = {"preprocessor": results["internal_states"]} if self.preprocessor.has_state else {}
        results, _ = self._acted(method, seen, internal_states, progress)
        after |= results.get("internal_states", {})
        return {"actions": results["actions"], "internal_states": after} if after else results["actions"]

    def _acted(
        self, method: str, states: Any, internal_states: Any, progress: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Actions, with internal states if there are any; and what else the algorithm returned."""
        observations, times = self.observed(states), self._times(method, progress)
        recurrent, noisy = self.algorithm.recurrent_parts, self._noisy_parts()
        if recurrent or noisy:
            observations["internal_states"] = internal_states
        if method == "act_greedily":
            observations["training"] = False  # no noise of layers
        acted = getattr(self.algorithm, method)(observations, **times)
        if not isinstance(acted, dict) or "action" not in acted:
            raise AssemblyError(
                f"{self.algorithm.scope_path}.{method}: expected a dict with 'action', as policies return it"
            )
        extras = {name: value for name, value in acted.items() if name not in ("action", "internal_states")}
        results = {"actions": acted["action"]}
        if self.algorithm.behaviour_outputs and method == "act":
            results["remembered"] = {name: acted[name] for name in self.algorithm.behaviour_outputs}
        if recurrent or noisy:
            after: dict[str, Any] = {}
            for part in recurrent:  # what the algorithm called already is not computed twice
                after |= part.features_of(observations)["internal_states"]
            for part in noisy:
                after |= part.next_internal_states(observations, **times)
            results["internal_states"] = after
        return results, extras

    def _noisy_parts(self) -> list[Any]:
        """The parts of the algorithm whose noise goes on from step to step."""
        return [
            part for part in self.algorithm.sub_components.values() if hasattr(part, "next_internal_states")
        ]

    def _times(self, method: str, progress: Any) -> dict[str, Any]:
        return {"progress": progress} if self.takes(method, "progress") else {}

    # Learning.

    @rlgraph_api
    def update(
        self,
        records: Any,
        beginnings: Any = None,
        importance_weights: Any = None,
        progress: Any = None,
    ) -> Any:
        """One update of the algorithm.

        Args:
            records: a dict of ``states``, ``next_states`` and `fields`, ``[B, ...]`` or ``[T, N, ...]``.
            beginnings: the internal states ``[N, ...]`` before the first step of sequences, by part.
            importance_weights: [B], of records drawn by priority.
            progress: how much of training is done, [].
        """
        results = self._learned("update", records, beginnings, importance_weights, progress)
        if self._is_prioritized or not isinstance(results, dict):
            return results
        # Nobody asks for priorities, and they cost what a loss costs.
        return {name: result for name, result in results.items() if name != "priorities"}

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Put ``records``, a dict of fields ``[B, ...]``, into the memory."""
        return self.memory.insert_records(records)

    @rlgraph_api
    def get_memory_size(self) -> Any:
        """The number of records in the memory, []."""
        return self.memory.get_size()

    @rlgraph_api
    def get_number_of_demonstrations(self) -> Any:
        """The number of demonstrations in the memory, []."""
        return self.memory.get_number_of_demonstrations()

    @rlgraph_api
    def update_from_memory(self, num_records: Any, progress: Any = None) -> Any:
        """One update on ``num_records`` [] records of the memory; priorities go back to it."""
        memory = self.memory
        if self._is_prioritized:
            records, indices, weights = memory.get_records(num_records, progress)
            results = self._learned("update", records, None, weights, progress)
            memory.update_records(indices, results["priorities"])
        else:
            results = self._learned("update", memory.get_records(num_records), None, None, progress)
        return {name: number for name, number in results.items() if name not in PER_ITEM}

    def _learned(self, method: str, records: Any, beginnings: Any, weights: Any, progress: Any) -> Any:
        """What a method of the algorithm that takes records makes of them."""
        updates = method == "update"
        if self.sequences is None:
            given = self._of_steps(records, beginnings)
        else:
            given = self._of_sequences(records, weights)
            weights = given["weights"]
        if updates:  # next states are for targets, which are only evaluated
            given["observations"]["training"] = True
        if self.scale_rewards is not None:
            scaled = self.scale_rewards.normalize
            given |= {name: scaled(given[name]) for name in self.experience.reward_fields}
        named = self._times(method, progress)
        if self.takes(method, "importance_weights"):
            named["importance_weights"] = weights
        with updating(updates):
            results = getattr(self.algorithm, method)(given, **named)
        if updates and self.memory is not None and not isinstance(results, dict):
            raise AssemblyError(
                f"{type(self.algorithm).__name__}.update: with a memory expected a dict, such as "
                f"{{'loss': losses['loss']}}: the keys of {results!r} are not known yet"
            )
        if self.sequences is not None and isinstance(results, dict) and "priorities" in results:
            priorities = self.sequences.get_priorities(results["priorities"], records["weights"])
            results = {**results, "priorities": priorities}
        return results

    def _of_steps(self, records: Any, beginnings: Any) -> dict[str, Any]:
        """What an algorithm learns from, of transitions or rollouts."""
        observed = {
            name.replace("states", "observations"): self.observed(records[name])
            for name in self.experience.state_fields
        }
        if beginnings is not None:
            observed["observations"] |= {
                "internal_states": beginnings,
                "resets": records["begins"],
            }
        given = {name: records[name] for name in self.fields if name != "begins"} | observed
        if self.discount is not None and "discounts" not in self.fields:
            given["discounts"] = self._same_discount(records["rewards"])
        return given

    def _of_sequences(self, records: Any, weights: Any) -> dict[str, Any]:
        """What an algorithm learns from, of sequences: their steps as items."""
        items = self.sequences.get_items(records, weights)
        observations, reached = self.observed(items.pop("states")), self.observed(items.pop("next_states"))
        sequences = {**items.pop("sequences"), "states": observations["states"]}
        if "burn_in" in sequences:
            before = sequences["burn_in"]
            states = self.observed(before["states"])["states"]
            sequences["burn_in"] = {"states": states, "resets": before["resets"]}
        observations["sequences"] = sequences
        next_observations = {**reached, "sequences": sequences, "after": items.pop("after")}
        return {**items, "observations": observations, "next_observations": next_observations}

    @graph_fn
    def _same_discount(self, ops: Any, rewards: Any) -> Any:
        return ops.full_like(rewards, self.discount)

    def _passed_on(self, name: str) -> Callable[..., Any]:
        """An API method that calls the algorithm's of this name, on states or on records as `update`."""
        own = self.algorithm.api_methods()[name]
        _, *arguments = inspect.signature(own).parameters

        def of_states(self: AgentGraph, states: Any) -> Any:
            return getattr(self.algorithm, name)(self.observed(states))

        def of_records(
            self: AgentGraph, records: Any, importance_weights: Any = None, progress: Any = None
        ) -> Any:
            return self._learned(name, records, None, importance_weights, progress)

        def of_nothing(self: AgentGraph) -> Any:
            return getattr(self.algorithm, name)()

        method: Any = {"observations": of_states, "records": of_records}.get(
            "".join(arguments[:1]), of_nothing
        )
        method.__doc__ = own.__doc__
        return method
