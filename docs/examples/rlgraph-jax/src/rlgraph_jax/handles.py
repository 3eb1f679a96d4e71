"""Handles: what stands for a variable, or a block of variables, inside graph functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import Array

from rlgraph.core.ops import OPERATIONS

if TYPE_CHECKING:
    from rlgraph_jax.state import SegmentState


class VariableHandle:
    """A variable, or a block of variables: a place in a group.

    JAX arrays never change, so a variable cannot be one. A handle asks for the value that its place holds at this
    point of the program; operators, indexing and the operations of the contract do so by themselves.

    Attributes:
        state: the values of the segment that is being traced.
        group: name of the group.
        start, stop: its place in the group.
        shape: its shape; that of a block is ``[stop - start]``.
    """

    # NumPy arrays and scalars leave mixed arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, state: SegmentState, group: str, start: int, stop: int, shape: tuple[int, ...]):
        self.state, self.group, self.start, self.stop, self.shape = state, group, start, stop, shape

    @property
    def value(self) -> Array:
        """The value now."""
        return self.state.read(self)

    # JAX's protocol: binary operators with an array on the left, `jax.numpy.asarray`.
    def __jax_array__(self) -> Array:
        return self.value

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.state.values[self.group].dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.stop - self.start

    def __getitem__(self, key: Any) -> Array:
        return self.value[key]

    def __repr__(self) -> str:
        return f"<VariableHandle {self.group}[{self.start}:{self.stop}] {self.shape}>"


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: VariableHandle, *operands: Any) -> Any:
        return getattr(self.value, name)(*map(value_of, operands))

    operator.__name__ = name
    return operator


for _name in (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__", "__neg__"),
    *("__matmul__", "__rmatmul__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__"),
    *("__invert__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
):
    setattr(VariableHandle, _name, _operator(_name))


def value_of(value: Any) -> Any:
    """`value` with what the handles in it stand for."""
    if isinstance(value, VariableHandle):
        return value.value
    if isinstance(value, list | tuple):
        return tuple(map(value_of, value))
    return {key: value_of(item) for key, item in value.items()} if isinstance(value, dict) else value


class OnValues:
    """Base of classes of operations: lets all of them take handles, since JAX's functions take arrays only."""

    def __init_subclass__(cls) -> None:
        for name, function in list(vars(cls).items()):
            if isinstance(function, staticmethod) and (name in OPERATIONS or name == "shape"):
                setattr(cls, name, staticmethod(_on_values(function.__func__)))
            elif name in OPERATIONS and callable(function):
                setattr(cls, name, _on_values(function))


def _on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def on_values(*args: Any, **kwargs: Any) -> Any:
        return function(*map(value_of, args), **kwargs)

    return on_values
