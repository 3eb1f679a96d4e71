"""Options of API methods and graph functions, checked at decoration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from rlgraph.core.errors import AssemblyError, nearest

T = TypeVar("T")
#: A declared property of a graph function: a value, or ``f(self, *input_spaces)`` returning it.
Declared: TypeAlias = T | Callable[..., T]


@dataclass(frozen=True)
class Options:
    """The options of a decorator; see `rlgraph_api` and `graph_fn`.

    Attributes:
        name: its name, if not the function's.
        returns: declared number of outputs.
        flatten_ops: True, or the names of arguments whose containers are passed as flat dicts.
        split_ops: call the function once per leaf.
        add_auto_key_as_first_param: with `split_ops`, the flat key comes first.
        requires_variable_completeness: wait for the variables of the component and all below.
        ok_to_overwrite: it may replace a member of the same name.
    """

    name: str | None = None
    returns: int | None = None
    flatten_ops: bool | Collection[str] = False
    split_ops: bool = False
    add_auto_key_as_first_param: bool = False
    requires_variable_completeness: bool = False
    ok_to_overwrite: bool = False

    def check(self, function: Callable[..., Any], leading: int) -> None:
        """Check the options against the function they decorate.

        Args:
            function: the function.
            leading: number of its parameters that are not values (``self``, ``ops``).

        Raises:
            AssemblyError: an invalid option.
        """
        where = function.__qualname__
        if self.returns is not None and (type(self.returns) is not int or self.returns < 0):
            raise AssemblyError(f"{where}: returns= is the number of outputs, given {self.returns!r}")
        if self.split_ops and not self.flatten_ops:
            raise AssemblyError(
                f"{where}: split_ops=True needs flatten_ops=True (or the names of the arguments)"
            )
        if self.add_auto_key_as_first_param and not self.split_ops:
            raise AssemblyError(f"{where}: add_auto_key_as_first_param=True needs split_ops=True")
        if isinstance(self.flatten_ops, str):
            raise AssemblyError(
                f"{where}: flatten_ops= is True or a set of argument names, given {self.flatten_ops!r}"
            )
        names = list(inspect.signature(function).parameters)[leading:]
        if self.add_auto_key_as_first_param and not names:
            raise AssemblyError(f"{where}: add_auto_key_as_first_param=True needs a parameter for the key")
        for name in [] if isinstance(self.flatten_ops, bool) else self.flatten_ops:
            if name not in names:
                raise AssemblyError(
                    f"{where}: flatten_ops names {name!r}, which is not an argument. {nearest(name, names)}"
                )

    def flattens(self, argument: str) -> bool:
        """Whether containers for `argument` are flattened."""
        return self.flatten_ops if isinstance(self.flatten_ops, bool) else argument in self.flatten_ops


def check_effects(function: Callable[..., Any], seen: bool, **effects: Any) -> None:
    """Check the declared effects of a graph function.

    Args:
        function: the function.
        seen: its effects are inferred.
        effects: the declared effects, by option.

    Raises:
        AssemblyError: effects are declared although they are inferred, or in an invalid form.
    """
    where = function.__qualname__
    for name, declared in effects.items():
        if seen and declared not in (None, False, ()):
            raise AssemblyError(
                f"{where}: {name}= is only for functions without a body; the effects of this one are inferred"
            )
        if isinstance(declared, str):
            raise AssemblyError(
                f"{where}: {name}= is a collection of attribute names or a function, given {declared!r}"
            )
