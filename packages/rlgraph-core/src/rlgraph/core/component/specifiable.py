"""Objects from specs: ``{"type": "dense", "units": 64}`` becomes ``Dense(units=64)``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.registry import registry


class Specifiable:
    """A class whose instances are described by JSON-able specs and found by name in a registry group."""

    #: Entry-point group in which types of this family are registered.
    registry_group: ClassVar[str]

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """Make an instance from a spec. The spec is never changed.

        Args:
            spec: an instance (returned as it is), None (this class with its defaults), a registered name, or a mapping
                with ``type`` (a registered name or a class; default: this class) and constructor arguments.
            path: where the spec stands in a larger one; named in errors.
            kwargs: arguments that override the spec's.

        Raises:
            SpecError: unknown type or argument, with its path and the nearest valid name.
        """
        where = path or cls.__name__
        if isinstance(spec, cls):
            return spec
        if spec is None:
            spec = {}
        if isinstance(spec, str | type):
            spec = {"type": spec}
        if not isinstance(spec, Mapping):
            raise SpecError(
                f"{where}: expected a {cls.__name__}, a mapping with 'type', or a name; "
                f"given {type(spec).__name__} {spec!r}"
            )
        arguments = {**{k: v for k, v in spec.items() if k != "type"}, **kwargs}
        target = cls._lookup(spec.get("type"), where)
        check_arguments(target, arguments, where)
        try:
            return target(**arguments)
        except TypeError as error:
            raise SpecError(f"{where}: {target.__name__}: {error}") from error

    @classmethod
    def _lookup(cls, name: Any, where: str) -> type[Self]:
        target = cls if name is None else name if isinstance(name, type) else None
        if target is None:
            if not isinstance(name, str):
                raise SpecError(f"{where}.type: expected a name or a class, given {name!r}")
            target = registry(cls.registry_group).load(name, where=f"{where}.type")
        if not issubclass(target, cls):
            raise SpecError(f"{where}.type: {name!r} is a {target.__name__}, expected a {cls.__name__}")
        return target


def check_arguments(target: type, arguments: Mapping[str, Any], where: str) -> None:
    """Raise `SpecError` for the first key that the constructor of `target` does not take.

    A constructor with ``**kwargs`` is taken to hand them to the next class above.
    """
    names: set[str] = set()
    for owner in target.__mro__[:-1]:
        if "__init__" in vars(owner):
            _, *parameters = inspect.signature(vars(owner)["__init__"]).parameters.values()
            names |= {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    else:
        return
    for key in arguments:
        if key not in names:
            raise SpecError(f"{where}.{key}: {target.__name__} has no such key. {nearest(str(key), names)}")
