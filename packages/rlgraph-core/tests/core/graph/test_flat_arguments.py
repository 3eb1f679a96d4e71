"""`flatten_ops`, `split_ops`, `add_auto_key_as_first_param` of graph functions."""

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    GraphExecutor,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph.nodes import Output, arguments_of, references
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import assert_nested_close

FLOATS = FloatBox(shape=(2,), add_batch_rank=True)
NESTED = Dict(a=Dict(b=FLOATS, c=FloatBox(add_batch_rank=True)), d=Tuple(FLOATS, FLOATS))
ONES = np.ones((3, 2), np.float32)
STATES = {"a": {"b": ONES, "c": np.full(3, 2.0, np.float32)}, "d": (3.0 * ONES, 4.0 * ONES)}


def component(function, run=None, **options):
    """A root whose graph function `_f` is `function` with these options."""
    members = {
        "_f": graph_fn(**options)(function),
        "run": rlgraph_api(run or (lambda self, x: self._f(x))),
    }
    return type("Made", (Component,), members)(scope="root")


def executor(root, backend="numpy", **spaces):
    return GraphExecutor(root, spaces, backend=backend)


def run(root, *args, spaces=None):
    return executor(root, **(spaces or {"x": NESTED})).execute("run", *args)


def test_a_flat_argument_is_a_dict_by_path():
    seen = []

    def join(self, ops, x):
        seen.append(list(x))
        return ops.concat([x["a/b"], x["d/0"], x["d/1"]], axis=-1) + x["a/c"][:, None]

    outputs = run(component(join, flatten_ops=True), STATES)
    assert seen[0] == ["a/b", "a/c", "d/0", "d/1"]
    np.testing.assert_array_equal(outputs, [[3.0, 3.0, 5.0, 5.0, 6.0, 6.0]] * 3)


def test_a_single_tensor_has_the_empty_key():
    root = component(lambda self, ops, x: x[""] * 2.0, flatten_ops=True)
    np.testing.assert_array_equal(run(root, ONES, spaces={"x": FLOATS}), 2.0 * ONES)


def test_a_flat_dict_that_is_returned_is_nested_again():
    root = component(lambda self, ops, x: {key: v + 1.0 for key, v in x.items()}, flatten_ops=True)
    expected = {"a": {"b": 2.0 * ONES, "c": np.full(3, 3.0)}, "d": (4.0 * ONES, 5.0 * ONES)}
    assert_nested_close(run(root, STATES), expected)


def test_a_flat_tuple_that_is_returned_is_a_tuple_again(backend):
    """Its keys are numbers alone, without a path."""
    plus_one = graph_fn(flatten_ops=True)(lambda self, ops, x: {key: v + 1.0 for key, v in x.items()})
    swapped = rlgraph_api(flatten_ops=True)(lambda self, x: {"0": x["1"], "1": x["0"]})
    members = {"_f": plus_one, "run": rlgraph_api(lambda self, x: self._f(x)), "swap": swapped}
    root = type("Made", (Component,), members)(scope="root")
    made = executor(root, backend, x=Tuple(FLOATS, FLOATS))
    for method, expected in (("run", (2.0 * ONES, 4.0 * ONES)), ("swap", (3.0 * ONES, ONES))):
        outputs = made.execute(method, (ONES, 3.0 * ONES))
        assert isinstance(outputs, tuple)
        assert_nested_close(outputs, expected)


def test_a_flat_dict_of_a_single_tensor_is_that_tensor():
    root = component(lambda self, ops, x: {key: v + 1.0 for key, v in x.items()}, flatten_ops=True)
    np.testing.assert_array_equal(run(root, ONES, spaces={"x": FLOATS}), 2.0 * ONES)


def test_a_number_beside_names_is_a_name():
    root = component(lambda self, ops, x: {"0/a": x["a"], "rest": x["b"]}, flatten_ops=True)
    outputs = run(root, {"a": 1.0, "b": 2.0}, spaces={"x": Dict(a=float, b=float)})
    assert outputs == {"0": {"a": 1.0}, "rest": 2.0}


def test_the_parts_of_what_is_returned_can_be_used():
    root = component(
        lambda self, ops, x: {key: v + 1.0 for key, v in x.items()},
        lambda self, x: {"part": self._f(self._f(x)["a"])["c"]},
        flatten_ops=True,
    )
    assert_nested_close(run(root, STATES), {"part": np.full(3, 4.0)})


def test_only_the_named_arguments_are_flat():
    def pick(self, ops, x, y):
        return x["a/b"] + y["a"]["b"]

    root = component(pick, lambda self, x: self._f(x, x), flatten_ops={"x"})
    np.testing.assert_array_equal(run(root, STATES), 2.0 * ONES)


def test_split_calls_the_function_once_per_leaf():
    shapes = []

    def scale(self, ops, x):
        shapes.append(str(x))
        return x * 2.0

    outputs = run(component(scale, flatten_ops=True, split_ops=True), STATES)
    # The build looks at equal Spaces once.
    assert shapes[:2] == ["float32[B, 2]", "float32[B]"]
    assert len(shapes[2:]) == 4
    expected = {"a": {"b": 2.0 * ONES, "c": np.full(3, 4.0)}, "d": (6.0 * ONES, 8.0 * ONES)}
    assert_nested_close(outputs, expected)


def test_split_with_keys_and_an_argument_for_all():
    def weigh(self, ops, key, x, factor):
        return x * factor * {"a": 1.0, "b": 10.0, "": 100.0}[key]

    options = {"flatten_ops": True, "split_ops": True, "add_auto_key_as_first_param": True}
    root = component(weigh, lambda self, x, y: (self._f(x, y), self._f(y, factor=y)), **options)
    spaces = {"x": Dict(a=float, b=float), "y": float}
    assert run(root, {"a": 2.0, "b": 3.0}, 5.0, spaces=spaces) == ({"a": 10.0, "b": 150.0}, 2500.0)


def test_split_outputs_are_merged_one_by_one():
    def two(self, ops, x):
        return x + 1.0, {"twice": x * 2.0}

    root = component(two, flatten_ops=True, split_ops=True, returns=2)
    more, twice = run(root, {"a": 2.0, "b": 3.0}, spaces={"x": Dict(a=float, b=float)})
    assert more == {"a": 3.0, "b": 4.0}
    assert twice == {"a": {"twice": 4.0}, "b": {"twice": 6.0}}


def test_split_of_a_tuple_with_more_than_ten_parts():
    """Position 10 comes behind 9, not behind 1."""
    root = component(lambda self, ops, x: x + 1.0, flatten_ops=True, split_ops=True)
    outputs = run(root, tuple(map(float, range(12))), spaces={"x": Tuple(*[float] * 12)})
    assert outputs == tuple(map(float, range(1, 13)))


class Total(Component):
    """Sums the two parts of a container."""

    @rlgraph_api
    def total(self, x):
        return self._add(x["a"], x["b"])

    @graph_fn
    def _add(self, ops, x, y):
        return x + y


class Doubling(Component):
    """Doubles the parts of a container four times, three of them in a loop, and sums them."""

    def __init__(self):
        self.inner = Total(scope="inner")
        super().__init__(self.inner, scope="root")

    @rlgraph_api
    def run(self, x):
        return self.inner.total(self._double(loop(3, lambda i, y: self._double(y), x)))

    @graph_fn(flatten_ops=True, split_ops=True)
    def _double(self, ops, x):
        return x * 2.0


def test_split_in_the_body_of_a_loop_and_in_front_of_a_call():
    assert run(Doubling(), {"a": 1.0, "b": 10.0}, spaces={"x": Dict(a=float, b=float)}) == 176.0


def test_nothing_refers_to_a_call_that_was_split():
    graph = executor(Doubling(), x=Dict(a=float, b=float)).built.graph
    expressions = [e for call in graph.calls.values() for e in (call.results, *dict(call.arguments).values())]
    expressions += [e for node in graph.nodes.values() for _, e in arguments_of(node)]
    sources = {ref.source for expression in expressions for ref in references(expression)}
    outputs = {source.node for source in sources if isinstance(source, Output)}
    assert outputs
    assert outputs <= graph.nodes.keys()


def test_split_of_a_literal_and_a_constant():
    root = component(
        lambda self, ops, x, y: x + y,
        lambda self, x: self._f({"b": x["b"], "a": x["a"]}, {"a": 10.0, "b": 20.0}),
        flatten_ops=True,
        split_ops=True,
    )
    spaces = {"x": Dict(a=float, b=float)}
    assert run(root, {"a": 1.0, "b": 2.0}, spaces=spaces) == {"a": 11.0, "b": 22.0}


def test_containers_are_only_names_in_the_emitted_source():
    class Heads(Component):
        @rlgraph_api
        def run(self, x):
            return self._second(self._first(x))["a"]

        @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
        def _first(self, ops, key, x):
            return x * 2.0

        @graph_fn(flatten_ops=True, split_ops=True)
        def _second(self, ops, x):
            return x + 1.0

    root = executor(Heads(scope="root"), x=Dict(a=Dict(b=float), c=float))
    source = root.plan("run").steps[0]
    assert [(node.function, len(node.arguments)) for node in source.nodes] == [("_first", 2), ("_second", 1)]
    assert {str(leaf.path) for leaf, _ in source.inputs} == {"('a', 'b')"}
    assert root.execute("run", {"a": {"b": 2.0}, "c": 0.0}) == {"b": 5.0}


def test_effects_are_those_of_each_call():
    class Totals(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.totals = {
                key: self.get_variable(key, space, initializer=1.0)
                for key, space in input_spaces["x"].flatten().items()
            }

        @rlgraph_api
        def run(self, x):
            before = self._read(x)
            self._add(x)
            return before, self._read(x)

        @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
        def _read(self, ops, key, x):
            return self.totals[key][...]

        @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True, returns=0)
        def _add(self, ops, key, x):
            ops.assign_add(self.totals[key], x)

    root = executor(Totals(scope="root"), x=Dict(a=float, b=FloatBox(shape=(2,))))
    effects = list(root.built.effects.values())
    assert [set(e.reads) for e in effects[:2]] == [{"root/a"}, {"root/b"}]
    assert sorted(name for e in effects for name in e.writes) == ["root/a", "root/b"]
    before, after = root.execute("run", {"a": 1.0, "b": np.array([2.0, 3.0])})
    assert_nested_close(before, {"a": 1.0, "b": [1.0, 1.0]})
    assert_nested_close(after, {"a": 2.0, "b": [3.0, 4.0]})


def test_host_functions():
    root = component(
        lambda self, key, x: x * len(key),
        host=True,
        spaces=lambda self, key, x: x,
        flatten_ops=True,
        split_ops=True,
        add_auto_key_as_first_param=True,
    )
    spaces = {"x": Dict(a=Dict(b=float), c=float)}
    assert_nested_close(run(root, {"a": {"b": 2.0}, "c": 2.0}, spaces=spaces), {"a": {"b": 6.0}, "c": 2.0})
    flat = component(
        lambda self, x: x["a/b"] + x["c"], host=True, spaces=lambda self, x: x["c"], flatten_ops=True
    )
    assert run(flat, {"a": {"b": 2.0}, "c": 2.0}, spaces=spaces) == 4.0


def test_flat_outputs_of_one_segment_reach_a_host_function():
    class Mixed(Component):
        @rlgraph_api
        def run(self, x):
            return self._second(self._host(self._first(x)))

        @graph_fn(flatten_ops=True)
        def _first(self, ops, x):
            return {key: value * 2.0 for key, value in x.items()}

        @graph_fn(host=True, spaces=lambda self, x: x)
        def _host(self, x):
            return {"a": {"b": x["a"]["b"] + 1.0}, "c": x["c"]}

        @graph_fn(flatten_ops=True, split_ops=True)
        def _second(self, ops, x):
            return x * 10.0

    root = executor(Mixed(scope="root"), x=Dict(a=Dict(b=float), c=float))
    assert_nested_close(root.execute("run", {"a": {"b": 2.0}, "c": 3.0}), {"a": {"b": 50.0}, "c": 60.0})


def test_gradients_flow_through_split_calls():
    pytest.importorskip("torch")

    class Learner(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.w = self.get_variable("w", float, initializer=3.0)

        @rlgraph_api
        def run(self, x):
            return self._first(gradients(self._loss(self._f(x)), self.variables()))

        @graph_fn(flatten_ops={"x"}, split_ops=True)
        def _f(self, ops, x):
            return x * self.w * self.w

        @graph_fn(flatten_ops=True)
        def _loss(self, ops, x):
            return x["a"] + 2.0 * x["b"]

        @graph_fn
        def _first(self, ops, derivatives):
            return derivatives[0] * 1.0

    root = executor(Learner(scope="root"), "torch", x=Dict(a=float, b=float))
    # d/dw (a w^2 + 2 b w^2) = 2 w (a + 2 b)
    assert root.execute("run", {"a": 1.0, "b": 2.0}) == 30.0


# Errors.


def test_containers_with_different_keys():
    root = component(
        lambda self, ops, x, y: x + y, lambda self, x, y: self._f(x, y), flatten_ops=True, split_ops=True
    )
    with pytest.raises(
        BuildError,
        match=r"root._f is split by .* x has \['a', 'b'\], but y has \['a', 'c'\].*equal structures",
    ):
        run(root, spaces={"x": Dict(a=float, b=float), "y": Dict(a=float, c=float)})


def test_an_empty_container_cannot_be_split():
    root = component(lambda self, ops, x: x, lambda self, x: self._f({}), flatten_ops=True, split_ops=True)
    with pytest.raises(BuildError, match="split by the keys of x, which is an empty container"):
        executor(root, x=float)


def test_a_failing_leaf_names_its_key():
    root = component(
        lambda self, ops, key, x: x + 0.5,
        flatten_ops=True,
        split_ops=True,
        add_auto_key_as_first_param=True,
    )
    with pytest.raises(
        BuildError, match=r"root._f\(key: 'b/c', x: int64\[B\]\) failed: .*no implicit promotion"
    ):
        run(root, spaces={"x": Dict(a=float, b=Dict(c=IntBox(3, add_batch_rank=True)))})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_ops": True}, "split_ops=True needs flatten_ops=True"),
        (
            {"flatten_ops": True, "add_auto_key_as_first_param": True},
            "add_auto_key_as_first_param=True needs split_ops=True",
        ),
        ({"flatten_ops": {"z"}}, "flatten_ops names 'z', which is not an argument. Known: x"),
        ({"flatten_ops": "x"}, "flatten_ops= is True or a set of argument names, given 'x'"),
        ({"returns": -1}, "returns= is the number of outputs, given -1"),
        ({"returns": True}, "returns= is the number of outputs, given True"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(AssemblyError, match=message):
        component(lambda self, ops, x: x, **options)


def test_a_key_needs_a_parameter():
    with pytest.raises(AssemblyError, match="needs a parameter for the key"):
        component(lambda self, ops: 0, flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
