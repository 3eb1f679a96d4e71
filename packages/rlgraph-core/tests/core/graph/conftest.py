"""Small components with graph functions of every kind, and roots made of a single API method."""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.cell import Cell as SmallCell
from rlgraph.testing.conformance.cell import api


class Cell(SmallCell):
    """A trainable number `w` (1.0), and functions of more kinds than the cell of conformance has."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=1.0)

    @api
    @graph_fn
    def multiply(self, ops, x, y):
        return x * y

    @api
    @graph_fn
    def to_float(self, ops, x):
        return ops.astype(x, "float")

    @api
    @graph_fn
    def reshape(self, ops, x, shape):
        return ops.reshape(x, shape)

    @api
    def descend(self, derivatives, rate):
        return self._descend(self.variables(), derivatives, rate)

    @api
    @graph_fn(host=True, spaces=FloatBox())
    def host_add(self, x, y):
        return np.asarray(x + y)

    @graph_fn(returns=0)
    def _descend(self, ops, variables, derivatives, rate):
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - rate * derivative)


class Counter(Component):
    """A variable `count` (0), and a host function that counts its calls."""

    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", IntBox(), initializer=0)
        self.calls = self.get_variable("calls", IntBox(), initializer=0, host=True)

    @api
    @graph_fn
    def see_count(self, ops):
        return ops.read(self.count)

    @api
    @graph_fn(returns=0)
    def tick(self, ops):
        ops.assign_add(self.count, 1)

    @api
    @graph_fn(host=True, spaces=IntBox())
    def host_number(self):
        """1, 2, 3 ...: always the same array."""
        self.calls += 1
        return self.calls


@pytest.fixture
def cell():
    return Cell(scope="cell")


@pytest.fixture
def other():
    return Cell(scope="other")


@pytest.fixture
def counter():
    return Counter(scope="counter")


@pytest.fixture
def executor():
    """``executor(run, *components, backend=..., **spaces)``: a root with the one API method ``run(self, ...)``."""

    def make(run, *components, backend="numpy", dtype="float64", **spaces):
        root = type("Root", (Component,), {"run": rlgraph_api(run)})(*components, scope="root")
        return GraphExecutor(root, spaces, backend=backend, execution_spec={"dtype": dtype, "seed": 1})

    return make
