"""Messages of builds that cannot be, and warnings of what is probably not meant."""

import pickle

import pytest

from rlgraph.components import SGD
from rlgraph.core import (
    AssemblyError,
    BuildError,
    BuildWarning,
    Component,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import Dict, FloatBox, Tuple

STATES = FloatBox(shape=(3,), add_batch_rank=True)


class Layer(Component):
    """Weights as large as the input."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(3, 2)))

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x, self.weights)


def body(function, *components, **members):
    kind = type("Made", (Component,), {"run": rlgraph_api(function), **members})
    return kind(*components, scope="root")


def built(root, **spaces):
    return build(assemble(root), spaces)


# Components nobody calls.


def test_unused_components_are_left_out_with_a_warning():
    used, unused = Layer(scope="used"), Layer(scope="unused")
    root = body(lambda self, x: used.call(x), used, Component(unused, scope="group"))
    with pytest.warns(
        BuildWarning, match="component group is part of root, but no API method calls it"
    ) as caught:
        graph = built(root, x=STATES)
    assert len(caught) == 1
    assert list(graph.variables) == ["used/weights"]


def test_an_unused_component_without_variables_is_no_matter():
    built(body(lambda self, x: x, Component(scope="settings")), x=STATES)


def test_an_exposed_method_that_nothing_calls():
    middle = Component(Layer(scope="layer"), scope="middle", expose_apis={"call": "apply"})
    with pytest.raises(
        BuildError, match="middle.apply exposes an API method of middle/layer, and nothing calls it"
    ):
        built(body(lambda self, x: x, middle), x=STATES)


# Spaces that differ.


def test_two_spaces_name_both_callers_and_the_differing_part():
    class Taking(Layer):
        @rlgraph_api
        def call(self, x):
            return self._call(x["b"][0])

    layer = Taking(scope="layer")

    class Root(Component):
        @rlgraph_api
        def one(self, x):
            return layer.call(x)

        @rlgraph_api
        def two(self, y):
            return layer.call(y)

    spaces = {
        "x": Dict(a=float, b=Tuple(STATES, float)),
        "y": Dict(a=float, b=Tuple(FloatBox(shape=(4,), add_batch_rank=True), float)),
    }
    with pytest.raises(BuildError) as error:
        built(Root(layer, scope="root"), **spaces)
    assert str(error.value) == (
        "layer.call is called with two different Spaces for 'x': "
        "{a: float32[B], b: (float32[B, 3], float32[B])} and {a: float32[B], b: (float32[B, 4], float32[B])} "
        "(by root.one and root.two); they differ at b/0: float32[B, 3] against float32[B, 4]"
    )


def test_spaces_of_the_roots_own_arguments():
    class Root(Layer):
        @rlgraph_api
        def again(self, x):
            return self.call(self._cut(x))

        @graph_fn
        def _cut(self, ops, x):
            return x[:, :2]

        def create_variables(self, input_spaces, action_space=None):
            pass

    with pytest.raises(BuildError) as error:
        built(Root(scope="root"), x=STATES)
    assert str(error.value) == (
        "root.call is called with two different Spaces for 'x': float32[B, 2] and float32[B, 3] (by root.again and "
        "input_spaces of call)"
    )


# Cycles.


def test_the_cycle_itself_is_printed():
    class Twofold(Layer):
        def create_variables(self, input_spaces, action_space=None):
            self.size = input_spaces["y"].shape[0]

        @rlgraph_api
        def correct(self, y):
            return self._call(y)

    one, two, behind = Twofold(scope="one"), Layer(scope="two"), Layer(scope="behind")

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            first = one.call(x)
            second = two.call(first)
            behind.call(second)
            return one.correct(second)

    with pytest.raises(BuildError) as error:
        built(Root(one, two, behind, scope="root"), x=STATES)
    assert (
        "the cycle: one waits for two._call waits for one._call waits for one"
        in str(error.value).splitlines()
    )


# Calls from graph functions.


@pytest.mark.parametrize(
    ("compute", "what"),
    [
        (lambda self, ops, x: self.layer.call(x), "API method layer.call"),
        (lambda self, ops, x: self._other(x), "graph function root._other"),
        (lambda self, ops, x: self.run(x), "API method root.run"),
        (lambda self, ops, x: self.variables(), r"root.variables\(\)"),
    ],
)
def test_wiring_inside_a_graph_function(compute, what):
    class Root(Component):
        def __init__(self):
            self.layer = Layer(scope="layer")
            super().__init__(self.layer, scope="root")

        @rlgraph_api
        def run(self, x):
            return self.layer.call(self._compute(x))

        _compute = graph_fn(compute)

        @graph_fn
        def _other(self, ops, x):
            return x

    with pytest.raises(
        BuildError, match=rf"root._compute\(x: float32\[B, 3\]\) calls {what}: a graph function computes"
    ) as error:
        built(Root(), x=STATES)
    assert "called by root.run" in str(error.value)


# What else is found.


def test_undeclared_methods():
    class Undeclared(Component):
        def call(self, x):
            return self._f(x)

        @graph_fn
        def _f(self, ops, x):
            return x

    inner = Undeclared(scope="inner")
    with pytest.raises(
        AssemblyError, match="graph function inner._f is called from root.run: .*API methods only"
    ):
        assemble(body(lambda self, x: inner.call(x), inner))


def test_a_method_that_is_not_there():
    layer = Layer(scope="layer")
    with pytest.raises(AttributeError, match="<Layer layer> has no API method or attribute 'cal'.*'call'"):
        assemble(body(lambda self, x: layer.cal(x), layer))


def test_names_are_compared_only_for_a_message_that_is_read(monkeypatch):
    layer, compared = Layer(scope="layer"), []
    monkeypatch.setattr(
        "rlgraph.core.component.component.offer",
        lambda name, known, others: compared.append(name) or "Known: call.",
    )
    assert getattr(layer, "cal", None) is None
    assert not compared
    with pytest.raises(AttributeError) as raised:
        layer.cal
    again = pickle.loads(pickle.dumps(raised.value))
    assert compared == ["cal"]
    assert str(again) == "<Layer layer> has no API method or attribute 'cal'. Known: call."


def test_tensor_methods_and_truth():
    for compute, message in (
        (lambda self, ops, x: x.mean(), "tensor method or attribute .mean"),
        (lambda self, ops, x: x if x > 0 else -x, "has no truth value before run time"),
    ):
        with pytest.raises(BuildError, match=message) as error:
            built(body(lambda self, x: self._f(x), _f=graph_fn(compute)), x=STATES)
        assert str(error.value).startswith("root._f(x: float32[B, 3]) failed")


def test_variables_of_a_part_that_nothing_calls():
    layer, count = Layer(scope="layer"), graph_fn(lambda self, ops, variables: ops.asarray(len(variables)))
    root = body(lambda self: self._count(layer.variables()), Component(layer, scope="group"), _count=count)
    asked = r"group/layer.variables\(\) is asked for, but no API method calls group/layer, .*: call an API method of"
    with pytest.raises(BuildError, match=asked):
        built(root)


def test_an_optimizer_of_the_variables_around_it():
    optimizer = SGD(scope="optimizer")

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float)

    root = body(
        lambda self, x: optimizer.step(self.variables(), self._loss(x)),
        optimizer,
        create_variables=create_variables,
        _loss=graph_fn(lambda self, ops, x: x * self.w),
    )
    advice = r"root.variables\(\) holds the variables of optimizer, too.*a part of their own"
    with pytest.raises(BuildError, match=advice):
        built(root, x=float)


@pytest.mark.parametrize("hook", ["create_variables", "check_input_spaces"])
def test_a_hook_that_fails_is_named_with_its_spaces(hook):
    def fails(self, input_spaces, action_space=None):
        self.size = input_spaces["x"].shape[0]

    root = body(lambda self, x: x, **{hook: fails})
    expected = rf"root.{hook}\(x: FloatBox\(\)\) failed: IndexError: tuple index out of range"
    with pytest.raises(BuildError, match=expected):
        built(root, x=float)


@pytest.mark.parametrize(("name", "expected"), [("w", "w"), ("mean/left", "mean/left"), ("mean/", "mean")])
def test_names_of_variables(name, expected):
    def create_variables(self, input_spaces, action_space=None):
        self.get_variable(name, float)

    root = body(lambda self, x: x, create_variables=create_variables)
    assert list(built(root, x=float).variables) == [f"root/{expected}"]


@pytest.mark.parametrize("name", ["", "/", "/w", "mean//left"])
def test_names_of_variables_with_empty_parts(name):
    def create_variables(self, input_spaces, action_space=None):
        self.get_variable(name, float)

    root = body(lambda self, x: x, create_variables=create_variables)
    with pytest.raises(BuildError, match=f"variable '{name}' of root needs a name, or several"):
        built(root, x=float)


def test_gradients_by_nothing():
    optimizer, layer = SGD(scope="optimizer"), Layer(scope="layer", trainable=False)
    root = body(
        lambda self, x: optimizer.step(layer.variables(trainable_only=True), self._mean(layer.call(x))),
        optimizer,
        layer,
        _mean=graph_fn(lambda self, ops, x: ops.mean(x)),
    )
    with pytest.raises(BuildError, match="optimizer.gradients: there are no variables"):
        built(root, x=STATES)
