"""The state of a segment while it is traced: what each group and each random stream holds at this point.

JAX traces pure functions: values go in, values come out. The program that RLgraph emits reads and writes variables.
This class is what lies between the two: a write replaces a value in a dict, a read looks it up, and what the dict
holds at the end is what the program returns for the storage to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
from jax import Array, lax
from jax import numpy as jnp

from rlgraph.core.graph.variables import Block, Layout
from rlgraph.core.handle import Handle, HandleState
from rlgraph.core.ops import Effects
from rlgraph_jax.control import differentiated
from rlgraph_jax.handles import VariableHandle
from rlgraph_jax.random import Stream

Values = dict[str, Array]


@jax.custom_jvp
def replaced(present: Array, value: Array) -> Array:
    """`value`, with the derivatives of `present`."""
    return value


@replaced.defjvp
def _(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    return primals[1], tangents[0]


class SegmentState(HandleState):
    """The values that one segment works on.

    Args:
        layout: where the variables live.

    Attributes:
        values: name of a group or stream -> its value now.
    """

    handle_type = VariableHandle

    def __init__(self, layout: Layout):
        super().__init__(layout)
        self.values: Values = {}

    def stream(self, name: str) -> Stream:
        """The stream that graph functions draw from."""
        return Stream(self.values, name)

    # Reading and writing.

    def read(self, handle: Handle) -> Array:
        return self._part(handle.group, handle.start, handle.stop).reshape(handle.shape)

    def write(self, handle: Handle, value: Any) -> None:
        """Let `handle` stand for `value`: an array of its shape, or a number that fills it.

        What is written is data: no derivative goes through it, and the variable stays the same variable.
        """
        present = self.read(handle)
        value = jnp.broadcast_to(value, handle.shape).astype(present.dtype)
        self._replace(handle.group, handle.start, replaced(present, value).reshape(-1))

    def _part(self, group: str, start: int, stop: int) -> Array:
        flat = self.values[group]
        return (
            flat
            if (start, stop) == (0, flat.size)
            else lax.slice(flat, (start,), (stop,))
        )

    def _replace(self, group: str, start: int, part: Array) -> None:
        flat = self.values[group]
        part = part.astype(flat.dtype)
        whole = part.shape == flat.shape
        self.values[group] = (
            part if whole else lax.dynamic_update_slice(flat, part, (start,))
        )

    # Loops and branches: functions of their own, into which values go and out of which they come.

    def written(self, effects: Effects) -> Values:
        """The values now of the groups and streams that are written by what has these effects."""
        names = self.layout.groups_of(effects.writes) | effects.draws
        return {name: self.values[name] for name in sorted(names)}

    @contextmanager
    def holding(self, values: Mapping[str, Array]) -> Iterator[Values]:
        """With `values` in place of the present ones; what is written inside is seen inside only."""
        before = dict(self.values)
        self.values.update(values)
        try:
            yield self.values
        finally:
            self.values.clear()
            self.values.update(before)

    # Gradients.

    def differentiate(
        self, blocks: Sequence[Block]
    ) -> Callable[[Callable[[], tuple[Array, Any]]], tuple[Any, list[Array]]]:
        """``f(function) -> (made, derivatives)``, see `rlgraph.core.graph.emission.Transform`."""

        def derive(
            function: Callable[[], tuple[Array, Any]],
        ) -> tuple[Any, list[Array]]:
            def loss_of(parts: Sequence[Array]) -> tuple[Array, Any]:
                with self.holding({}) as values:
                    for block, part in zip(blocks, parts, strict=True):
                        self._replace(block.group, block.start, part)
                    before = dict(values)
                    loss, made = function()
                    written = {
                        name: value
                        for name, value in values.items()
                        if value is not before[name]
                    }
                return loss, (made, written)

            parts = [
                self._part(block.group, block.start, block.stop) for block in blocks
            ]
            with differentiated():
                found = jax.value_and_grad(loss_of, has_aux=True)(parts)
            (_, (made, written)), derivatives = found
            self.values.update(written)
            return made, derivatives

        return derive
