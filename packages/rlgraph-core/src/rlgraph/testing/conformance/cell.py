"""A small component to wire loops and branches around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject

NUMBER, INTEGER = FloatBox(), IntBox()

# The cell is fed with what it computed itself: its variables must not wait for that.
api = rlgraph_api(must_be_complete=False)


class Cell(Component):
    """A trainable number `w`, 1 at first, and a host function that counts its calls."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.w: Any = self.get_variable("w", NUMBER, initializer=1.0)
        self.calls: Any = self.get_variable("calls", INTEGER, initializer=0, host=True)

    @api
    @graph_fn
    def add(self, ops: Any, x: Any, y: Any) -> Any:
        return x + y

    @api
    @graph_fn
    def above(self, ops: Any, x: Any, limit: Any) -> Any:
        return x > limit

    @api
    @graph_fn
    def weigh(self, ops: Any, x: Any) -> Any:
        return x * self.w

    @api
    @graph_fn
    def see(self, ops: Any) -> Any:
        return ops.read(self.w)

    @api
    @graph_fn
    def view(self, ops: Any) -> Any:
        return ops.reshape(self.w, (1,))

    @api
    @graph_fn(returns=0)
    def write(self, ops: Any, x: Any) -> None:
        ops.assign(self.w, x)

    @api
    @graph_fn(host=True, spaces=INTEGER)
    def count(self) -> Any:
        self.calls += 1
        return self.calls  # the same array every time

    @api
    @graph_fn
    def total(self, ops: Any, x: Any) -> Any:
        return ops.sum(x)

    @api
    @graph_fn
    def first(self, ops: Any, derivatives: Any) -> Any:
        return ops.sum(derivatives[0])


class Wired(Component):
    """A root around a cell; its API methods come from `wired`."""

    def __init__(self) -> None:
        self.cell = Cell(scope="cell")
        super().__init__(self.cell, scope="root")


def wired(subject: Subject, *methods: Callable[..., Any], **spaces: Any) -> GraphExecutor:
    """A root with the API methods ``f(self, *tensors)``, built on the backend."""
    members = {method.__name__: rlgraph_api(method) for method in methods}
    return subject.executor(type("Root", (Wired,), members)(), spaces, dtype="float64")


def floats(*values: Any) -> Any:
    """A tuple of float64 arrays; of one value, that array."""
    arrays = tuple(np.asarray(value, np.float64) for value in values)
    return arrays[0] if len(arrays) == 1 else arrays


def integers(*values: Any) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(value, np.int64) for value in values)


def derived(root: Any, loss: Any) -> Any:
    """The derivative by w."""
    return root.cell.first(gradients(loss, root.cell.variables()))
