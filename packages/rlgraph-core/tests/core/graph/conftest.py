"""Small components with graph functions of every kind, and roots made of a single API method."""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

# A cell is fed with what it computed itself: its variables must not wait for that.
api = rlgraph_api(must_be_complete=False)


class Cell(Component):
    """A trainable number `w` (1.0), and functions of every kind."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=1.0)

    # Pure.

    @api
    def add(self, x, y):
        return self._add(x, y)

    @api
    def multiply(self, x, y):
        return self._multiply(x, y)

    @api
    def to_float(self, x):
        return self._to_float(x)

    @api
    def above(self, x, limit):
        return self._above(x, limit)

    @api
    def total(self, x):
        return self._total(x)

    @api
    def reshape(self, x, shape):
        return self._reshape(x, shape)

    # Variables.

    @api
    def weigh(self, x):
        return self._weigh(x)

    @api
    def see_w(self):
        return self._see_w()

    @api
    def view_w(self):
        return self._view_w()

    @api
    def set_w(self, x):
        return self._set_w(x)

    @api
    def descend(self, derivatives, rate):
        return self._descend(self.variables(), derivatives, rate)

    @api
    def first(self, derivatives):
        return self._first(derivatives)

    # Host.

    @api
    def host_add(self, x, y):
        return self._host_add(x, y)

    @graph_fn
    def _add(self, ops, x, y):
        return x + y

    @graph_fn
    def _multiply(self, ops, x, y):
        return x * y

    @graph_fn
    def _to_float(self, ops, x):
        return ops.astype(x, "float")

    @graph_fn
    def _above(self, ops, x, limit):
        return x > limit

    @graph_fn
    def _total(self, ops, x):
        return ops.sum(x)

    @graph_fn
    def _reshape(self, ops, x, shape):
        return ops.reshape(x, shape)

    @graph_fn
    def _weigh(self, ops, x):
        return x * self.w

    @graph_fn
    def _see_w(self, ops):
        return ops.read(self.w)

    @graph_fn
    def _view_w(self, ops):
        return ops.reshape(self.w, (1,))

    @graph_fn(returns=0)
    def _set_w(self, ops, x):
        ops.assign(self.w, x)

    @graph_fn(returns=0)
    def _descend(self, ops, variables, derivatives, rate):
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - rate * derivative)

    @graph_fn
    def _first(self, ops, derivatives):
        return ops.sum(derivatives[0])

    @graph_fn(host=True, spaces=FloatBox())
    def _host_add(self, x, y):
        return np.asarray(x + y)


class Counter(Component):
    """A variable `count` (0), and a host function that counts its calls."""

    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", IntBox(), initializer=0)
        self.calls = self.get_variable("calls", IntBox(), initializer=0, host=True)

    @api
    def see_count(self):
        return self._see_count()

    @api
    def tick(self):
        return self._tick()

    @api
    def host_number(self):
        return self._host_number()

    @graph_fn
    def _see_count(self, ops):
        return ops.read(self.count)

    @graph_fn(returns=0)
    def _tick(self, ops):
        ops.assign_add(self.count, 1)

    @graph_fn(host=True, spaces=IntBox())
    def _host_number(self):
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
