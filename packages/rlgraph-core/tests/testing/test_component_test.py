import doctest

import numpy as np
import pytest

import rlgraph.testing.backends
import rlgraph.testing.component_test
from rlgraph.core import BuildError, Component, RLGraphError, graph_fn, registry, rlgraph_api
from rlgraph.core.registry import Plugin
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest, installed_backends, on_all_backends


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


class Wide(Power):
    """A method that another one calls, and one with arguments of its own."""

    @rlgraph_api
    def both(self, x, y):
        return self.call(x, 1.0), self._call(y, 3.0)

    @rlgraph_api
    def triple(self, y):
        return self.both(y, y)[1]


def test_methods_without_spaces_are_left_out():
    test = ComponentTest(Wide(scope="p"), {"y": FloatBox(add_batch_rank=True)}, backend="numpy")
    test.test("triple", [1.0, 2.0], expected_outputs=[3.0, 6.0])
    with pytest.raises(RLGraphError, match=r"p.both was left out of the build: its arguments are x, y, and"):
        test.test("both", [1.0], [2.0])


@pytest.mark.parametrize("spaces", [{}, {"factor": float}, {"y": float, "x": float, "facto": float}])
def test_spaces_that_are_missing_or_of_nothing_are_said(spaces):
    with pytest.raises(BuildError, match=r"has no Space|no API method of p has that argument"):
        ComponentTest(Wide(scope="p"), spaces, backend="numpy")


def test_ways_to_call(backend):
    test = made(backend)
    component = test.component
    for call in [
        (("call", [[1.0, 2.0]]),),
        (("call", ([1.0, 2.0], 2.0)),),
        (("call", {"x": [1.0, 2.0]}),),
        (("call", np.array([1.0, 2.0])),),
        ((component.call, [[1.0, 2.0]]),),
        ("call", [1.0, 2.0]),
        ("call", [1.0, 2.0], 2.0),
        (component.call, np.array([1.0, 2.0])),
    ]:
        test.test(*call, expected_outputs=[2.0, 4.0])
    test.variable_test({"p/used": 8})
    assert {name: int(value) for name, value in test.read_variable_values().items()} == {"p/used": 8}
    with pytest.raises(AssertionError, match="^p/used: .* expected 5, given 8"):
        test.variable_test({"p/used": 5})
    with pytest.raises(
        TypeError, match=r"test has no argument 'x'; .* in a tuple with it: test\(\(\"call\", {'x': ...}\)\)"
    ):
        test.test("call", x=[1.0])
    with pytest.raises(TypeError, match="the arguments are given in a tuple and behind it"):
        test.test(("call", [1.0]), [2.0])


class Pair(Component):
    """Two numbers, in several containers."""

    def create_variables(self, input_spaces, action_space=None):
        self.a = self.get_variable("a", FloatBox(shape=(2,)), initializer=[1.0, 2.0])
        self.b = self.get_variable("b", FloatBox(), initializer=3.0)

    @rlgraph_api
    def both(self):
        a, b = self._read()
        return a, {"b": b, "more": (a, b)}

    @graph_fn(returns=2)
    def _read(self, ops):
        return ops.read(self.a), ops.read(self.b)


def test_parts_of_what_is_returned(backend):
    test = ComponentTest(Pair(scope="pair"), {}, backend=backend)
    test.test("both", expected_outputs=([1.0, 2.0], {"b": 3.0, "more": ([1.0, 2.0], 3.0)}))
    test.test("both", expected_outputs=(None, {"b": 3.0, "more": None}))
    assert test.test("both", which=0, expected_outputs=[1.0, 2.0]).tolist() == [1.0, 2.0]
    assert test.test(("both", [], 1), expected_outputs={"b": 3.0, "more": None})["b"] == 3.0
    with pytest.raises(AssertionError, match=r"^output\[1\].more\[1\]: 1 of 1 values differ"):
        test.test(("both", [], 1), expected_outputs={"b": 3.0, "more": (None, 4.0)})
    with pytest.raises(
        AssertionError, match=r"^output\[2\]: there is no such part, the method returned parts 0, 1"
    ):
        test.test("both", which=2)


def test_keys_of_what_is_returned():
    layer = ComponentTest(
        Power(scope="p"), {"x": FloatBox(add_batch_rank=True), "factor": float}, backend="numpy"
    )
    with pytest.raises(
        AssertionError, match=r"^output.x: there is no such part, the method returned one part only"
    ):
        layer.test("call", [1.0], which="x")


def test_ways_to_name_variables():
    test = ComponentTest(Pair(scope="pair"), {}, backend="numpy")
    pair = test.component
    test.variable_test({"pair/a": [1.0, 2.0], "pair/b": 3.0})
    test.variable_test("pair/a", [1.0, 2.0])
    test.variable_test(pair.b, 3.0)
    test.variable_test([pair.b, "pair/a"], [3.0, [1.0, 2.0]])
    test.variable_test(pair, {"pair/a": [1.0, 2.0], "pair/b": 3.0})
    test.variable_test(pair, [[1.0, 2.0], 3.0])
    assert list(test.read_variable_values(pair)) == ["pair/a", "pair/b"]
    assert list(test.read_variable_values(pair.b, "pair/a")) == ["pair/b", "pair/a"]
    with pytest.raises(AssertionError, match="^pair/b: "):
        test.variable_test([pair.a, pair.b], [[1.0, 2.0], 4.0])
    with pytest.raises(KeyError, match="there is no variable 'pair/c'. Did you mean 'pair/"):
        test.read_variable_values("pair/c")


def test_wrong_outputs():
    with pytest.raises(AssertionError, match=r"^output: .* at \[0\]: expected 3.0, given 2.0"):
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
    for module in (rlgraph.testing.component_test, rlgraph.testing.backends):
        result = doctest.testmod(module)
        assert (result.attempted > 0, result.failed) == (True, 0)


def test_installed_backends(monkeypatch):
    names = installed_backends()
    assert "numpy" in names
    assert "numpy" not in installed_backends("gradients")
    assert set(installed_backends("gradients")) <= set(names)
    broken = registry("rlgraph.backends")
    monkeypatch.setitem(broken._plugins, "broken", [Plugin("broken", "no_such_module:BACKEND")])
    assert "broken" in installed_backends("gradients")


@on_all_backends()
def test_on_every_backend(backend):
    made(backend).test("call", [1.0], expected_outputs=[2.0])


def test_what_is_marked():
    @on_all_backends("gradients")
    def marked(backend): ...

    (mark,) = marked.pytestmark
    assert mark.args == ("backend", installed_backends("gradients"))
