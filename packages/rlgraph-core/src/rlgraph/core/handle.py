"""Handles: what stands for a variable where the framework's tensors cannot, because they never change.

A backend whose tensors are written in place needs none of this: a variable is a view of its group's tensor.
"""

from __future__ import annotations

import inspect
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any

from rlgraph.core.graph.variables import Block, Layout, Variable
from rlgraph.core.ops.contract import OPERATIONS
from rlgraph.core.ops.nest import map_nested

#: Special methods of two operands and what they compute; each has a reflected form.
_BINARY = {
    name: getattr(operator, f"__{name}__")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
}
_OTHERS = {
    name: getattr(operator, f"__{name}__") for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "invert")
}


class Handle:
    """A variable, or a block of variables: a place in a group.

    Operators and indexing use the value that the place holds at this point of the program.

    Attributes:
        state: knows what each group holds now.
        group: name of the group.
        start, stop: the place in the group.
        shape: the shape; that of a block is ``[stop - start]``.
    """

    # NumPy arrays and scalars leave mixed arithmetic to this class.
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __init__(self, state: Any, group: str, start: int, stop: int, shape: Any):
        self.state, self.group, self.start, self.stop, self.shape = state, group, start, stop, shape

    @property
    def value(self) -> Any:
        """The value now, a tensor of the framework."""
        return self.state.read(self)

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.stop - self.start

    def __getitem__(self, key: Any) -> Any:
        return self.value[value_of(key)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.group}[{self.start}:{self.stop}] {self.shape}>"


def _operator(function: Callable[..., Any], *, reflected: bool = False) -> Callable[..., Any]:
    def run(self: Handle, *others: Any) -> Any:
        operands = map(value_of, (*others, self) if reflected else (self, *others))
        return function(*operands)

    return run


for _name, _function in _BINARY.items():
    setattr(Handle, f"__r{_name}__", _operator(_function, reflected=True))
for _name, _function in (_BINARY | _OTHERS).items():
    setattr(Handle, f"__{_name}__", _operator(_function))


class HandleState(ABC):
    """What the variables of a segment hold while it runs or is traced; gives handles to a `Linker`.

    Args:
        layout: where the variables are.
    """

    handle_type: type[Handle] = Handle

    def __init__(self, layout: Layout):
        self.layout = layout

    @abstractmethod
    def read(self, handle: Handle) -> Any:
        """The value of `handle` now, in its shape."""

    def handle(self, variable: Variable) -> Any:
        """The handle that is `variable`."""
        return self.handle_type(self, *self.layout.place(variable), variable.shape)

    def block(self, block: Block) -> Any:
        """The flat handle that is `block`."""
        size = block.stop - block.start
        return self.handle_type(self, block.group, block.start, block.stop, (size,))


def value_of(value: Any) -> Any:
    """`value`, a nested dict, list or tuple, with the values of the handles in it."""
    if isinstance(value, Handle):
        return value.value
    return map_nested(value_of, value) if isinstance(value, dict | list | tuple) else value


def takes_handles(ops: type) -> type:
    """Class decorator of an `ops` namespace whose functions take tensors only: operations get the values of handles.

    Those of the family state get the handles themselves.
    """
    for name in ("shape", *(o.name for o in OPERATIONS.values() if o.family != "state")):
        function = inspect.getattr_static(ops, name, None)
        if isinstance(function, staticmethod | classmethod):
            setattr(ops, name, type(function)(_on_values(function.__func__)))
        elif callable(function):
            setattr(ops, name, _on_values(function))
    return ops


def _on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def on_values(*args: Any, **kwargs: Any) -> Any:
        return function(*map(value_of, args), **kwargs)

    return on_values
