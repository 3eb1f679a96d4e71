"""Actors: preprocessing, a policy and an exploration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.softmax import Softmax
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.preprocessing.dict_preprocessor_stack import DictPreprocessorStack
from rlgraph.components.preprocessing.preprocessor_stack import PreprocessorStack
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec, SpaceSpec
from rlgraph.spaces import Dict, IntBox, SpaceError

PROBABILITIES = "get_preprocessed_state_action_and_action_probs"


class ActorComponent(Component):
    """Preprocesses states, gets actions from a policy, and explores.

    Its API methods return dicts. With a recurrent policy, arguments and results include ``internal_states``, whose
    Space is `internal_states_space`.

    Args:
        preprocessor_spec: a list of preprocessing layers, or a mapping of them by the parts of the state; None: none.
        policy_spec: the policy; a spec without ``type`` describes a `Policy`.
        exploration_spec: the exploration; None: the actions of the policy, sampled or greedy as configured.
        action_space: the Space of one action, for specs of policy and exploration; default: that of the policy.
        scope: name among its siblings.

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
        remembers = self.preprocessor is not None and self.preprocessor.has_state
        if remembers or (self.exploration is not None and "reset" in self.exploration.api_methods()):
            self.add_member(_reset)

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states of the policy; None if it has none."""
        return getattr(self.policy, "internal_states_space", None)

    @rlgraph_api
    def get_preprocessed_state_and_action(
        self,
        states: Any,
        other_nn_inputs: Any = None,
        time_percentage: Any = None,
        use_exploration: Any = None,
        internal_states: Any = None,
        env_indices: Any = None,
        action_mask: Any = None,
    ) -> Any:
        """``{"preprocessed_state", "action"}``, and ``"internal_states"`` of a recurrent policy.

        Args:
            states: ``[B, ...]``, as the environments return them.
            other_nn_inputs: a Dict of further inputs of the policy, such as the previous action.
            time_percentage: the fraction of training done, []; for an exploration that changes over time.
            use_exploration: False: the policy's greedy actions, without exploration and sampling; a Python bool or a
                tensor []. Default: true.
            internal_states: of the policy, before this step; default: zeros.
            env_indices: int [B], the environments of the states, for stateful preprocessing.
            action_mask: which of categorical actions are possible, bool ``[B, ..., A]`` (or a container), for policy
                and exploration; default: all.
        """
        preprocessed = states if self.preprocessor is None else self._preprocessed(states, env_indices)
        inputs = preprocessed if other_nn_inputs is None else self._merged(preprocessed, other_nn_inputs)
        masks = _masks(action_mask)
        preferred = self._preferred(inputs, use_exploration, internal_states=internal_states, **masks)
        action = self._explored(preferred, time_percentage, use_exploration, **masks)
        states_behind = {key: preferred[key] for key in ("internal_states",) if key in preferred}
        return {"preprocessed_state": preprocessed, "action": action, **states_behind}

    @rlgraph_api
    def get_preprocessed_state_action_and_action_probs(
        self,
        states: Any,
        other_nn_inputs: Any = None,
        time_percentage: Any = None,
        use_exploration: Any = None,
        internal_states: Any = None,
        env_indices: Any = None,
        action_mask: Any = None,
    ) -> Any:
        """As `get_preprocessed_state_and_action`, and ``"action_probs" [B, ..., A]`` of every action.

        For a container action they are a container. This method exists if all parts of an action are integers drawn
        by the policy.
        """
        acted = self.get_preprocessed_state_and_action(
            states,
            other_nn_inputs,
            time_percentage,
            use_exploration,
            internal_states,
            env_indices,
            action_mask,
        )
        inputs = acted["preprocessed_state"]
        inputs = inputs if other_nn_inputs is None else self._merged(inputs, other_nn_inputs)
        outputs = self.policy.get_adapter_outputs_and_parameters(
            inputs, internal_states=internal_states, **_masks(action_mask)
        )
        return {**acted, "action_probs": self.softmax.softmax(outputs["parameters"])[0]}

    def _preprocessed(self, states: Any, env_indices: Any) -> Any:
        given = (env_indices,) if self.preprocessor.has_state else ()
        return self.preprocessor.preprocess(states, *given)

    def _preferred(self, inputs: Any, use_exploration: Any, **given: Any) -> Any:
        """The policy's result."""
        if self.has_values:
            return self.policy.get_q_values_and_action(inputs, **given)
        # An exploration also works on samples, if the policy draws them.
        if use_exploration is None or isinstance(use_exploration, bool):
            deterministic: Any = True if use_exploration is False else None
        else:
            deterministic = True if self.policy.deterministic else self._not(use_exploration)
        return self.policy.get_action(inputs, deterministic, **given)

    def _explored(self, preferred: Any, time_percentage: Any, use_exploration: Any, **masks: Any) -> Any:
        action = preferred["action"]
        if self.exploration is None or use_exploration is False:
            return action
        takes = inspect.signature(self.exploration.api_methods()["get_action"]).parameters
        if time_percentage is None and takes["time_percentage"].default is inspect.Parameter.empty:
            raise AssemblyError(
                f"{self.scope_path}: {self.exploration!r} changes over training: pass time_percentage, the fraction "
                "of training done"
            )
        given = preferred["q_values"] if self.exploration.explores == "q_values" else action
        # A disabled exploration neither draws nor changes its state.
        return self.exploration.get_action(given, time_percentage, use_exploration, **masks)

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


@rlgraph_api(name="reset")
def _reset(actor: ActorComponent, env_indices: Any) -> None:
    """Reset stateful preprocessing and exploration of the environments ``env_indices [N]``, at starts of episodes."""
    if actor.preprocessor is not None and actor.preprocessor.has_state:
        actor.preprocessor.reset(env_indices)
    if actor.exploration is not None and "reset" in actor.exploration.api_methods():
        actor.exploration.reset(env_indices)


def _masks(action_mask: Any) -> dict[str, Any]:
    """The argument, if given; a policy or exploration without masks is then called without it."""
    return {} if action_mask is None else {"action_mask": action_mask}


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
