"""Handles: what stands for a variable, or a block of variables, inside graph functions."""

from __future__ import annotations

from jax import Array

from rlgraph.core.handle import Handle


class VariableHandle(Handle):
    """A handle that functions of `jax.numpy` take as well, and arrays as the other operand."""

    def __jax_array__(self) -> Array:
        return self.value
