import doctest

import numpy as np
import pytest

import rlgraph.testing.component_test
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest


class Power(Component):
    """A base that counts how often it was used."""

    def create_variables(self, input_spaces, action_space=None):
        self.actions = action_space
        self.used = self.get_variable("used", IntBox())

    @rlgraph_api
    def call(self, x, factor=2.0):
        return self._call(x, factor)

    @graph_fn
    def _call(self, ops, x, factor):
        ops.assign_add(self.used, 1)
        return x * factor


def made(backend="numpy", **options):
    return ComponentTest(
        Power(scope="p"), {"x": FloatBox(add_batch_rank=True), "factor": float}, backend=backend, **options
    )


def test_ways_to_call(backend):
    test = made(backend)
    component = test.component
    for call in [
        ("call", [[1.0, 2.0]]),
        ("call", ([1.0, 2.0], 2.0)),
        ("call", {"x": [1.0, 2.0]}),
        (component.call, [[1.0, 2.0]]),
    ]:
        test.test(call, expected_outputs=[2.0, 4.0])
    test.variable_test({"p/used": 4})
    assert {name: int(value) for name, value in test.read_variable_values().items()} == {"p/used": 4}
    with pytest.raises(AssertionError, match="p/used"):
        test.variable_test({"p/used": 5})


def test_wrong_outputs():
    with pytest.raises(AssertionError, match="at output"):
        made().test(("call", [[1.0]]), expected_outputs=[3.0])


def test_functions_that_look_at_outputs():
    seen = []
    test = made()
    out = test.test(("call", [[1.0]]), fn_test=lambda *arguments: seen.append(arguments))
    assert seen == [(test, out)]


def test_options():
    test = made(action_space=IntBox(3), seed=5, execution_spec={"dtype": "float64"})
    assert test.component.actions == IntBox(3)
    assert (test.executor.execution.seed, test.executor.execution.dtype) == (5, "float64")
    assert test.test(("call", [[1.0]])).dtype == np.float64


def test_the_example():
    result = doctest.testmod(rlgraph.testing.component_test)
    assert (result.attempted > 0, result.failed) == (True, 0)
