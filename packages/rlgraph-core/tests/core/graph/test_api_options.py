"""Options of API methods: flat arguments, `returns=`, switched-off ones, calls of overridden ones."""

import pytest

from rlgraph.core import AssemblyError, Component, GraphExecutor, assemble, graph_fn, rlgraph_api
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.spaces import Dict, FloatBox, Tuple


class Scale(Component):
    """Multiplies by a configured number."""

    def __init__(self, factor=2.0, **kwargs):
        self.factor = factor
        super().__init__(**kwargs)

    @rlgraph_api
    def call(self, x):
        return self._scale(x)

    @graph_fn
    def _scale(self, ops, x):
        return x * self.factor


def body(function, *components, **members):
    kind = type("Made", (Component,), {"run": rlgraph_api(function), **members})
    return kind(*components, scope="root")


def run(root, *args, **spaces):
    return GraphExecutor(root, spaces, backend="numpy").execute("run", *args)


# Flat arguments.


def test_split_literals():
    scales = {"a": Scale(2.0, scope="two"), "b/c": Scale(3.0, scope="three")}

    @rlgraph_api(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def each(self, key, value):
        # Every key has a component of its own; a constant stays a plain value.
        return value if isinstance(value, float) else scales[key].call(value)

    inner = type("Inner", (Component,), {"each": each})(*scales.values(), scope="inner")
    root = body(lambda self, x: inner.each({"b": {"c": x}, "a": 3.0}), inner)
    assert [node.component for node in assemble(root).nodes.values()] == ["inner/three"]
    assert run(root, 2.0, x=float) == {"a": 3.0, "b": {"c": 6.0}}


def test_split_with_an_argument_for_all():
    class Inner(Component):
        @rlgraph_api(flatten_ops=True, split_ops=True)
        def each(self, value, factor):
            return self._times(value, factor)

        @graph_fn
        def _times(self, ops, value, factor):
            return value * factor

    inner = Inner(scope="inner")
    root = body(lambda self, x: inner.each({"a": x, "b": (x, x)}, 5.0), inner)
    assert run(root, 2.0, x=float) == {"a": 10.0, "b": (10.0, 10.0)}


def test_several_outputs_of_a_split_method():
    @rlgraph_api(flatten_ops=True, split_ops=True, returns=2)
    def each(self, value):
        return value, value

    inner = type("Inner", (Component,), {"each": each})(scope="inner")
    root = body(lambda self, x, y: inner.each({"a": x, "b": y})[1], inner)
    assert run(root, 1.0, 2.0, x=float, y=float) == {"a": 1.0, "b": 2.0}


def test_flat_literals_through_several_calls():
    seen = []

    class Inner(Component):
        @rlgraph_api(flatten_ops=True)
        def flip(self, values):
            seen.append(sorted(values))
            return {"a/b": values["c"], "c": values["a/b"]}

    inner = Inner(scope="inner")
    middle = type("Middle", (Component,), {"run": rlgraph_api(lambda self, v: inner.flip(inner.flip(v)))})(
        inner, scope="middle"
    )
    root = body(lambda self, x, y: middle.run({"a": {"b": x}, "c": y})["a"]["b"], middle)
    assert run(root, 1.0, 2.0, x=float, y=float) == 1.0
    assert seen == [["a/b", "c"]] * 2


class ByKey(Component):
    """A component of its own for every key, which only wiring can have."""

    def __init__(self, **kwargs):
        self.scales = {"a": Scale(2.0, scope="one"), "b/0": Scale(3.0, scope="two"), "": Scale(9.0)}
        super().__init__(*self.scales.values(), **kwargs)

    @rlgraph_api(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def each(self, key, x):
        return self.scales[key].call(x)


@pytest.mark.parametrize("deep", [False, True])
def test_split_arguments_of_the_root(deep):
    inner = ByKey(scope="inner")
    root = body(lambda self, x: inner.each(x["deep"] if deep else x), inner)
    space = Dict(a=float, b=Tuple(float))
    value = {"a": 1.0, "b": (1.0,)}
    given, spaces = ({"deep": value}, {"x": Dict(deep=space)}) if deep else (value, {"x": space})
    assert run(root, given, **spaces) == {"a": 2.0, "b": (3.0,)}


def test_the_root_itself_splits():
    root = ByKey(scope="root")
    executor = GraphExecutor(root, {"each.x": Dict(a=float, b=Tuple(float))}, backend="numpy")
    assert executor.execute("each", {"a": 1.0, "b": (1.0,)}) == {"a": 2.0, "b": (3.0,)}
    assert GraphExecutor(ByKey(scope="root"), {"x": float}, backend="numpy").execute("each", 1.0) == 9.0


def test_per_element_bounds_are_kept_where_a_container_is_split():
    seen = []

    class Inner(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            seen.append(input_spaces["x"])

        @rlgraph_api(flatten_ops=True)
        def call(self, x):
            return x["a"]

    space = Dict(a=FloatBox([0.0, 1.0], [2.0, 3.0]))
    inner = Inner(scope="inner")
    run(body(lambda self, x: inner.call(x), inner), {"a": [1.0, 2.0]}, x=space)
    assert seen == [space]


def test_what_is_a_container_at_the_build_only():
    inner = type(
        "Inner", (Component,), {"each": rlgraph_api(flatten_ops=True, split_ops=True)(lambda self, v: v)}
    )(scope="inner")
    message = "inner.each flattens its argument v, and .* put flatten_ops on a graph function"
    with pytest.raises(AssemblyError, match=message):
        assemble(body(lambda self, x: inner.each(x), inner))
    root = body(
        lambda self, x: inner.each(self._pass(x)), inner, _pass=graph_fn(lambda self, ops, x: x * 1.0)
    )
    with pytest.raises(AssemblyError, match=message):
        run(root, x=float)


def test_literals_with_different_keys():
    inner = type(
        "Inner", (Component,), {"each": rlgraph_api(flatten_ops=True, split_ops=True)(lambda self, v, w: v)}
    )(scope="inner")
    with pytest.raises(AssemblyError, match=r"inner.each is split by .* v has \['a'\], but w has \['b'\]"):
        assemble(body(lambda self, x: inner.each({"a": x}, {"b": x}), inner))


# Number of results.


@pytest.mark.parametrize(
    ("returns", "function", "given"),
    [
        (2, lambda self, x: x, "1 value"),
        (1, lambda self, x: (x, x), "2 values"),
        (3, lambda self, x: (x, x), "2 values"),
        (0, lambda self, x: x, "1 value"),
        (1, lambda self, x: None, "0 values"),
    ],
)
def test_declared_number_of_results(returns, function, given):
    method = rlgraph_api(returns=returns)(function)
    with pytest.raises(AssemblyError, match=f"root.run declares returns={returns} and returns {given}\\b"):
        assemble(type("Made", (Component,), {"run": method})(scope="root"))


@pytest.mark.parametrize(
    ("returns", "function"),
    [
        (0, lambda self, x: None),
        (1, lambda self, x: x),
        (1, lambda self, x: {"a": x, "b": x}),
        (2, lambda self, x: (x, (x, x))),
        (2, lambda self, x: [x, x]),
    ],
)
def test_right_number_of_results(returns, function):
    assemble(type("Made", (Component,), {"run": rlgraph_api(returns=returns)(function)})(scope="root"))


def test_an_output_is_not_unpacked_without_a_declaration():
    def unpack(self, x):
        first, second = self._f(x)
        return first, second

    with pytest.raises(AssemblyError, match=r"several outputs are declared with @graph_fn\(returns=n\)"):
        assemble(body(unpack, _f=graph_fn(lambda self, ops, x: (x, x))))


# Overridden methods.


class Shifted(Scale):
    @rlgraph_api
    def call(self, x):
        return self._shift(super().call(x))

    @graph_fn
    def _shift(self, ops, x):
        return x + 1.0


class Twice(Shifted):
    @rlgraph_api
    def call(self, x):
        return super().call(Scale.call(self, x))


def test_an_overridden_method_can_be_called():
    inner = Twice(3.0, scope="inner")
    root = body(lambda self, x: inner.call(x), inner)
    graph = assemble(root)
    # One call of the API; what it overrides is part of its body.
    assert len(list(graph.calls_of("inner"))) == 1
    functions = [n.function for n in graph.nodes.values() if isinstance(n, GraphFunctionCall)]
    assert functions == ["_scale", "_scale", "_shift"]
    assert run(root, 2.0, x=float) == 19.0


def test_the_spaces_of_a_component_are_those_of_the_outer_call():
    class Base(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.seen = dict(input_spaces)

        @rlgraph_api
        def run(self, x):
            return x

    class Sub(Base):
        @rlgraph_api
        def run(self, x):
            return super().run(self._wide(x))

        @graph_fn
        def _wide(self, ops, x):
            return ops.concat([x, x], axis=-1)

    root = Sub(scope="root")
    space = FloatBox(shape=(3,), add_batch_rank=True)
    GraphExecutor(root, {"x": space}, backend="numpy")
    assert root.seen["x"] == space


def test_a_cycle_through_an_overridden_method():
    class Sub(Scale):
        @rlgraph_api
        def call(self, x):
            return super().call(self.other(x))

        @rlgraph_api
        def other(self, x):
            return self.call(x)

    with pytest.raises(AssemblyError, match="root.call calls itself: root.call -> root.other -> root.call"):
        assemble(Sub(scope="root"))


# What may be called.


def test_a_component_that_is_not_composed():
    stray = Scale(scope="stray")
    with pytest.raises(
        AssemblyError, match=r"stray.call is called by root.run, and <Scale stray> is composed nowhere"
    ):
        assemble(body(lambda self, x: stray.call(x)))
    with pytest.raises(AssemblyError, match=r"stray.variables\(\) is called by root.run, and"):
        assemble(body(lambda self, x: stray.variables()))


def test_switched_off_methods():
    class Two(Component):
        @rlgraph_api
        def one(self, x):
            return x

        @rlgraph_api
        def two(self, x):
            return x

    assert list(assemble(Two(scope="root", switched_off_apis={"two"})).methods) == ["one"]
    inner = Two(scope="inner", switched_off_apis={"two"})
    with pytest.raises(AssemblyError, match="inner.two is switched off by switched_off_apis of <Two inner>"):
        assemble(body(lambda self, x: inner.two(x), inner))
    with pytest.raises(AssemblyError, match="switched_off_apis names 'tow', which is no API method.*'two'"):
        assemble(Two(scope="root", switched_off_apis={"tow"}))
