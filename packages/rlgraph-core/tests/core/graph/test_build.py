import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    assemble,
    build,
    gradients,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.graph import VariableList
from rlgraph.core.graph.values import describe
from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple

B, T = SymbolicDim.symbol("B"), SymbolicDim.symbol("T")
STATES = FloatBox(shape=(3,), add_batch_rank=True)


class Layer(Component):
    """Weights as large as the input."""

    def create_variables(self, input_spaces, action_space=None):
        self.seen = dict(input_spaces)
        self.weights = self.get_variable("weights", FloatBox(shape=(input_spaces["x"].shape[0], 2)))

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x, self.weights)


def body(function, *components, scope="root", **options):
    kind = type("Made", (Component,), {"run": rlgraph_api(function)})
    return kind(*components, scope=scope, **options)


def built(root, **spaces):
    return build(assemble(root), spaces)


def result(graph, method="run"):
    return graph.value_of(graph.graph.results_of(method))


# Spaces flow.


def test_spaces_flow_through_the_graph():
    one, two = Layer(scope="one"), Layer(scope="two")
    graph = built(body(lambda self, x: two.call(one.call(x)), one, two), x=STATES)
    assert result(graph) == TensorSpec((B, 2), "float32")
    assert {name: v.shape for name, v in graph.variables.items()} == {
        "one/weights": (3, 2),
        "two/weights": (2, 2),
    }
    assert one.seen["x"] == one.seen["call.x"] == STATES
    assert two.seen["x"] == FloatBox(shape=(2,), add_batch_rank=True)
    assert graph.input_spaces == {"run": {"x": STATES}}
    assert graph.statistics["variables"] == 2
    assert graph.statistics["trainable_parameters"] == 10


def test_nothing_of_the_graph_is_changed_and_nothing_is_executed():
    class Counting(Component):
        calls = 0

        @rlgraph_api
        @graph_fn(host=True, spaces=FloatBox())
        def run(self, x):
            type(self).calls += 1
            return x

    graph = assemble(Counting(scope="root"))
    nodes = dict(graph.nodes)
    build(graph, {"x": float})
    assert Counting.calls == 0
    assert dict(graph.nodes) == nodes


def test_float_dtype():
    layer = Layer(scope="layer")
    graph = build(assemble(body(lambda self, x: layer.call(x), layer)), {"x": STATES}, float_dtype="float64")
    assert result(graph) == TensorSpec((B, 2), "float64")
    assert graph.variables["layer/weights"].spec.dtype == "float64"


def test_shorthand_of_spaces():
    graph = built(body(lambda self, x, y: {"x": x, "y": y}), x=float, y={"a": int, "b": (bool, float)})
    assert describe(result(graph)) == "{x: float32[], y: {a: int64[], b: (bool[], float32[])}}"


def test_a_space_of_one_method_only():
    class Two(Component):
        @rlgraph_api
        def a(self, x):
            return x

        @rlgraph_api
        def b(self, x):
            return x

    graph = built(Two(scope="root"), **{"x": STATES, "b.x": IntBox(3)})
    assert result(graph, "a") == TensorSpec((B, 3), "float32")
    assert result(graph, "b") == TensorSpec((), "int64", 0, 3)


def test_batch_and_time_ranks_are_symbols():
    class Fold(Component):
        @rlgraph_api
        @graph_fn
        def run(self, ops, x):
            return ops.reshape(x, (-1, 2)) * 2.0

    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
    assert result(built(Fold(scope="root"), x=space)) == TensorSpec((B * T, 2), "float32")


def test_action_space_and_hooks_in_order():
    events = []

    class Hooked(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            events.append(("check", input_spaces["x"], action_space))

        def create_variables(self, input_spaces, action_space=None):
            events.append(("create", input_spaces["x"], action_space))

        @rlgraph_api
        def run(self, x):
            return x

    build(assemble(Hooked(scope="root")), {"x": STATES}, action_space=IntBox(4))
    assert events == [("check", STATES, IntBox(4)), ("create", STATES, IntBox(4))]


def test_host_functions_declare_their_spaces():
    class Host(Component):
        @rlgraph_api
        def run(self, x):
            return self._constant(x), self._derived(x), self._pair(x)

        @graph_fn(host=True, spaces=IntBox(5, add_batch_rank=True))
        def _constant(self, x):
            return x

        @graph_fn(host=True, spaces=lambda self, space: Dict(a=space, b=float))
        def _derived(self, x):
            return x

        @graph_fn(host=True, returns=2, spaces=(BoolBox(add_batch_rank=True), FloatBox(add_batch_rank=True)))
        def _pair(self, x):
            return x, x

    graph = built(Host(scope="root"), x=STATES)
    constant, derived, (one, other) = result(graph)
    # Every host call brings a batch size of its own; its outputs share it.
    assert constant.dtype == "int64"
    assert constant.shape[0] not in (B, derived["a"].shape[0])
    assert derived["a"].shape[1:] == (3,)
    assert derived["b"] == TensorSpec(derived["a"].shape[:1], "float32")
    assert one.shape == other.shape
    assert one.shape != constant.shape
    assert all(graph.effects[node].host for node in graph.graph.nodes)


def test_per_element_bounds_reach_a_component_that_gets_the_input_itself():
    inner = Layer(scope="inner")
    space = FloatBox(np.zeros(3), np.arange(1.0, 4.0), add_batch_rank=True)
    built(body(lambda self, x: inner.call(x), inner), x=space)
    assert inner.seen["x"] == space


def test_variables_wait_for_the_components_below_and_are_sorted():
    z, a = Layer(scope="z"), Layer(scope="a")

    class Using(Component):
        @rlgraph_api
        def run(self, x):
            self._use(self.variables())
            return z.call(a.call(x))

        @graph_fn(returns=0)
        def _use(self, ops, variables):
            for variable in variables:
                ops.assign(variable, 0.0)

    graph = built(Using(z, a, scope="root"), x=STATES)
    lists = [value for value in graph.values.values() if isinstance(value, VariableList)]
    assert [[v.name for v in values] for values in lists] == [["a/weights", "z/weights"]]
    effects = next(e for e in graph.effects.values() if e.writes)
    assert effects.writes == {"a/weights", "z/weights"}
    assert not effects.reads


def test_components_without_variables_wait_for_nothing():
    """The environment's case: its state goes out before its action comes in."""

    class Env(Component):
        @rlgraph_api
        @graph_fn(host=True, spaces=STATES)
        def current(self):
            return np.zeros((1, 3))

        @rlgraph_api
        @graph_fn(host=True, spaces=FloatBox(add_batch_rank=True))
        def step(self, action):
            return action

    env, layer = Env(scope="env"), Layer(scope="layer")
    graph = built(body(lambda self: env.step(layer.call(env.current())), env, layer))
    assert graph.variables["layer/weights"].shape == (3, 2)


def test_must_be_complete():
    """`put` takes what `peek` computes from the component's own variable."""

    class Memory(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.total = self.get_variable("total", FloatBox(shape=input_spaces["x"].shape))
            self.takes = input_spaces.get("value")

        @rlgraph_api
        @graph_fn
        def peek(self, ops, x):
            return x + self.total

    class Lenient(Memory):
        @rlgraph_api(must_be_complete=False)
        @graph_fn(returns=0)
        def put(self, ops, value):
            ops.assign(self.total, ops.mean(value, axis=0))

    class Strict(Memory):
        @rlgraph_api
        @graph_fn(returns=0)
        def put(self, ops, value):
            ops.assign(self.total, ops.mean(value, axis=0))

    lenient, strict = Lenient(scope="memory"), Strict(scope="memory")
    graph = built(body(lambda self, x: lenient.put(lenient.peek(x)), lenient), x=STATES)
    assert graph.variables["memory/total"].shape == (3,)
    with pytest.raises(BuildError, match="the build cannot go on") as error:
        built(body(lambda self, x: strict.put(strict.peek(x)), strict), x=STATES)
    assert "memory: argument value of put has no Space; it is supplied by output 0 of memory._peek" in str(
        error.value
    )
    assert "must_be_complete=False" in str(error.value)


# Effects.


def test_effects_are_recorded():
    class Ring(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.buffer = self.get_variable("buffer", FloatBox(shape=(4,)), trainable=False)
            self.index = self.get_variable("index", IntBox())
            self.other = self.get_variable("other", FloatBox())

        @rlgraph_api
        def run(self, x):
            self._insert(x)
            return self._view(), self._read(x), self._pure(x)

        @graph_fn(returns=0)
        def _insert(self, ops, x):
            ops.assign(self.buffer, self.buffer * 0.5 + x)
            ops.assign_add(self.index, 1)

        @graph_fn
        def _view(self, ops):
            return self.buffer[1:]

        @graph_fn
        def _read(self, ops, x):
            return x + self.other

        @graph_fn
        def _pure(self, ops, x):
            return {"a": x * 2.0, "b": x}

    graph = built(Ring(scope="ring"), x=FloatBox(shape=(4,)))
    by_name = {graph.graph.nodes[id_].function: effects for id_, effects in graph.effects.items()}
    insert, view, read, pure = (by_name[name] for name in ("_insert", "_view", "_read", "_pure"))
    assert (insert.reads, insert.writes) == ({"ring/buffer"}, {"ring/buffer", "ring/index"})
    assert (insert.hazard, insert.pure, insert.aliases) == (True, False, ())
    assert (view.reads, view.aliases[0] & {"ring/buffer"}) == ({"ring/buffer"}, {"ring/buffer"})
    assert (read.reads, read.pure) == ({"ring/other"}, True)
    assert "ring/other" not in read.aliases[0]
    assert (pure.reads, pure.writes, pure.pure, pure.hazard) == (set(), set(), True, False)


# Errors of the caller.


def test_missing_space():
    with pytest.raises(
        BuildError, match=r"argument 'y' of root.run has no Space: give input_spaces\['y'\].*'run.y'"
    ):
        built(body(lambda self, x, y: x), x=float)


def test_unknown_key():
    with pytest.raises(
        BuildError, match=r"input_spaces\['statse'\].*Did you mean 'states'\? All arguments: states"
    ):
        built(body(lambda self, states: states), states=float, statse=float)
    with pytest.raises(BuildError, match=r"input_spaces\['run.z'\]: no API method of root has that argument"):
        built(body(lambda self, x: x), **{"x": float, "run.z": float})


def test_wrong_space():
    with pytest.raises(SpaceError):
        built(body(lambda self, x: x), x=object())


def test_building_twice():
    layer = Layer(scope="layer")
    root = body(lambda self, x: layer.call(x), layer)
    built(root, x=STATES)
    with pytest.raises(BuildError, match="layer is built already; build a copy"):
        built(root, x=STATES)
    with pytest.raises(AssemblyError, match="is built already: copy a component before it is built"):
        root.copy()


# Errors of components.


class Failing(Component):
    @rlgraph_api
    def call(self, x, y):
        return self._combine(x, y)

    @graph_fn
    def _combine(self, ops, x, y):
        return x + y


def test_a_failing_graph_function_is_reported_with_scope_spaces_and_call_chain():
    inner = Failing(scope="inner")
    middle = body(lambda self, x, y: inner.call(x, y), inner, scope="middle")
    root = body(lambda self, x, y: middle.run(x, y), middle)
    with pytest.raises(BuildError) as error:
        built(root, x=STATES, y=IntBox(3, add_batch_rank=True))
    message = str(error.value)
    assert (
        "middle/inner._combine(x: float32[B, 3], y: int64[B]) failed: InferenceError: no implicit promotion"
        in message
    )
    assert "called by root.run -> middle.run -> middle/inner.call" in message
    assert error.value.__cause__ is not None


def _function(returns, function, **options):
    made = graph_fn(returns=returns, **options)(function)
    return type("Made", (Component,), {"run": rlgraph_api(lambda self, x: self._f(x)), "_f": made})(
        scope="root"
    )


@pytest.mark.parametrize(
    ("returns", "function", "message"),
    [
        (2, lambda self, ops, x: x, "declares returns=2 and returned float32"),
        (2, lambda self, ops, x: (x, x, x), "declares returns=2 and returned 3 values"),
        (0, lambda self, ops, x: x, "declares returns=0 and returned float32"),
        (
            1,
            lambda self, ops, x: None,
            "an output must be a tensor or a dict or tuple of tensors, given None.*returns=n",
        ),
        (
            1,
            lambda self, ops, x: {"a": 1.0},
            "an output must be a tensor or a dict or tuple of tensors, given 1.0",
        ),
        (1, lambda self, ops, x: ops.meen(x), "AttributeError: the contract has no operation ops.meen"),
        (1, lambda self, ops, x: x["a"], "basic slicing takes integers"),
        (1, lambda self, ops, x: [][3], "IndexError"),
        (1, lambda self, ops, x: self.nothing, "AttributeError: .*nothing"),
        (1, lambda self, ops, x: x if x.shape[0] else 2.0 * x, "not fixed by the Space"),
    ],
)
def test_wrong_graph_functions(returns, function, message):
    with pytest.raises(BuildError, match=message) as error:
        built(_function(returns, function), x=STATES)
    assert "root._f(x: float32[B, 3])" in str(error.value)


def test_a_function_that_returns_its_variable():
    class Bad(Layer):
        @rlgraph_api
        @graph_fn
        def run(self, ops, x):
            return self.weights

    with pytest.raises(
        BuildError, match=r"it returns the variable root/weights itself: return ops.read\(variable\)"
    ):
        built(Bad(scope="root"), x=STATES)


@pytest.mark.parametrize("name", ["_view", "_part"])
def test_a_function_that_returns_a_view_of_what_it_writes(name):
    class Bad(Layer):
        @rlgraph_api
        def run(self, x):
            return getattr(self, name)(x)

        @graph_fn
        def _view(self, ops, x):
            old = ops.reshape(self.weights, (-1,))
            ops.assign(self.weights, 0.0)
            return old

        @graph_fn
        def _part(self, ops, x):
            old = {"a": (self.weights[0], x)}
            ops.assign(self.weights, 0.0)
            return old

    with pytest.raises(
        BuildError, match="view of variable root/weights is used after the variable was written"
    ):
        built(Bad(scope="root"), x=STATES)


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (lambda layer, x: (layer.total(x), layer.variables())[1], "<1 variables>"),
        (lambda layer, x: {"a": (layer.total(x), layer.variables())}, r"{a: \(float32\[\], <1 variables>\)}"),
        (lambda layer, x: gradients(layer.total(x), layer.variables()), "<1 gradients>"),
    ],
)
def test_variables_and_gradients_stay_inside(returned, shown):
    class Total(Layer):
        @rlgraph_api
        @graph_fn
        def total(self, ops, x):
            return ops.mean(ops.matmul(x, self.weights))

    layer = Total(scope="layer")
    with pytest.raises(BuildError, match=f"root.run returns {shown}: only tensors leave the graph"):
        built(body(lambda self, x: returned(layer, x), layer), x=STATES)


def test_host_function_without_spaces():
    with pytest.raises(AssemblyError, match="must declare its outputs"):
        graph_fn(host=True)(lambda self, x: x)


@pytest.mark.parametrize(
    ("returns", "spaces"),
    [(1, (FloatBox(), FloatBox())), (2, (FloatBox(),)), (2, FloatBox()), (1, lambda self, x: None)],
)
def test_host_function_with_wrong_spaces(returns, spaces):
    with pytest.raises(BuildError, match=rf"spaces= must give {returns} Space\(s\)"):
        built(_function(returns, lambda self, x: x, host=True, spaces=spaces), x=STATES)


def test_host_functions_get_no_variables():
    class Bad(Layer):
        @rlgraph_api
        def run(self, x):
            return self._host(self.variables())

        @graph_fn(host=True, spaces=FloatBox())
        def _host(self, variables):
            return 0.0

    with pytest.raises(BuildError, match="a host function gets tensors, not variables"):
        built(Bad(scope="root"), x=STATES)


def test_two_spaces_for_one_argument():
    layer = Layer(scope="layer")

    def run(self, x, y):
        return layer.call(x), layer.call(y)

    with pytest.raises(BuildError, match="layer.call is called with two different Spaces for 'x'") as error:
        built(body(run, layer), x=STATES, y=FloatBox(shape=(4,), add_batch_rank=True))
    assert "float32[B, 3] and float32[B, 4]" in str(error.value)


def test_bounds_and_names_of_unknown_sizes_may_differ():
    layer = Layer(scope="layer")

    def run(self, x, y):
        return layer.call(x), layer.call(y)

    graph = built(body(run, layer), x=STATES, y=FloatBox(-1.0, 1.0, shape=(3,), add_batch_rank="demo"))
    assert [str(part) for part in result(graph)] == ["float32[B, 2]", "float32[demo, 2]"]


def test_deadlock_on_variables():
    layer = Layer(scope="layer")

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return layer.call(self._norm(x, self.variables()))

        @graph_fn
        def _norm(self, ops, x, variables):
            return x

    with pytest.raises(BuildError, match=r"root.variables\(\) waits for the variables of layer"):
        built(Root(layer, scope="root"), x=STATES)


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
@pytest.mark.parametrize(
    "run",
    [
        lambda self, x: self._f(x["c"]),
        lambda self, x: self.inner.call(x["c"]),
        lambda self, x: x["c"],
        lambda self, x: self.other.call({"a": x["a"]}),
        lambda self, x: self.other.pass_on({"a": x["a"]}),
        lambda self, x: self._f(self._pair(x["a"])["c"]),
    ],
    ids=["graph function", "argument of a component", "result", "literal", "literal and component", "output"],
)
def test_a_part_that_is_not_there(run):
    class Other(Component):
        @rlgraph_api
        def call(self, x):
            return self._f(x["c"])

        @rlgraph_api
        def pass_on(self, x):
            return self.call(x["c"])

        @graph_fn
        def _f(self, ops, x):
            return x

    class Root(Component):
        def __init__(self):
            self.inner, self.other = Layer(scope="inner"), Other(scope="other")
            super().__init__(self.inner, self.other, scope="root")

        @graph_fn
        def _f(self, ops, x):
            return x

        @graph_fn
        def _pair(self, ops, x):
            return {"a": x, "b": x}

    Root.run = rlgraph_api(run)
    with pytest.raises(BuildError, match="there is no part 'c'"):
        built(Root(), x=Dict(a=float, b=int))


def test_a_part_of_an_input_keeps_its_own_space():
    """Bounds for each element included."""
    seen = []

    class Reader(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            seen.append(input_spaces["x"])

        @rlgraph_api
        def call(self, x):
            return x

    reader, space = Reader(scope="reader"), Dict(a=Dict(b=IntBox([2, 5])), add_batch_rank=True)
    built(body(lambda self, x: reader.call(x["a"]["b"]), reader), x=space)
    assert seen == [IntBox([2, 5], add_batch_rank=True)]


def test_a_space_error_of_a_component_names_its_scope():
    class Picky(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            raise SpaceError("expected an integer")

        @rlgraph_api
        def call(self, x):
            return x

    picky = Picky(scope="picky")
    middle = body(lambda self, x: picky.call(x), picky, scope="middle")
    with pytest.raises(SpaceError, match="expected an integer") as error:
        built(body(lambda self, x: middle.run(x), middle), x=float)
    assert "middle/picky" in "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])


# Variables and gradients.


def test_wrong_variables():
    def declare(*names, **options):
        class Declaring(Component):
            def create_variables(self, input_spaces, action_space=None):
                for name in names:
                    self.get_variable(name, **options)

            @rlgraph_api
            def run(self, x):
                return x

        return Declaring(scope="root")

    with pytest.raises(BuildError, match="variable root/a is declared twice"):
        built(declare("a", "a", space=float), x=float)
    for space in (STATES, Dict(a=float), Tuple(float)):
        with pytest.raises(
            BuildError, match="root/a needs a Space with a fixed shape and ranks of fixed size"
        ):
            built(declare("a", space=space), x=float)


class Learner(Component):
    def __init__(self, loss, frozen=False):
        self.layer = Layer(scope="layer", trainable=not frozen)
        self._kind = loss
        super().__init__(self.layer, scope="learner")

    @rlgraph_api
    def run(self, x):
        output = self.layer.call(x)
        loss = {"mean": self._mean(output), "items": output, "integer": self._count(output)}[self._kind]
        return self._first(gradients(loss, self.layer.variables()))

    @graph_fn
    def _first(self, ops, derivatives):
        return derivatives[0] * 1.0

    @graph_fn
    def _mean(self, ops, x):
        return ops.mean(x)

    @graph_fn
    def _count(self, ops, x):
        return ops.sum(ops.argmax(x, axis=1))


@pytest.mark.parametrize(("loss", "given"), [("items", r"float32\[B, 2\]"), ("integer", r"int64\[\]")])
def test_the_loss_must_be_one_float(loss, given):
    with pytest.raises(
        BuildError, match=rf"learner.gradients: the loss must be one float without axes, given {given}"
    ):
        built(Learner(loss), x=STATES)


def test_frozen_variables_have_no_gradient():
    with pytest.raises(BuildError, match="learner.gradients: layer/weights is not trainable"):
        built(Learner("mean", frozen=True), x=STATES)


def test_gradients_by_something_else():
    with pytest.raises(
        BuildError, match=r"root.gradients: variables must be what component.variables\(\) returns"
    ):
        built(body(lambda self, x: gradients(x, x)), x=float)


def test_gradients_read_the_variables():
    graph = built(Learner("mean"), x=STATES)
    effects = [
        graph.effects[id_] for id_, node in graph.graph.nodes.items() if type(node).__name__ == "Gradients"
    ]
    assert [e.reads for e in effects] == [{"layer/weights"}]
