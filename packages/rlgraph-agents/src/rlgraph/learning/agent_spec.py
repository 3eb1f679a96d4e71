"""Specs of agents: as users give them, and as checkpoints keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rlgraph.algorithms.presets import use_preset
from rlgraph.core import PluginError, SpecError, Specifiable, registry
from rlgraph.core.errors import Fault
from rlgraph.core.specs.documents import check_limits, is_json, is_spec_file, read_spec_file
from rlgraph.core.specs.policy import data_specs
from rlgraph.core.specs.specifiable import call_checked, check_arguments, place_of, plain_copy
from rlgraph.environments.factory import environment_spaces
from rlgraph.experience.specs import Spec
from rlgraph.learning.agent_options import check_options
from rlgraph.spaces import Space, SpaceError, from_spec
from rlgraph.spaces.spec import is_gymnasium_space

SPACES = ("state_space", "action_space")
"""The arguments of an agent's constructor that may be given by position."""
#: How an own class, or one around a module of a framework, is part of a spec without being an object.
BY_PATH = (
    'give a class by its import path, {"type": "my_module.MyLayer"}, with rlgraph.core.allow_imports("my_module"); a '
    "module of PyTorch or Keras becomes a class as a subclass of ModuleComponent that makes it"
)


class AgentMeta(type):
    """Lets a class be called with a spec, ``DQNAgent("config.json", env=...)``, or with ``env=`` in place of Spaces."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        spec = args[0] if len(args) == 1 else None
        is_space = isinstance(spec, Space) or is_gymnasium_space(spec)
        if isinstance(spec, str | Path | Mapping) and not is_space:
            return cls.from_spec(spec, **kwargs)  # type: ignore[attr-defined]
        lacking = [name for name in SPACES[len(args) :] if name not in kwargs]
        if lacking and not args and kwargs.get("env") is not None:
            return cls.from_spec({"type": cls}, **kwargs)  # type: ignore[attr-defined]
        kwargs = {name: plain_copy(value) for name, value in kwargs.items()}
        check_arguments(cls, kwargs, cls.__name__)
        if lacking or not all(map(_is_space, args)):
            raise SpecError(
                f"expected a state_space and an action_space, or env=, as in {cls.__name__}(env='CartPole-v1'); given "
                f"{', '.join([*map(repr, args), *kwargs]) or 'neither'}{_about_policies(*args)}",
                path=cls.__name__,
            )
        given = {**dict(zip(SPACES, args, strict=False)), **kwargs}
        agent: Any = object.__new__(cls)  # type: ignore[arg-type]
        agent._arguments = given
        agent.__init__(*args, **kwargs)
        agent._arguments = {**given, **{name: getattr(agent, name) for name in SPACES}}
        return agent


def refuse_positional(cls: type[Specifiable], spec: Any, other: Sequence[Any]) -> None:
    """Raise `SpecError` if `Agent.from_spec` was given more than a spec by position, as other libraries have it."""
    if other:
        env = repr(other[0]) if isinstance(other[0], str | Mapping) else "env"
        raise SpecError(
            "expected the agent by position and all else by name, as in "
            f"{cls.__name__}.from_spec({_example(cls, spec)!r}, env={env}); given "
            f"{', '.join(map(repr, (spec, *other)))}{_about_policies(spec)}",
            path="from_spec",
        )


def _example(cls: type[Specifiable], spec: Any) -> Any:
    """What `cls.from_spec` takes: the given spec, or one of the class where this is of no such agent."""
    if is_spec_file(spec):
        return spec
    if isinstance(spec, str | Mapping):
        with suppress(SpecError, PluginError):
            kind = cls._lookup(spec.get("type") if isinstance(spec, Mapping) else spec, "")
            if hasattr(kind, "algorithm_class"):
                return spec
    name = cls.spec_name() if hasattr(cls, "algorithm_class") else "ppo"
    return {} if ":" in name else name


def _about_policies(*given: Any) -> str:
    """A sentence for whoever names a policy in place of an agent."""
    for name in given:
        if isinstance(name, str) and name.endswith("Policy"):
            return f". Agents make their policy: leave {name!r} out, and give its layers as network_spec"
    return ""


def _is_space(value: Any) -> bool:
    try:
        from_spec(value)
    except SpaceError:
        return False
    return True


def make_agent(
    base: type[Any],
    spec: Any,
    path: str,
    env: Any,
    handed: Mapping[str, Any],
    only_check: bool = False,
) -> Any:
    """The agent of a spec, or what its actors are built from.

    Args:
        base: the class that the agent must be of.
        spec, path, env: see `Agent.from_spec`.
        handed: constructor arguments that override the spec's.
        only_check: build no executor, and return an `ActorSpec`.

    Raises:
        SpecError: see `Agent.from_spec`.
    """
    handed = {key: value for key, value in handed.items() if value is not None}
    if isinstance(spec, base):
        if env is not None or handed:
            raise SpecError(
                f"an agent that exists takes no further arguments, given {', '.join(handed) or 'env'}",
                path=path,
            )
        return spec.learner.spec if only_check else spec
    if is_spec_file(spec):
        with data_specs():
            return make_agent(base, read_spec_file(spec, path), path, env, handed, only_check)
    preset = use_preset(spec, env) if isinstance(spec, str) else None
    if isinstance(spec, str | type):
        spec = {"type": spec} if preset is None else preset.agent
    if not isinstance(spec, Mapping):
        raise SpecError(f"expected a mapping with 'type', a name or a file, given {spec!r}", path=path)
    arguments = {key: plain_copy(value) for key, value in spec.items() if key != "type"}
    kind = spec.get("type")
    try:
        target: Any = base._lookup(kind, path)
    except SpecError as error:
        hint = _about_policies(kind)
        texts = {fault.text.removesuffix("." * bool(hint)) + hint: fault.path for fault in error.faults}
        raise SpecError(*(Fault(text, place) for text, place in texts.items())) from None
    if not hasattr(target, "algorithm_class"):
        known = ", ".join(registry(base.registry_group).names())
        raise SpecError(
            f"{path}.type is missing. Known: {known}."
            if kind is None
            else f"{path}.type: expected an agent with an algorithm_class, given {kind!r}. Known: {known}."
        )
    handed = {**handed, **_spaces(target, arguments, handed, env, path)}
    arguments = {key: value for key, value in arguments.items() if key not in handed}
    name = kind if isinstance(kind, str) else None
    make = partial(check_options, target.algorithm_class) if only_check else target
    made = call_checked(target, (), arguments, path, handed=handed, name=name, make=make)
    if not only_check:
        made.preset = preset
    return made


def _spaces(
    target: Any, arguments: Mapping[str, Any], handed: Mapping[str, Any], env: Any, path: str
) -> dict[str, Any]:
    """``env``, ``state_space`` and ``action_space`` of an agent, from what is given of them.

    Raises:
        SpecError: a Space is missing, or the environment has the wrong name.
    """
    env = arguments.get("env") if env is None else env
    given = {**arguments, **handed}
    spaces = {name: given[name] for name in SPACES if name in given}
    if env is not None:
        spaces = {**dict(zip(SPACES, environment_spaces(env), strict=True)), **spaces}
    for name in SPACES:
        if name not in spaces:
            check_arguments(target, given, path)
            raise SpecError(f"{path}.{name} is missing: give state_space= and action_space=, or env=")
    return {"env": env, **{name: from_spec(space) for name, space in spaces.items()}}


def stored_spec(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The spec that a checkpoint keeps; None if an argument has no JSON form, such as a component (`first_object`).

    Backend, seed and choices are not in it: a checkpoint's manifest has them. An environment that is an object is left
    out.

    Args:
        kind: class of the agent.
        arguments: of its constructor, by name.
    """
    spec = _as_data(kind, arguments)
    return spec if is_json(spec) else None


def first_object(kind: type, arguments: Mapping[str, Any]) -> str:
    """Which argument has no JSON form, for a message; arguments as of `stored_spec`."""
    try:
        check_limits(_as_data(kind, arguments), "")
    except SpecError as error:
        return str(error)
    return "a number that is not finite, or of NumPy"


def _as_data(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": place_of(kind)}
    for name, value in arguments.items():
        if isinstance(value, Space):
            value = value.without_ranks().to_spec()
        elif isinstance(value, Spec):
            value = value.model_dump()
        elif name == "execution_spec" and value is not None:
            value = {key: item for key, item in value.items() if key not in ("seed", "choices")} or None
        if name not in ("backend", "seed") and value is not None and (name != "env" or is_json(value)):
            spec[name] = value
    return spec
