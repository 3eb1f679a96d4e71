"""What an actor is built from, in any process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rlgraph.algorithms.action_checks import check_action_sizes
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.components import DictPreprocessorStack, PreprocessorStack
from rlgraph.components.common.action_masks import NAME
from rlgraph.components.common.normalizer import Normalizer, float_parts
from rlgraph.components.preprocessing.text_codes import LONGEST, TextCodes
from rlgraph.core import GraphExecutor, RandomStreams, SpecError, executor_class
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.core.specs.specifiable import call_checked
from rlgraph.environments.masked_states import masked_states
from rlgraph.experience.fragment import FragmentFormat
from rlgraph.experience.frames import frames_of
from rlgraph.experience.previous_steps import PreviousSteps
from rlgraph.learning.actor import Actor
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.spaces import Dict, Space, TextBox, from_spec


@dataclass(frozen=True)
class ActorSpec:
    """Describes an actor; picklable.

    Attributes:
        algorithm: the class of the algorithm.
        state_space, action_space: specs of one raw state and one action.
        options: of the algorithm.
        preprocessing_spec: what states go through first.
        seed: of starting values, the learner's.
        dtype: of all floating tensors.
        action_mask: the part of the states that says which actions are legal; see `Agent`.
        normalize_states: whether states are normalized, or which parts of them; see `Agent`.
        scale_rewards: discount of the returns whose deviation a learner divides rewards by; None: it does not.
        previous_action_and_reward: whether the policy sees those of the step before; see `Agent`.
        backend: name of the backend that acts.
    """

    algorithm: type[Algorithm]
    state_space: Any
    action_space: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    preprocessing_spec: Any = None
    seed: int = DEFAULT_SEED
    dtype: str = "float32"
    action_mask: str | None = NAME
    normalize_states: bool | Sequence[str] = False
    scale_rewards: float | None = None
    previous_action_and_reward: bool = False
    backend: str = "numpy"

    def make_graph(self, experience: Any = None, make: Callable[..., AgentGraph] = AgentGraph) -> AgentGraph:
        """The root component; with an `experience` that of a learner.

        Args:
            experience: what it learns from; None: it only acts.
            make: its class, or what makes it of the same arguments.

        Raises:
            SpecError: an option is wrong, or the Spaces are not those of the algorithm.
        """
        states, actions = from_spec(self.state_space), from_spec(self.action_space)
        check_action_sizes(actions, self.dtype, self.algorithm.action_power)
        masked = masked_states(states, actions, self.action_mask)
        preprocessor: Any = None
        seen = states if masked is None else masked.rest_space
        spec = _with_texts_as_codes(self.preprocessing_spec, seen)
        if spec is not None:
            preprocessor = _preprocessor(spec)
            seen = preprocessor.get_preprocessed_space(seen.with_batch_rank()).without_ranks()
        previous = PreviousSteps(seen, actions) if self.previous_action_and_reward else None
        spaces = {"state_space": seen if previous is None else previous.input_space, "action_space": actions}
        algorithm = call_checked(self.algorithm, (), self.options, "agent", handed=spaces)
        normalize = _normalize(self.normalize_states, seen)
        scale = Normalizer(has_mean=False, scope="scale-rewards") if self.scale_rewards is not None else None
        return make(algorithm, preprocessor, experience, masked, normalize, scale, previous)

    def of_actor(self, number: int, count: int) -> ActorSpec:
        """The spec of actor `number` of `count`."""
        return replace(self, options=self.algorithm.options_of_actor(self.options, number, count))

    @property
    def raw_space(self) -> Space:
        """One raw state."""
        return from_spec(self.state_space)

    def build(self, slots: int = 1, draw_seed: int | Sequence[int] | None = None) -> Actor:
        """The actor alone; see `make_executor`.

        Args:
            slots: number of environments.
            draw_seed: of the random numbers it draws, such as ``[seed, actor, incarnation]``; default: `seed`.

        Raises:
            SpecError: see `check_is_fixed`.
        """
        graph = self.make_graph()
        check_is_fixed(graph)
        streams = None if draw_seed is None else RandomStreams(draw_seed)
        return Actor(self.make_executor(graph), graph, self.raw_space, slots, streams)

    def make_executor(
        self, graph: AgentGraph, methods: Sequence[str] | None = None, backend: str | None = None
    ) -> GraphExecutor:
        """The executor of an actor alone; on NumPy no framework is imported.

        Args:
            graph: the root component, of `make_graph`.
            methods: the API methods that it has; default: those that an actor needs.
            backend: name of a backend; default: that of the spec.
        """
        backend = self.backend if backend is None else backend
        methods = graph.acting_methods if methods is None else methods
        return executor_class(backend)(
            graph,
            graph.acting_spaces(self.raw_space, methods),
            action_space=from_spec(self.action_space),
            backend=backend,
            execution_spec={
                "seed": self.seed,
                "dtype": self.dtype,
                "acting_methods": methods,
                "act_on": "backend",
            },
            api_methods=methods,
        )

    def fragment_format(
        self, graph: AgentGraph, internal_state_interval: int | None = None, remembered: Space | None = None
    ) -> FragmentFormat:
        """How fragments of the actor become bytes.

        Args:
            graph: the root component, of `make_graph`.
            internal_state_interval: of the learner's experience.
            remembered: what is kept of a step, a Dict; default: what the algorithm remembers.
        """
        if remembered is None and graph.algorithm.behaviour_outputs:
            remembered = Dict(dict(graph.algorithm.behaviour_outputs))
        states = graph.policy_input.space(self.raw_space)
        return FragmentFormat(
            states,
            from_spec(self.action_space),
            graph.algorithm.internal_states_space,
            remembered,
            frames_of(states),
            dtype=self.dtype,
            internal_state_interval=internal_state_interval,
        )


def check_is_fixed(graph: AgentGraph) -> None:
    """Check that acting changes nothing of a graph but its internal states, so that actors can be elsewhere.

    Raises:
        SpecError: layers of the preprocessor learn from the states that they see.
    """
    if graph.preprocessor is not None and graph.preprocessor.learns:
        raise SpecError(
            "expected layers that learn nothing: actors of other processes would each learn from their own states; "
            "normalize_states does without",
            path="preprocessing_spec",
        )


def _with_texts_as_codes(spec: Any, states: Space) -> Any:
    """`spec` with a layer that makes numbers of each text, so that records, messages and devices need none."""
    texts = {
        path: [TextCodes(box.max_length or LONGEST)]
        for path, box in states.flatten().items()
        if isinstance(box, TextBox)
    }
    if not texts:
        return spec
    if isinstance(states, TextBox):
        return [*texts[""], *(spec or ())]
    return {**texts, **(spec or {})} if spec is None or _is_by_part(spec) else spec


def _is_by_part(spec: Any) -> bool:
    return isinstance(spec, Mapping) and "type" not in spec and "layers" not in spec


def _preprocessor(spec: Any) -> PreprocessorStack | DictPreprocessorStack:
    """A stack for a list of layers, one by part of the state for a mapping of paths."""
    if isinstance(spec, DictPreprocessorStack):
        return spec
    if _is_by_part(spec):
        return DictPreprocessorStack.from_spec(spec, path="preprocessing_spec")
    return PreprocessorStack.from_spec(spec, path="preprocessing_spec")


def _normalize(wanted: Any, states: Space) -> Normalizer | None:
    """What normalizes `states`; None: nothing is wanted.

    Raises:
        SpecError: a part is wanted that is not there or not floats, or there are no floats.
    """
    if wanted is False:
        return None
    floats = float_parts(states)
    chosen = floats if wanted is True else wanted
    if not isinstance(chosen, list | tuple) or not floats or not set(chosen) <= set(floats):
        there = "the states have none" if not floats else ", ".join(map(repr, floats))
        expected = "true" if floats == [""] else f"true, or a list of parts that are floats: {there}"
        raise SpecError(f"expected {expected}, given {wanted!r}", path="normalize_states")
    return Normalizer(tuple(chosen))
