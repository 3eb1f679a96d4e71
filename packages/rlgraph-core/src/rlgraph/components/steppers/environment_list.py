"""Creates environments for components from instances, specs and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.core import SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.core.protocols import Environment
from rlgraph.core.specs.imports import is_import_path
from rlgraph.core.specs.specifiable import call_checked, plain_copy

#: The required attributes of an environment.
PARTS = ("state_space", "action_space", "reset", "step")
#: The required methods, which are checked on an imported class before it is called.
METHODS = ("reset", "step", "terminate")


def make_environments(spec: Any, number: int | None, where: str) -> list[Environment]:
    """Build the environments of a spec.

    Args:
        spec: an instance, a registered name, a mapping with ``type`` (a name, a class, or "module:Class") and
            arguments, a function that returns an instance; or a list of those, one for each environment.
        number: number of environments; None for one, or as many as listed.
        where: name of the spec, for errors.

    Raises:
        SpecError: none of these, a vector of environments, environments of different Spaces, or one instance for
            several environments.
    """
    listed = isinstance(spec, Sequence) and not isinstance(spec, str)
    specs = list(spec) if listed else [spec] * (number or 1)
    if not specs or (number is not None and len(specs) != number):
        raise SpecError(f"expected {number or 'some'} environments, given {len(specs)}", path=where)
    if len(specs) > 1 and not listed and _is_environment(spec):
        raise SpecError(
            f"{number} environments need as many instances: give a function or a list", path=where
        )
    made = [_make(each, f"{where}[{i}]" if listed else where) for i, each in enumerate(specs)]
    for i, environment in enumerate(made):
        for part in ("state_space", "action_space"):
            first, other = getattr(made[0], part), getattr(environment, part)
            if first != other:
                raise SpecError(
                    f"{part} of environment {i} is {other!r}, expected that of the first, {first!r}",
                    path=where,
                )
    return made


def name_of(environment: Any) -> str:
    """The name of an environment in messages."""
    return str(getattr(environment, "name", type(environment).__name__))


def _make(spec: Any, where: str) -> Environment:
    environment = spec
    if isinstance(spec, str | Mapping):
        named = {"type": spec} if isinstance(spec, str) else dict(spec)
        if "type" not in named:
            raise SpecError(f"a mapping needs 'type', given {named!r}", path=where)
        kind = named.pop("type")
        if isinstance(kind, str):
            known = registry("rlgraph.environments")
            if isinstance(spec, str) and not is_import_path(kind) and kind not in known and "gym" in known:
                raise SpecError(
                    f"there is no registered environment {kind!r}. {nearest(kind, known.names())} An id of "
                    f"Gymnasium is {{'type': 'gym', 'gym_env': {kind!r}}}",
                    path=where,
                )
            kind = known.resolve(kind, _is_environment_class, "an environment's class", where=f"{where}.type")
        elif not callable(kind):
            raise SpecError(f"expected a name, a class or a function, given {kind!r}", path=f"{where}.type")
        environment = call_checked(kind, [], plain_copy(named), where)
    elif not _is_environment(spec) and callable(spec):
        environment = spec()
    if hasattr(environment, "num_environments"):
        raise SpecError(
            f"expected single environments, given {environment!r}, a vector of "
            f"{environment.num_environments}. A vector has steps that are no transition, where it has replaced an "
            "environment, and results have no place for that: give a list, or a function and num_environments",
            path=where,
        )
    missing = [part for part in PARTS if not hasattr(environment, part)]
    if missing:
        raise SpecError(
            "expected an environment, its registered name, a mapping with 'type' or a function; "
            f"{environment!r} has no {', '.join(missing)}"
            + (
                "; one of Gymnasium is given as {'type': 'gym', 'gym_env': id or instance}"
                if hasattr(environment, "observation_space")
                else ""
            ),
            path=where,
        )
    return environment


def _is_environment_class(kind: type) -> bool:
    return all(callable(getattr(kind, method, None)) for method in METHODS)


def _is_environment(spec: Any) -> bool:
    return not isinstance(spec, type) and all(hasattr(spec, part) for part in PARTS)
