"""Steps environments many times in one call."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.preprocessing.preprocess_layer import with_shape
from rlgraph.components.steppers.environment_list import make_environments
from rlgraph.components.steppers.rollout import Rollout
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, loop, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.ops import map_nested
from rlgraph.core.specs.spec_types import ComponentSpec, SpaceSpec
from rlgraph.spaces import BoolBox, BoxSpace, Dict, FloatBox, Space, SpaceError, from_spec
from rlgraph.spaces.errors import mismatch

#: Default API methods of actors; the first existing one is used.
ACTOR_METHODS = ("get_preprocessed_state_and_action", "get_action", "get_deterministic_action")
#: Results of the actor with a fixed meaning.
KNOWN = ("action", "internal_states")


class EnvironmentStepper(Component):
    """Acts `num_steps` times in one or several environments in one call.

    The environments are stepped on the host; the actor is computed by the backend. An **actor** is any component with
    an API method whose first argument is states ``[N, ...]``, one row per environment, and which returns a dict with
    ``action [N, ...]``: a policy, an actor component. With internal states it is given observations, ``{"states",
    "internal_states"}``. If the method has arguments ``progress`` or ``use_exploration``, it receives them.

    Environments continue from call to call. One that ends is reset in the same step; the state of its episode (internal
    states, previous action and reward) is then zero. Checkpoints do not contain environments, so a checkpoint is a
    reset point: after a load all environments restart, with seeds from this component's stream. A run that continues
    after a save equals a run resumed from it if it calls `reset` there. Small networks act fastest with
    ``execution_spec={"acting_methods": ["step"]}``, on every backend.

    Args:
        environment_spec: an environment, its registered name, a mapping with ``type`` and arguments, a function that
            returns one; or a list of those.
        actor_component_spec: the actor, or its spec.
        num_steps: number of steps, T.
        num_environments: N; then results are ``[T, N, ...]``. None: one environment, and results are ``[T, ...]``.
        internal_states_space: Space of the actor's internal states, without ranks; the actor then receives
            ``internal_states [N, ...]`` among the observations, zeros where an episode begins, and returns them.
            Default: the actor's own, ``get_internal_states_space(state_space)`` as of actor components, or
            ``internal_states_space`` as of recurrent policies.
        add_previous_action_to_state, add_previous_reward_to_state: the actor receives a dict of the state (the parts of
            a Dict; else ``state``) and ``previous_action`` or ``previous_reward``, zeros where an episode begins.
        extra_returns: further results of the actor to collect, such as ``log_likelihood``.
        actor_method: the actor's API method; default: the first it has of `ACTOR_METHODS`.

    Raises:
        SpecError: not an environment, or a vector of environments; an actor without the method; a number below 1.
        AssemblyError: the actor's result is not a dict, or lacks a key.
        SpaceError: the actions' parts differ from those of the environment, or are floats instead of integers or bools.
        InputError: a state outside its Space, or a reward that is not finite. All errors of environments name the
            environment and the step.
    """

    def __init__(
        self,
        environment_spec: ComponentSpec,
        actor_component_spec: ComponentSpec,
        num_steps: int = 20,
        num_environments: int | None = None,
        internal_states_space: SpaceSpec = None,
        add_previous_action_to_state: bool = False,
        add_previous_reward_to_state: bool = False,
        extra_returns: Sequence[str] = (),
        actor_method: str | None = None,
        scope: str = "environment-stepper",
        **kwargs: Any,
    ):
        self.num_steps = check_whole(num_steps, f"{scope}.num_steps", least=1)
        if num_environments is not None:
            check_whole(num_environments, f"{scope}.num_environments", least=1, most=MAX_PARTS)
        self.environments = make_environments(environment_spec, num_environments, f"{scope}.environment_spec")
        self.is_vector = num_environments is not None or len(self.environments) > 1
        self.actor = Component.from_spec(actor_component_spec, path=f"{scope}.actor_component_spec")
        self.actor_method = _method(self.actor, actor_method, f"{scope}.actor_method")
        self.added = [
            name
            for name, is_added in (
                ("previous_action", add_previous_action_to_state),
                ("previous_reward", add_previous_reward_to_state),
            )
            if is_added
        ]
        own = self._own_states_space() if internal_states_space is None else internal_states_space
        self.internal_space = _space(own, f"{scope}.internal_states_space")
        self.rollout = Rollout(self.environments, self.internal_space, self.added, scope)
        if isinstance(extra_returns, str):
            raise SpecError(
                f"expected a list of names, given {extra_returns!r}", path=f"{scope}.extra_returns"
            )
        self.extra_returns = [name for name in extra_returns if name not in KNOWN]
        super().__init__(self.actor, scope=scope, **kwargs)

    @rlgraph_api
    def step(self, progress: Any = None, use_exploration: Any = None) -> Any:
        """Act `num_steps` times.

        Args:
            progress: the fraction of training done, []; for an actor that accepts it.
            use_exploration: bool [], for an actor that accepts it.

        Returns:
            A dict of ``states [T + 1, N, ...]`` (the actor's input at t is ``states[t]``), ``actions``, ``rewards``,
            ``terminated``, ``truncated``, ``next_states`` (those that actions led to, before any reset: ``[T, N, ...]``
            each); with internal states ``internal_states [T + 1, N, ...]``, which belong to ``states``; and
            `extra_returns` ``[T, N, ...]``. For one environment without the axis N.
        """
        settings = {"progress": progress, "use_exploration": use_exploration}

        def act(_: Any, present: Any) -> Any:
            returned = self._ask(present, settings)
            following = self._act(returned["action"], returned.get("internal_states"))
            extras = {name: returned[name] for name in self.extra_returns}
            return (following, extras) if extras else following

        done = loop(self.num_steps, act, self._begin(), collect=bool(self.extra_returns))
        return self._finish(done[1] if self.extra_returns else None)

    @rlgraph_api
    def reset(self) -> Any:
        """Make the next call of `step` begin new episodes in all environments."""
        self._reset()

    def after_load(self) -> None:
        self.rollout.begins_anew = True

    def terminate(self) -> None:
        """Release the environments' resources."""
        for environment in self.environments:
            environment.terminate()

    def _own_states_space(self) -> Any:
        """The Space of the actor's internal states by the actor itself; None: it has none."""
        find = getattr(self.actor, "get_internal_states_space", None)
        if find is None:
            return getattr(self.actor, "internal_states_space", None)
        environment = self.environments[0]
        space = environment.state_space.without_ranks()
        if self.added:
            previous = {"previous_action": environment.action_space.without_ranks(), "previous_reward": float}
            parts = dict(space) if isinstance(space, Dict) else {"state": space}
            space = Dict({**parts, **{name: previous[name] for name in self.added}})
        return find(space)

    # Wiring.

    def _ask(self, present: Any, settings: Mapping[str, Any]) -> Any:
        """The actor's result."""
        states, space = present["states"], self.rollout.state_space
        if self.added:
            parts = {key: states[key] for key in space} if isinstance(space, Dict) else {"state": states}
            states = {**parts, **{name: present[name] for name in self.added}}
        method = getattr(self.actor, self.actor_method)
        takes = inspect.signature(self.actor.api_methods()[self.actor_method]).parameters
        handed = {name: value for name, value in settings.items() if name in takes and value is not None}
        if self.internal_space is not None:
            states = {"states": states, "internal_states": present["internal_states"]}
        elif isinstance(space, Dict) and "states" in space:  # alone they would be taken for observations
            states = {"states": states}
        returned = method(states, **handed)
        wanted = [
            "action",
            *(["internal_states"] if self.internal_space is not None else []),
            *self.extra_returns,
        ]
        for name in wanted:
            if not isinstance(returned, Mapping) or name not in returned:
                shown = f"no {name!r}" if isinstance(returned, Mapping) else f"no dict but {returned!r}"
                raise AssemblyError(
                    f"{self.scope_path}: {self.actor.scope_path}.{self.actor_method} returns {shown}; expected a dict "
                    f"with {', '.join(wanted)}"
                )
        return returned

    def _present_spaces(self, *_: Any) -> dict[str, Any]:
        """The Spaces of the actor's inputs."""
        number = len(self.environments)
        previous = {"previous_action": self.rollout.action_space, "previous_reward": FloatBox()}
        spaces = {
            "states": self.rollout.state_space.with_batch_rank(number),
            **{name: previous[name].with_batch_rank(number) for name in self.added},
        }
        if self.internal_space is not None:
            spaces["internal_states"] = self.internal_space.with_batch_rank(number)
        return spaces

    def _result_spaces(self, extras: Any = None) -> dict[str, Any]:
        states, steps = self.rollout.state_space, self.num_steps
        spaces = {
            "states": self._in_time(states, steps + 1),
            "actions": self._in_time(self.rollout.action_space, steps),
            "rewards": self._in_time(FloatBox(), steps),
            "terminated": self._in_time(BoolBox(), steps),
            "truncated": self._in_time(BoolBox(), steps),
            "next_states": self._in_time(states, steps),
        }
        if self.internal_space is not None:
            spaces["internal_states"] = self._in_time(self.internal_space, steps + 1)
        for name in self.extra_returns:
            spaces[name] = self._in_time(_item(extras[name]), steps)
        return spaces

    def _in_time(self, space: Space, steps: int) -> Space:
        return space.with_extra_ranks(len(self.environments) if self.is_vector else False, steps, True)

    # Host functions.

    @graph_fn(host=True, spaces=_present_spaces, shares=())
    def _begin(self) -> Any:
        return self.rollout.begin(self.num_steps, self._float_dtype, self.rng)

    def _following_spaces(self, action: Space, *_: Any) -> dict[str, Any]:
        """As `_present_spaces`, after a check that the environments accept such actions."""
        wanted, given = self.rollout.action_space, action.without_ranks()
        boxes, expected = given.flatten(), wanted.flatten()
        if boxes.keys() != expected.keys() or any(
            isinstance(boxes[path], FloatBox) and not isinstance(box, FloatBox)
            for path, box in expected.items()
        ):
            raise mismatch("action", f"one for the environment, {wanted!r}", repr(given))
        return self._present_spaces()

    @graph_fn(host=True, spaces=_following_spaces, shares=())
    def _act(self, action: Any, internal_states: Any = None) -> Any:
        return self.rollout.turns.send((action, internal_states))

    @graph_fn(host=True, spaces=_result_spaces, shares=())
    def _finish(self, extras: Any = None) -> Any:
        results = {**self.rollout.results(), **(extras or {})}
        # Of one environment: [T, 1, ...] -> [T, ...].
        return results if self.is_vector else map_nested(lambda array: array[:, 0], results)

    @graph_fn(host=True, returns=0, spaces=())
    def _reset(self) -> None:
        self.rollout.begins_anew = True


def _space(spec: Any, where: str) -> Space | None:
    try:
        return None if spec is None else from_spec(spec).without_ranks()
    except SpaceError as error:
        raise SpecError(str(error), path=where) from None


def _method(actor: Component, name: str | None, where: str) -> str:
    """The API method of `actor` to call."""
    known = actor.api_methods()
    found = next((each for each in ([name] if name else ACTOR_METHODS) if each in known), None)
    if found is None:
        wanted = repr(name) if name else " or ".join(ACTOR_METHODS)
        raise SpecError(f"{actor.scope} has no API method {wanted}. {nearest(str(name), known)}", path=where)
    return found


def _item(space: Space) -> Space:
    """The Space of one item of collected rows ``[T, N, ...]``."""

    def item(_: str, box: BoxSpace) -> BoxSpace:
        shape: tuple[Any, ...] = box.get_shape(True, True)
        return with_shape(box, shape[2:])

    return space.map(item).without_ranks()
