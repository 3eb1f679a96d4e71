"""The tape: what a variable is while something is recorded, and the way back from a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import isbox, new_box, toposort

from rlgraph.core.graph.variables import Block
from rlgraph.core.handle import Handle, HandleState
from rlgraph.core.numpy.backend import NumpyStorage

#: Whether nodes that are differentiated are running in this thread.
recording: ContextVar[bool] = ContextVar("recording", default=False)


class VariableHandle(Handle, ArrayBox):
    """A handle whose operators come before those of a box, since its class is derived from theirs."""

    shape: Any = ()  # an attribute, not the property of boxes


class Arrays(HandleState):
    """The variables of a segment: views of the groups' arrays, or the beginnings of a tape."""

    handle_type = VariableHandle

    def __init__(self, storage: NumpyStorage):
        super().__init__(storage.layout)
        self.groups = storage.groups

    def view(self, handle: Handle) -> np.ndarray:
        """The memory of a variable."""
        return self.groups[handle.group][handle.start : handle.stop].reshape(
            handle.shape
        )

    def read(self, handle: Handle) -> Any:
        value = self.view(handle)
        if not recording.get() or value.dtype.kind != "f":
            return value
        root = VJPNode.new_root()
        root.vjp = handle  # where the way back ends
        return new_box(value.copy(), 0, root)

    def gradients(
        self, blocks: Sequence[Block], retain: bool
    ) -> Callable[[Any], list[np.ndarray]]:
        """``f(loss) -> derivatives``. The tape of a loss is there for as long as the loss."""

        def derive(loss: Any) -> list[np.ndarray]:
            found = {
                block.group: np.zeros_like(self.groups[block.group]) for block in blocks
            }
            given = (
                {loss._node: (np.ones_like(loss._value), False)} if isbox(loss) else {}
            )
            for node in toposort(loss._node) if given else ():
                derivative = given.pop(node)[0]
                if node.parents:
                    for parent, part in zip(
                        node.parents, node.vjp(derivative), strict=True
                    ):
                        given[parent] = add_outgrads(given.get(parent), part)
                elif node.vjp.group in found:
                    handle = node.vjp
                    found[handle.group][handle.start : handle.stop] += np.reshape(
                        derivative, -1
                    )
            return [found[block.group][block.start : block.stop] for block in blocks]

        return derive
