"""Objects from specs: ``{"type": "dense", "units": 64}`` becomes ``Dense(units=64)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from rlgraph.core.component.spec_files import is_spec_file, read_spec_file
from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.registry import import_object, registry


class Specifiable:
    """A class whose instances are described by JSON-able specs and found by name in a registry group."""

    #: Entry-point group in which types of this family are registered.
    registry_group: ClassVar[str]

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """Make an instance from a spec. The spec is never changed.

        Args:
            spec: one of

                * an instance: returned as it is;
                * None: this class with its defaults;
                * a mapping with ``type`` (a registered name, a class, a function, or where to import one from;
                  default: this class), constructor arguments by name, and ``_args``, a list of those by position;
                * what may stand as ``type`` alone: ``"dense"``, ``"package.module.Class"``,
                  ``"package.module:Class"``, a class, or a function that returns an instance;
                * a JSON or YAML file that holds a spec: ``"net.json"``, or any `pathlib.Path`.
            path: where the spec stands in a larger one; named in errors.
            kwargs: arguments that override the spec's.

        Raises:
            SpecError: unknown type or argument, a missing argument, or a value that the constructor refuses; with
                its path and the nearest valid name.
        """
        where = path or cls.__name__
        if isinstance(spec, cls):
            return spec
        if is_spec_file(spec):
            return cls.from_spec(read_spec_file(spec, where), path=f"{where} ({Path(spec).name})", **kwargs)
        if not isinstance(spec, Mapping):
            if spec is not None and not (isinstance(spec, str) or callable(spec)):
                raise SpecError(
                    f"{where}: expected a {cls.__name__}, a mapping with 'type', a name, a file or a function; "
                    f"given {type(spec).__name__} {spec!r}"
                )
            spec = {"type": spec}
        arguments = {key: plain_copy(value) for key, value in spec.items() if key not in ("type", "_args")}
        positional = spec.get("_args", ())
        if isinstance(positional, str) or not isinstance(positional, Sequence):
            raise SpecError(f"{where}._args: expected a list of arguments, given {positional!r}")
        target = cls._lookup(spec.get("type"), where)
        instance = call_checked(target, plain_copy(list(positional)), {**arguments, **kwargs}, where)
        if not isinstance(instance, cls):
            raise SpecError(
                f"{where}: {target.__name__} returned {type(instance).__name__} {instance!r}, expected a {cls.__name__}"
            )
        return instance

    @classmethod
    def _lookup(cls, name: Any, where: str) -> Callable[..., Any]:
        """The class or function that `name` means."""
        target: Any = cls if name is None else name
        if isinstance(name, str):
            known = registry(cls.registry_group)
            imports = name not in known and ("." in name or ":" in name)
            target = (
                import_object(name, where=f"{where}.type")
                if imports
                else known.load(name, where=f"{where}.type")
            )
        if isinstance(target, type):
            if not issubclass(target, cls):
                raise SpecError(f"{where}.type: {name!r} is a {target.__name__}, expected a {cls.__name__}")
        elif not callable(target):
            raise SpecError(f"{where}.type: expected a name, a class or a function, given {name!r}")
        return target


def plain_copy(value: Any) -> Any:
    """`value` with its dicts and lists copied, so that nobody who is given them can change the original."""
    if type(value) is dict:
        return {key: plain_copy(item) for key, item in value.items()}
    if type(value) is list:
        return [plain_copy(item) for item in value]
    return value


def call_checked(
    target: Callable[..., Any], positional: Sequence[Any], arguments: Mapping[str, Any], where: str
) -> Any:
    """``target(*positional, **arguments)``, with every mistake in the arguments as a `SpecError`.

    Raises:
        SpecError: an unknown, doubled or missing argument, or a value that `target` refuses.
    """
    check_arguments(target, arguments, where)
    _check_positions(target, positional, arguments, where)
    try:
        return target(*positional, **arguments)
    except TypeError as error:
        raise SpecError(f"{where}: {_name(target)}: {error}") from error
    except SpecError as error:
        # A constructor knows its scope, not where in a larger spec it stands.
        if str(error).startswith(where):
            raise
        raise SpecError(f"{where}: {error}") from error


def check_arguments(target: Callable[..., Any], arguments: Mapping[str, Any], where: str) -> None:
    """Raise `SpecError` for the first key that `target`, a class or a function, does not take.

    A constructor with ``**kwargs`` is taken to hand them to the next class above.
    """
    names: set[str] = set()
    for parameters in _signatures(target):
        names |= {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    else:
        return
    for key in arguments:
        if key not in names:
            raise SpecError(f"{where}.{key}: {_name(target)} has no such key. {nearest(str(key), names)}")


def _signatures(target: Callable[..., Any]) -> list[list[inspect.Parameter]]:
    """The parameters of `target`; of a class, those of all its constructors, without ``self``."""
    try:
        if not isinstance(target, type):
            return [list(inspect.signature(target).parameters.values())]
        constructors = [vars(owner)["__init__"] for owner in target.__mro__[:-1] if "__init__" in vars(owner)]
        return [list(inspect.signature(function).parameters.values())[1:] for function in constructors] or [
            []
        ]
    except ValueError:  # a builtin that does not tell
        return []


def _check_positions(
    target: Callable[..., Any], positional: Sequence[Any], arguments: Mapping[str, Any], where: str
) -> None:
    """Check the number of arguments by position, and that what is required is there."""
    for parameters in _signatures(target)[:1]:
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if len(positional) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            raise SpecError(
                f"{where}._args: {_name(target)} takes at most {len(places)} arguments by position, "
                f"given {len(positional)}"
            )
        for parameter in places[: len(positional)]:
            if parameter.name in arguments:
                raise SpecError(f"{where}.{parameter.name}: given twice, by name and in '_args'")
        named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        for parameter in [*places[len(positional) :], *named]:
            if parameter.default is parameter.empty and parameter.name not in arguments:
                raise SpecError(f"{where}.{parameter.name}: missing; {_name(target)} requires it")


def _name(target: Callable[..., Any]) -> str:
    return getattr(target, "__name__", type(target).__name__)
