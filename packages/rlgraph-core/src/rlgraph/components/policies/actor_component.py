"""Actors: preprocessing, a policy and an exploration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.observations import Observations
from rlgraph.components.common.softmax import Softmax
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.networks.layer_chain import state_key
from rlgraph.components.preprocessing.dict_preprocessor_stack import DictPreprocessorStack
from rlgraph.components.preprocessing.preprocessor_stack import PreprocessorStack
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, SpaceSpec
from rlgraph.spaces import Dict, IntBox, SpaceError, from_spec

PROBABILITIES = "get_preprocessed_state_action_and_action_probs"


class ActorComponent(Component):
    """Preprocesses states, gets actions from a policy, and explores.

    Its API methods take `observations`: states ``[B, ...]`` as the environments return them, or a bundle of them and
    more (see `Observations`). They return dicts; if a part keeps state (a recurrent policy, a frame stack,
    time-correlated noise), these include ``internal_states`` as observations have them, those of the next step (see
    `get_internal_states_space`). Where they are zero, an episode begins.

    Args:
        preprocessor_spec: a list of preprocessing layers, or a mapping of them by the parts of the state; None: none.
        policy_spec: the policy; a spec without ``type`` describes a `Policy`.
        exploration_spec: the exploration; None: the actions of the policy, sampled or greedy as configured.
        action_space: the Space of one action, for specs of policy and exploration; default: that of the policy.

    Raises:
        SpecError: an invalid spec; a component that is not a policy; an exploration of action values with a policy
            without action values.
    """

    def __init__(
        self,
        preprocessor_spec: NetworkSpec,
        policy_spec: ComponentSpec,
        exploration_spec: ComponentSpec = None,
        action_space: SpaceSpec = None,
        scope: str = "actor-component",
        **kwargs: Any,
    ):
        self.preprocessor = _preprocessor(preprocessor_spec, f"{scope}.preprocessor_spec")
        self.policy = _policy(policy_spec, action_space, f"{scope}.policy_spec")
        methods = self.policy.api_methods()
        self.has_values = "get_q_values_and_action" in methods
        if not self.has_values and "get_action" not in methods:
            raise SpecError(
                "expected a policy, with the API method get_action or get_q_values_and_action, "
                f"given {self.policy!r}",
                path=f"{scope}.policy_spec",
            )
        space = self.policy.action_space if action_space is None else action_space
        where = f"{scope}.exploration_spec"
        self.exploration: Any = (
            None
            if exploration_spec is None
            else Exploration.from_spec(exploration_spec, path=where, action_space=space)
        )
        if self.exploration is not None and self.exploration.explores == "q_values" and not self.has_values:
            raise SpecError(
                f"{self.exploration!r} explores action values, which {self.policy!r} does not have",
                path=where,
            )
        self.softmax = Softmax()
        boxes = self.policy.action_space.flatten().values()
        if self.has_values or not all(isinstance(box, IntBox) for box in boxes):
            kwargs["switched_off_apis"] = {PROBABILITIES, *kwargs.get("switched_off_apis", ())}
            parts = [self.policy]
        else:
            parts = [self.policy, self.softmax]
        super().__init__(*parts, *filter(None, [self.preprocessor, self.exploration]), scope=scope, **kwargs)

    def get_internal_states_space(self, state_space: Any) -> Dict | None:
        """The Space of the internal states, with a batch rank, by component, for states of `state_space`."""
        spaces: dict[str, Any] = {}
        for part in (self.policy, self.exploration):
            spaces |= getattr(part, "internal_states_space", None) or {}
        if self.preprocessor is not None and self.preprocessor.has_state:
            raw = from_spec(state_space).with_batch_rank()
            spaces[state_key(self.preprocessor)] = self.preprocessor.get_internal_states_space(raw)
        return Dict(spaces) if spaces else None

    @rlgraph_api
    def get_preprocessed_state_and_action(
        self,
        observations: Any,
        other_nn_inputs: Any = None,
        progress: Any = None,
        use_exploration: Any = None,
    ) -> Any:
        """``{"preprocessed_state", "action"}``, and ``"internal_states"`` of the next step if a part keeps state.

        Args:
            observations: see the class.
            other_nn_inputs: a Dict of further inputs of the policy, such as the previous action.
            progress: the fraction of training done, []; for an exploration that changes over time.
            use_exploration: False: the policy's greedy actions, without exploration and sampling; a Python bool or a
                tensor []. Default: true.
        """
        return self._acted(observations, other_nn_inputs, progress, use_exploration)[1]

    @rlgraph_api
    def get_preprocessed_state_action_and_action_probs(
        self,
        observations: Any,
        other_nn_inputs: Any = None,
        progress: Any = None,
        use_exploration: Any = None,
    ) -> Any:
        """As `get_preprocessed_state_and_action`, and ``"action_probs" [B, ..., A]`` of every action.

        For a container action they are a container. This method exists if all parts of an action are integers drawn
        by the policy.
        """
        seen, acted = self._acted(observations, other_nn_inputs, progress, use_exploration)
        parameters = self.policy.get_adapter_outputs_and_parameters(seen)["parameters"]
        return {**acted, "action_probs": self.softmax.softmax(parameters)[0]}

    def _acted(
        self, observations: Any, other_nn_inputs: Any, progress: Any, use_exploration: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the policy sees, and the results."""
        given = Observations.of(observations, self.scope_path)
        states, carried = self._preprocessed(given)
        inputs = states if other_nn_inputs is None else self._merged(states, other_nn_inputs)
        seen = given.bundle(states=inputs)
        preferred = self._preferred(seen, use_exploration)
        action = self._explored(preferred, progress, use_exploration, seen)
        carried |= preferred.get("internal_states", {})
        if hasattr(self.exploration, "next_internal_states"):
            carried |= self.exploration.next_internal_states(seen, progress, use_exploration)
        results = {"preprocessed_state": states, "action": action}
        return seen, {**results, "internal_states": carried} if carried else results

    def _preprocessed(self, given: Observations) -> tuple[Any, dict[str, Any]]:
        """The preprocessed states, and the internal states after them."""
        if self.preprocessor is None:
            return given.states, {}
        if not self.preprocessor.has_state:
            return self.preprocessor.preprocess(given.states), {}
        key = state_key(self.preprocessor)
        result = self.preprocessor.preprocess(given.states, given.states_of(key, self.scope_path))
        return result["output"], {key: result["internal_states"]}

    def _preferred(self, observations: Any, use_exploration: Any) -> Any:
        """The policy's result."""
        if self.has_values:
            return self.policy.get_q_values_and_action(observations)
        # An exploration also works on samples, if the policy draws them.
        if use_exploration is None or isinstance(use_exploration, bool):
            deterministic: Any = True if use_exploration is False else None
        else:
            deterministic = True if self.policy.deterministic else self._not(use_exploration)
        return self.policy.get_action(observations, deterministic)

    def _explored(self, preferred: Any, progress: Any, use_exploration: Any, observations: Any) -> Any:
        action = preferred["action"]
        if self.exploration is None or use_exploration is False:
            return action
        takes = inspect.signature(self.exploration.api_methods()["get_action"]).parameters
        if progress is None and takes["progress"].default is inspect.Parameter.empty:
            raise AssemblyError(
                f"{self.scope_path}: {self.exploration!r} changes over training: pass progress, the fraction "
                "of training done"
            )
        given = preferred["q_values"] if self.exploration.explores == "q_values" else action
        return self.exploration.get_action(given, progress, use_exploration, observations)

    @graph_fn
    def _not(self, ops: Any, flag: Any) -> Any:
        return ~flag

    @graph_fn
    def _merged(self, ops: Any, states: Any, others: Any) -> Any:
        if (
            not isinstance(states, Mapping)
            or not isinstance(others, Mapping)
            or states.keys() & others.keys()
        ):
            raise SpaceError(
                "other_nn_inputs: expected a Dict, and preprocessed states that are a Dict with "
                "other keys: both are merged into one Dict for the policy"
            )
        return {**states, **others}


def _preprocessor(spec: Any, path: str) -> Any:
    if spec is None or isinstance(spec, DictPreprocessorStack):
        return spec
    by_parts = isinstance(spec, Mapping) and "type" not in spec and "layers" not in spec
    kind: Any = DictPreprocessorStack if by_parts else PreprocessorStack
    return kind.from_spec(spec, path=path)


def _policy(spec: Any, action_space: Any, path: str) -> Any:
    if isinstance(spec, Component):
        return spec
    given = {} if action_space is None else {"action_space": action_space}
    if isinstance(spec, Mapping) and "type" not in spec:
        spec = {"type": "policy", **spec}
    return Component.from_spec(spec, path=path, **given)
