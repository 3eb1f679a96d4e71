"""Descriptions of everything that can become a constant of a compiled program.

A program that is found on disk is not traced again, so its key must tell apart all that could make it another one:
the emitted source, and all its names stand for, down to the code of a user's functions and the values of what they
refer to. What cannot be described for certain raises `Doubt`, and then the traced graph itself is the key.
"""

from __future__ import annotations

import enum
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from dis import opmap
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

from rlgraph.core.component import Component
from rlgraph.core.component.decorators import ApiMethod, GraphFunction
from rlgraph.core.graph.variables import Variable
from rlgraph.spaces import Space
from rlgraph.torch.ops import TorchOps

#: Modules whose content is told by versions, or by the digest of their sources (see `rlgraph.torch.compile.key`).
OURS = ("rlgraph.spaces", "rlgraph.core", "rlgraph.components", "rlgraph.torch")
#: Not those that reach all other modules, or say something else in every process.
TRUSTED = frozenset({"torch", "numpy", *sys.stdlib_module_names}) - {
    "importlib",
    "os",
    "random",
    "sys",
    "time",
}

#: What a function can reach all and everything with.
REFLECTION = frozenset(
    {"globals", "locals", "vars", "eval", "exec", "compile", "__import__", "open", "input"}
)

IMPORT = opmap["IMPORT_NAME"]

#: Parts of a class that say nothing of what it computes.
INCIDENTAL = frozenset(
    f"__{name}__"
    for name in ("dict", "weakref", "doc", "module", "qualname", "annotations", "abstractmethods")
) | {"_abc_impl", "__parameters__", "__orig_bases__", "__dataclass_fields__", "__dataclass_params__"}


class Doubt(Exception):
    """Something cannot be described for certain."""


def describe(*values: Any) -> str:
    """A text that is the same for values that give the same program, in every process.

    Raises:
        Doubt: there is something in them of which that cannot be said.
    """
    return "\n".join(_Describer().lines(values))


def is_trusted(module: str | None) -> bool:
    """Whether versions and the digest of our sources tell what is in a module."""
    name = module or ""
    return name.partition(".")[0] in TRUSTED or ".".join(name.split(".")[:2]) in OURS


class _Describer:
    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no number of an object comes twice

    def lines(self, value: Any) -> Iterator[str]:
        known = is_trusted(type(value).__module__)  # a user's subclass of a known type may do anything
        plain = _plain(value) if known else None
        if plain is not None:
            yield plain
            return
        if id(value) in self.seen:
            yield f"again {self.seen[id(value)]}"
            return
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        yield f"begin {type(value).__module__}.{type(value).__qualname__}"
        if not known:
            yield from self.lines(type(value))
        yield from self._parts(value)
        yield "end"

    def _parts(self, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield from self.lines(key)
                yield from self.lines(item)
            yield from self._attributes(value)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self.lines(item)
            yield from self._attributes(value)
        elif isinstance(value, set | frozenset):
            yield from sorted("\n".join(_Describer().lines(item)) for item in value)
        elif isinstance(value, Variable):
            yield f"{value.name} {value.spec} {value.trainable} {value.host} {value.role} {value.device}"
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, Component):
            yield from self._attributes(value)
        elif is_dataclass(value):
            for field in fields(value):
                yield from self.lines(getattr(value, field.name))
            yield from self._attributes(value)
        else:
            yield from self.lines(_inside(value))

    def _attributes(self, value: Any) -> Iterator[str]:
        if attributes := getattr(value, "__dict__", None):
            yield from self.lines(attributes)

    def _function(self, function: FunctionType) -> Iterator[str]:
        yield f"{function.__module__}.{function.__qualname__}"
        # Not its __module__, which decorators copy from one function to another.
        if is_trusted(function.__globals__.get("__name__")) and not function.__closure__:
            return
        yield from self.lines([function.__defaults__, function.__kwdefaults__, vars(function)])
        for cell in function.__closure__ or ():
            try:
                yield from self.lines(cell.cell_contents)
            except ValueError:
                raise Doubt(f"{function.__qualname__} refers to something that is not there yet") from None
        yield from self._code(function.__code__, function.__globals__)

    def _code(self, code: CodeType, names: Mapping[str, Any]) -> Iterator[str]:
        yield f"{code.co_name} {code.co_code.hex()} {code.co_varnames} {code.co_freevars} {code.co_flags}"
        if IMPORT in code.co_code[::2]:
            raise Doubt(f"{code.co_name} imports something")
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from self._code(constant, names)
            else:
                yield from self.lines(constant)
        for name in code.co_names:
            if name in REFLECTION and name not in names:
                raise Doubt(f"{code.co_name} calls {name}()")
            yield name
            if name in names:
                yield from self.lines(names[name])

    def _class(self, kind: type) -> Iterator[str]:
        for base in kind.__mro__:
            yield f"{base.__module__}.{base.__qualname__}"
            if is_trusted(base.__module__):
                continue
            for name, member in vars(base).items():
                if name not in INCIDENTAL:
                    yield name
                    yield from self.lines(member)


def _plain(value: Any) -> str | None:
    """The description of a value without parts."""
    if value is None or value is ... or isinstance(value, str | bytes | int | float | complex):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value!r}"
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise Doubt("an array of objects")
        return f"array {value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, torch.Tensor):
        try:
            return f"tensor {_plain(value.detach().cpu().numpy())}"
        except (TypeError, RuntimeError):
            raise Doubt(f"a tensor that is no array: {value.dtype}, {value.layout}") from None
    if isinstance(value, Space | np.dtype | torch.dtype | torch.device | range | slice):
        return repr(value)
    if isinstance(value, ModuleType):
        if not is_trusted(value.__name__):
            raise Doubt(f"the whole module {value.__name__}")
        return f"module {value.__name__}"
    if isinstance(value, BuiltinFunctionType) or type(value).__name__ in (
        "ufunc",
        "builtin_function_or_method",
    ):
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, type | ModuleType):
            raise Doubt(f"{value!r} of an object")
        return (
            f"builtin {getattr(value, '__module__', None)}.{value.__name__} {getattr(owner, '__name__', '')}"
        )
    return None


def _inside(value: Any) -> Any:
    """What is to be said of an object of one of the known kinds."""
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, ApiMethod):
        return [value.name, value.function]
    if isinstance(value, GraphFunction):
        return [value.name, value.function, value.returns, value.host, value.per_variable, value.kernels]
    if isinstance(value, TorchOps):
        return [value.float_dtype, vars(value).get("stream")]
    if isinstance(value, cached_property):
        return [value.func]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, enum.Enum):
        return [value.name, value.value]
    if inspect.ismemberdescriptor(value) or inspect.isgetsetdescriptor(value):
        return [value.__name__]
    if type(value) is object:
        return []
    raise Doubt(f"an object of {type(value).__module__}.{type(value).__qualname__}")
