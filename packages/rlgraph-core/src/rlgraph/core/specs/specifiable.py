"""Creates objects from specs: ``{"type": "dense", "units": 64}`` becomes ``Dense(units=64)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rlgraph.core.errors import Fault, OtherNames, SpecError, offer, text_of, type_and_text
from rlgraph.core.name_hints import former_names
from rlgraph.core.registry import registry
from rlgraph.core.specs.argument_types import expectation, fits
from rlgraph.core.specs.documents import is_json, is_spec_file, read_spec_file
from rlgraph.core.specs.native_modules import check_no_native_module
from rlgraph.core.specs.parameters import Parameters, parameters_of
from rlgraph.core.specs.policy import data_specs
from rlgraph.core.specs.spec_paths import (
    is_recording,
    join_parts,
    locate,
    locate_faults,
    making,
    record,
    record_object,
)
from rlgraph.spaces import SpaceError

#: Exceptions that a constructor may raise for a bad value.
REFUSALS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    ValueError,
)
#: Maximum number of reported mistakes of one mapping.
MAX_FAULTS = 20


class Specifiable:
    """A class whose instances are described by JSON-able specs and found by name in a registry group."""

    #: Entry-point group in which types of this family are registered.
    registry_group: ClassVar[str]
    #: Name of an argument in other libraries -> its key here, ``{"gamma": "discount"}``; suggested for unknown keys.
    other_names: ClassVar[OtherNames] = {}
    #: A hint on the form of a spec of this class, added to errors about a wrong class.
    spec_hint: ClassVar[str] = ""

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """Create an instance from a spec, which is never changed.

        Args:
            spec: one of

                * an instance: returned unchanged;
                * None: this class with its defaults;
                * a mapping with ``type`` (a registered name, an import path, a class or a function; default: this
                  class), keyword arguments of the constructor, and ``_args``, a list of positional arguments;
                * the ``type`` alone: ``"dense"``, ``"package.module.Class"``, ``"package.module:Class"``, a class, or a
                  function that returns an instance;
                * a JSON or YAML file with a spec: ``"net.json"``, or any `pathlib.Path`. A file is data: it may import
                  only what `rlgraph.core.allow_imports` allows.
            path: place of the spec in a larger one, for messages.
            kwargs: arguments that override the spec's.

        Raises:
            SpecError: an unknown type or argument, a missing argument, or a value that the constructor refuses; names
                its path and the nearest valid name.
        """
        where = locate(path or cls.__name__, spec)
        if isinstance(spec, cls):
            record_object(where, spec)
            return spec
        if is_spec_file(spec):
            return cls._from_file(spec, where, kwargs)
        return cls._from_plain(spec, where, kwargs)

    @classmethod
    def _from_plain(cls, spec: Any, where: str, kwargs: Mapping[str, Any]) -> Self:
        """`from_spec` of anything but an instance or a file."""
        if not isinstance(spec, Mapping):
            check_no_native_module(spec, cls.__name__, where)
            makes = callable(spec) and not isinstance(spec, Specifiable)
            if spec is not None and not (isinstance(spec, str) or makes):
                article = "an" if cls.__name__[0] in "AEIOU" else "a"
                raise SpecError(
                    f"expected {article} {cls.__name__}, a mapping with 'type', a name, a file or a function; "
                    f"given {type(spec).__name__} {spec!r}{cls._hint()}",
                    path=where,
                )
            spec = {"type": spec}
        arguments = {key: plain_copy(value) for key, value in spec.items() if key not in ("type", "_args")}
        positional = spec.get("_args", ())
        if isinstance(positional, str) or not isinstance(positional, Sequence):
            raise SpecError(f"expected a list of arguments, given {positional!r}", path=f"{where}._args")
        kind = spec.get("type")
        target = cls._lookup(kind, where)
        name = kind if isinstance(kind, str) else None
        instance = call_checked(
            target, plain_copy(list(positional)), arguments, where, handed=kwargs, name=name
        )
        if not isinstance(instance, cls):
            raise SpecError(
                f"{target.__name__} returned {type(instance).__name__} {instance!r}, expected a {cls.__name__}",
                path=where,
            )
        return instance

    @classmethod
    def _from_file(cls, file: str | Path, where: str, kwargs: Mapping[str, Any]) -> Self:
        try:
            with data_specs():
                return cls.from_spec(read_spec_file(file, where), path=where, **kwargs)
        except SpecError as error:
            error.add_note(f"({where} is in {file})")
            raise

    @classmethod
    def spec_name(cls) -> str:
        """The name of the class in specs: its registered name if it has one, else its import path."""
        place, group = f"{cls.__module__}:{cls.__qualname__}", getattr(cls, "registry_group", None)
        names = [p.name for p in registry(group).plugins() if p.target == place] if group else []
        return names[0] if names else place

    @classmethod
    def _hint(cls) -> str:
        return f"; {cls.spec_hint}" if cls.spec_hint else ""

    @classmethod
    def _lookup(cls, name: Any, where: str) -> Callable[..., Any]:
        """The class or function called `name`."""
        target: Any = cls if name is None else name
        if isinstance(name, str):
            target = registry(cls.registry_group).resolve(
                name,
                lambda kind: issubclass(kind, cls),
                f"a {cls.__name__} class{cls._hint()}",
                where=f"{where}.type",
            )
        if isinstance(target, type):
            if not issubclass(target, cls):
                raise SpecError(
                    f"{name!r} is a {target.__name__}, expected a {cls.__name__}{cls._hint()}",
                    path=f"{where}.type",
                )
        elif not callable(target):
            raise SpecError(f"expected a name, a class or a function, given {name!r}", path=f"{where}.type")
        return target


def plain_copy(value: Any) -> Any:
    """`value` with its dicts and lists copied, so that the receiver cannot change the original.

    NumPy numbers become Python numbers.
    """
    if type(value) is dict:
        return {key: plain_copy(item) for key, item in value.items()}
    if type(value) is list:
        return [plain_copy(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def call_checked(
    target: Callable[..., Any],
    positional: Sequence[Any],
    arguments: Mapping[str, Any],
    where: str,
    *,
    handed: Mapping[str, Any] | None = None,
    name: str | None = None,
    make: Callable[..., Any] | None = None,
) -> Any:
    """Call ``target(*positional, **arguments, **handed)``; mistakes in the arguments raise a `SpecError`.

    Args:
        target: a class or a function.
        positional, arguments: arguments in the spec.
        where: place of the spec, for messages.
        handed: arguments of the program, which override those of the spec.
        name: name of `target` in the spec.
        make: what is called in place of `target`.

    Raises:
        SpecError: lists all unknown, duplicate and missing arguments and wrong types; or names a value that `target`
            refuses.
    """
    handed = handed or {}
    parameters = parameters_of(target)
    faults = [
        *islice(_name_faults(target, parameters, {**arguments, **handed}, where), MAX_FAULTS),
        *_position_faults(target, parameters, positional, {**arguments, **handed}, where),
        *_type_faults(parameters, positional, {k: v for k, v in arguments.items() if k not in handed}, where),
    ]
    if faults:
        raise SpecError(*faults, located=True)
    if is_recording():
        record(where, _amounts_to(name or place_of(target), parameters, positional, arguments, handed))
    with making(where, {*parameters.named, *arguments} - handed.keys(), handed, arguments):
        try:
            return (make or target)(*positional, **{**arguments, **handed})
        except SpecError as error:
            locate_faults(error, where, _name(target))
            raise
        except SpaceError:
            raise
        except TypeError as error:
            raise SpecError(f"{_name(target)}: {text_of(error)}", path=where, located=True) from error
        except REFUSALS as error:
            text = f"{_name(target)}: {type_and_text(error)}"
            raise SpecError(text, path=where, located=True) from error


def check_arguments(target: Callable[..., Any], arguments: Mapping[str, Any], where: str = "") -> None:
    """Raise `SpecError` for keys that are not parameters of `target`, a class or a function.

    A constructor is assumed to pass ``**kwargs`` to its base class.
    """
    faults = [*islice(_name_faults(target, parameters_of(target), arguments, where), MAX_FAULTS)]
    if faults:
        raise SpecError(*faults)


def check_values(target: Callable[..., Any], arguments: Mapping[str, Any], where: str = "") -> None:
    """Raise `SpecError` for values that the annotations of `target`, a class or a function, do not accept."""
    if faults := _type_faults(parameters_of(target), (), arguments, where):
        raise SpecError(*faults)


def place_of(target: Callable[..., Any]) -> str:
    """The name of `target` in specs: its registered name if it has one, else its import path."""
    if isinstance(target, type) and issubclass(target, Specifiable):
        return target.spec_name()
    return f"{target.__module__}:{getattr(target, '__qualname__', type(target).__qualname__)}"


def _name_faults(
    target: Callable[..., Any], parameters: Parameters, arguments: Mapping[str, Any], where: str
) -> Iterator[Fault]:
    for key in arguments:
        if key not in parameters.named and not parameters.is_open:
            other_names = {**former_names(target), **getattr(target, "other_names", {})}
            text = f"{_name(target)} has no such key. {offer(str(key), parameters.named, other_names)}"
            yield Fault(text, join_parts(where, str(key)))


def _position_faults(
    target: Callable[..., Any],
    parameters: Parameters,
    positional: Sequence[Any],
    arguments: Mapping[str, Any],
    where: str,
) -> list[Fault]:
    """Faults in the number of positional arguments, duplicate arguments, and missing arguments."""
    places = [p for p in parameters.own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters.own):
        text = f"{_name(target)} takes at most {len(places)} positional arguments, given {len(positional)}"
        return [Fault(text, f"{where}._args")]
    doubled = [p.name for p in places[: len(positional)] if p.name in arguments]
    named = [p for p in parameters.own if p.kind is p.KEYWORD_ONLY]
    missing = [
        p.name
        for p in [*places[len(positional) :], *named]
        if p.default is p.empty and p.name not in arguments
    ]
    return [
        *(Fault("given twice, by name and in '_args'", f"{where}.{name}") for name in doubled),
        *(Fault(f"missing; {_name(target)} requires it", f"{where}.{name}") for name in missing),
    ]


def _type_faults(
    parameters: Parameters, positional: Sequence[Any], arguments: Mapping[str, Any], where: str
) -> list[Fault]:
    annotations = {name: p.annotation for name, p in parameters.named.items()}
    by_position = _by_position(parameters, positional)
    return [
        Fault(f"expected {expectation(annotations[name])}, given {value!r}", join_parts(where, name))
        for name, value in [*by_position.items(), *arguments.items()]
        if name in annotations and not fits(annotations[name], value)
    ]


def _by_position(parameters: Parameters, positional: Sequence[Any]) -> dict[str, Any]:
    """The positional arguments by name, without those of a parameter ``*args``."""
    places = [p.name for p in parameters.own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return dict(zip(places, positional, strict=False))


def _amounts_to(
    kind: str,
    parameters: Parameters,
    positional: Sequence[Any],
    arguments: Mapping[str, Any],
    handed: Mapping[str, Any],
) -> dict[str, Any]:
    """The spec with all of the constructor's own arguments by name, including defaults that JSON can hold."""
    by_position = _by_position(parameters, positional)
    defaults = {p.name: p.default for p in parameters.own if p.default is not p.empty and is_json(p.default)}
    if len(positional) > len(by_position):  # arguments of `*args` have no names
        by_position = {"_args": list(positional)}
    given = {**defaults, **by_position, **arguments}
    return {"type": kind, **{name: value for name, value in given.items() if name not in handed}}


def _name(target: Callable[..., Any]) -> str:
    return getattr(target, "__name__", type(target).__name__)
