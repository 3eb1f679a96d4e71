"""A container of values that share a variable's memory is copied part by part."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest


class Pair(Component):
    """Hands out two views of its variable and overwrites it."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.state = self.get_variable("state", FloatBox(shape=(2, 2)), initializer=1.0)

    def check_input_spaces(self, input_spaces: Any, action_space: Any = None) -> None:
        assert input_spaces["x"].shape == ()

    @rlgraph_api
    def swap(self, x: Any) -> Any:
        old = self._parts(x)
        self._add(x)
        return old

    @graph_fn
    def _parts(self, ops: Any, x: Any) -> Any:
        return {"first": self.state[0], "rest": (self.state[1], x * 2.0)}

    @graph_fn(returns=0)
    def _add(self, ops: Any, x: Any) -> None:
        ops.assign_add(self.state, x * ops.ones((2, 2)))


def test_parts_of_a_container_are_copied(backend: str) -> None:
    test = ComponentTest(Pair(scope="pair"), {"x": FloatBox()}, backend=backend)
    first = test.test(("swap", [3.0]))
    second = test.test(("swap", [1.0]))
    expected = {"first": np.full(2, 1.0), "rest": (np.full(2, 1.0), np.float32(6.0))}
    np.testing.assert_array_equal(first["first"], expected["first"])
    np.testing.assert_array_equal(first["rest"][0], expected["rest"][0])
    np.testing.assert_array_equal(second["first"], np.full(2, 4.0))
    assert float(first["rest"][1]) == 6.0
