"""The options of an agent: those of its algorithm, of its experience, and of every agent."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.components.common.action_masks import NAME
from rlgraph.core import ExecutionSpec, SpecError
from rlgraph.core.component.members import ApiMethod
from rlgraph.core.errors import nearest
from rlgraph.core.execution_spec import ACT_ON
from rlgraph.core.specs.parameters import descriptions_of, parameters_of, summary_of
from rlgraph.experience.experience import Experience, ExperienceKind
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.spaces import Space, SpaceError

#: Options of algorithms with targets that RLgraph 0.5 had in ``update_spec``.
SYNCHRONIZATION = ("sync_interval", "sync_tau")


def split_options(
    algorithm: type[Algorithm],
    state_space: Space,
    action_space: Space,
    *,
    preprocessing_spec: Any = None,
    execution_spec: Mapping[str, Any] | None = None,
    seed: int | None = None,
    acting: str = "auto",
    action_mask: str | None = NAME,
    normalize_states: bool | Sequence[str] = False,
    scale_rewards: bool = False,
    previous_action_and_reward: bool = False,
    env: Any = None,
    **options: Any,
) -> tuple[ActorSpec, Experience, ExecutionSpec]:
    """What the actors of an agent are built from, what it learns from, and how its executor runs.

    Args:
        algorithm: its class.
        state_space, action_space, preprocessing_spec, execution_spec, seed, acting, env: see `Agent`.
        action_mask, normalize_states, scale_rewards, previous_action_and_reward: see `Agent`.
        options: of the algorithm and its experience.

    Raises:
        SpecError: an option is wrong.
    """
    kind = algorithm.experience
    own, experienced = _options_of(algorithm), _options_of(kind.kind)
    options = from_update_spec(options, own)
    experience = kind.make({name: value for name, value in options.items() if name in experienced})
    execution = _execution(execution_spec, seed, acting)
    experience.use_environment(env, state_space, execution.seed)
    spec = ActorSpec(
        algorithm,
        state_space.to_spec(),
        action_space.to_spec(),
        {name: value for name, value in options.items() if name in own},
        preprocessing_spec,
        execution.seed,
        execution.dtype,
        action_mask,
        normalize_states,
        _discount({**experienced, **own}, options) if scale_rewards else None,
        previous_action_and_reward,
    )
    return spec, experience, execution


def _discount(parameters: Mapping[str, inspect.Parameter], options: Mapping[str, Any]) -> float:
    """The discount of the returns whose deviation scales rewards.

    Raises:
        SpecError: the agent has none.
    """
    if "discount" not in parameters:
        raise SpecError("expected false: the agent has no discount, and so no returns", path="scale_rewards")
    return float(options.get("discount", parameters["discount"].default))


def check_options(
    algorithm: type[Algorithm],
    state_space: Space,
    action_space: Space,
    *,
    backend: str | None = None,
    **options: Any,
) -> ActorSpec:
    """Check the options of an agent without building an executor; what its actors are built from.

    Raises:
        SpecError: one is wrong.
    """
    spec, experience, _ = split_options(algorithm, state_space, action_space, **options)
    with suppress(SpaceError):  # networks that do not fit the states are the build's to refuse
        spec.make_graph(experience)
    return spec


def _execution(execution_spec: Mapping[str, Any] | None, seed: int | None, acting: str) -> ExecutionSpec:
    """The execution spec with the seed.

    Raises:
        SpecError: a key or value is wrong.
    """
    if acting not in ACT_ON:
        raise SpecError(f"expected 'auto', 'numpy' or 'backend', given {acting!r}", path="acting")
    if not isinstance(execution_spec, Mapping | None):
        raise SpecError(f"expected a mapping, given {execution_spec!r}", path="execution_spec")
    given = {**(execution_spec or {}), **({} if seed is None else {"seed": seed})}
    checked = ExecutionSpec.from_spec(given)
    if checked.acting_methods or checked.act_on != "auto":
        raise SpecError(
            "an agent names its acting_methods by itself; for act_on give acting=", path="execution_spec"
        )
    return checked


def from_update_spec(options: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Move the algorithm's options out of ``update_spec``, where RLgraph 0.5 had them.

    Raises:
        SpecError: one is given twice.
    """
    updates = options.get("update_spec")
    if not isinstance(updates, Mapping):
        return options
    moved = {name: updates[name] for name in SYNCHRONIZATION if name in updates and name in own}
    for name in moved.keys() & options.keys():
        raise SpecError(f"given twice, here and as update_spec.{name}", path=name)
    left = {name: value for name, value in updates.items() if name not in moved}
    return {**options, **moved, "update_spec": left}


def _options_of(kind: type) -> dict[str, inspect.Parameter]:
    """The options of an algorithm or a kind of experience, by name."""
    return {
        name: parameter
        for name, parameter in parameters_of(kind).named.items()
        if name not in ("state_space", "action_space")
    }


def derive_signature(cls: Any, front: Any) -> None:
    """Give a class of agents the signature and the documentation of its algorithm, its experience, and `front`.

    Args:
        cls: has an ``algorithm_class``.
        front: the class with the options that every agent has.

    Raises:
        SpecError: the algorithm names no experience, lacks an API method, or has an option that
            its experience (and does not share it) or every agent has.
    """
    algorithm = cls.algorithm_class
    kind = _experience_of(algorithm)
    own, experienced = _options_of(algorithm), _options_of(kind.kind)
    given = [(algorithm.__name__, own, option) for option in kind.shared]
    given += [(kind.kind.__name__, experienced, option) for option in (*kind.shared, *kind.defaults)]
    for owner, known, option in given:
        if option not in known:
            path = f"{algorithm.__name__}.experience"
            raise SpecError(f"{owner} has no option {option!r}. {nearest(option, known)}", path=path)
    for option, default in kind.defaults.items():
        experienced[option] = experienced[option].replace(default=_plain(default))
    for option in kind.shared:
        of_algorithm, of_experience = own[option].default, experienced[option].default
        if of_algorithm != of_experience:
            raise SpecError(
                f"{algorithm.__name__} and {kind.kind.__name__} share the option {option!r}, and have the defaults "
                f"{of_algorithm!r} and {of_experience!r}: expected the same, {kind.kind.__name__}.of({option!r}, "
                f"{option}={of_algorithm!r})"
            )
    general = parameters_of(front).named
    for option in own:
        if option in general:
            raise SpecError(
                f"{algorithm.__name__}: every agent has an option {option!r}: give the algorithm's another name"
            )
        if option in experienced and option not in kind.shared:
            raise SpecError(
                f"{algorithm.__name__} and {kind.kind.__name__} both have an option {option!r}: share it, "
                f"experience = {kind.kind.__name__}.of({option!r}), or rename it"
            )

    def __init__(self: Any, state_space: Space, action_space: Space, **options: Any) -> None:
        front.__init__(self, state_space, action_space, **options)

    spaces = [general[name] for name in ("state_space", "action_space")]
    options = {**experienced, **own, **{n: p for n, p in general.items() if p not in spaces}}
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in options.values()]
    __init__.__signature__ = inspect.Signature([self_parameter, *spaces, *named])  # type: ignore[attr-defined]
    cls.__init__ = __init__
    described = {**descriptions_of(kind.kind), **descriptions_of(algorithm)}
    for name, default in kind.defaults.items():
        described[name] = (
            f"{described[name].rstrip('.')}; default of {algorithm.__name__}: {_plain(default)}."
        )
    entries = [f"    {name}: {described[name]}" for name in options if name in described]
    summary = (inspect.getdoc(cls) if vars(cls).get("__doc__") else None) or summary_of(algorithm)
    cls.__doc__ = "\n".join([summary, "", "Args:", *entries])


def _plain(default: Any) -> Any:
    return dict(default) if isinstance(default, Mapping) else default


def option_groups(cls: Any) -> dict[str, list[str]]:
    """The names of an agent's options: of its algorithm, of its experience, of every agent."""
    algorithm = cls.algorithm_class
    kind = algorithm.experience.kind
    own, experienced = _options_of(algorithm), _options_of(kind)
    return {
        f"options of {algorithm.__name__}": list(own),
        f"options of {kind.__name__}": [name for name in experienced if name not in own],
        "options of every agent": [
            name for name in parameters_of(cls).named if name not in (*own, *experienced)
        ],
    }


def _experience_of(algorithm: type[Algorithm]) -> ExperienceKind:
    """The kind of experience that an algorithm names.

    Raises:
        SpecError: it names none, lacks an API method that is called, or its schedule counts something else.
    """
    name, kind = algorithm.__name__, getattr(algorithm, "experience", None)
    if not isinstance(kind, ExperienceKind):
        raise SpecError(
            f"{name}.experience: expected a kind of experience, such as Rollouts.of(), given {kind!r}"
        )
    for method in (*(("update",) if kind.kind.learns else ()), *algorithm.schedule):
        if not isinstance(getattr(algorithm, method, None), ApiMethod):
            raise SpecError(f"{name} has no API method {method!r}: write it, with @rlgraph_api")
    for method, entry in algorithm.schedule.items():
        if not isinstance(entry, tuple) or len(entry) != 2 or entry[1] not in ("steps", "updates"):
            raise SpecError(
                f"{name}.schedule[{method!r}]: expected (an option's name, 'steps' or 'updates'), given {entry!r}"
            )
    return kind
