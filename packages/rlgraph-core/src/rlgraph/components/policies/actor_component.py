"""Actors: preprocessing, a policy and an exploration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.observations import Observations
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

    Its API methods take `observations`: states ``[B, ...]`` as the environments return them, or a bundle of them and
    more (see `Observations`). They return dicts; with a recurrent policy these include ``internal_states`` as
    observations have them, of the Space `internal_states_space`.

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
        observations: Any,
        other_nn_inputs: Any = None,
        time_percentage: Any = None,
        use_exploration: Any = None,
        env_indices: Any = None,
    ) -> Any:
        """``{"preprocessed_state", "action"}``, and ``"internal_states"`` of a recurrent policy.

        Args:
            observations: see the class.
            other_nn_inputs: a Dict of further inputs of the policy, such as the previous action.
            time_percentage: the fraction of training done, []; for an exploration that changes over time.
            use_exploration: False: the policy's greedy actions, without exploration and sampling; a Python bool or a
                tensor []. Default: true.
            env_indices: int [B], the environments of the states, for stateful preprocessing.
        """
        return self._acted(observations, other_nn_inputs, time_percentage, use_exploration, env_indices)[1]

    @rlgraph_api
    def get_preprocessed_state_action_and_action_probs(
        self,
        observations: Any,
        other_nn_inputs: Any = None,
        time_percentage: Any = None,
        use_exploration: Any = None,
        env_indices: Any = None,
    ) -> Any:
        """As `get_preprocessed_state_and_action`, and ``"action_probs" [B, ..., A]`` of every action.

        For a container action they are a container. This method exists if all parts of an action are integers drawn
        by the policy.
        """
        seen, acted = self._acted(
            observations, other_nn_inputs, time_percentage, use_exploration, env_indices
        )
        parameters = self.policy.get_adapter_outputs_and_parameters(seen)["parameters"]
        return {**acted, "action_probs": self.softmax.softmax(parameters)[0]}

    def _acted(
        self,
        observations: Any,
        other_nn_inputs: Any,
        time_percentage: Any,
        use_exploration: Any,
        env_indices: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the policy sees, and the results."""
        given = Observations.of(observations, self.scope_path)
        states = given.states if self.preprocessor is None else self._preprocessed(given.states, env_indices)
        inputs = states if other_nn_inputs is None else self._merged(states, other_nn_inputs)
        seen = given.bundle(states=inputs)
        preferred = self._preferred(seen, use_exploration)
        action = self._explored(preferred, time_percentage, use_exploration, seen)
        carried = {key: preferred[key] for key in ("internal_states",) if key in preferred}
        return seen, {"preprocessed_state": states, "action": action, **carried}

    def _preprocessed(self, states: Any, env_indices: Any) -> Any:
        given = (env_indices,) if self.preprocessor.has_state else ()
        return self.preprocessor.preprocess(states, *given)

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

    def _explored(self, preferred: Any, time_percentage: Any, use_exploration: Any, observations: Any) -> Any:
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
        return self.exploration.get_action(given, time_percentage, use_exploration, observations)

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
