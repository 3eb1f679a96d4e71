import dataclasses

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    Component,
    GraphExecutor,
    assemble,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph.nodes import (
    Const,
    Gradients,
    GraphFunctionCall,
    Input,
    Output,
    Pack,
    Parameter,
    Ref,
    Result,
    VariablesOf,
)
from rlgraph.spaces import Dict, Tuple


class Add(Component):
    """Adds a configured number."""

    def __init__(self, number=1.0, **kwargs):
        self.number = number
        super().__init__(**kwargs)

    @rlgraph_api
    def call(self, x, scale=2.0):
        return self._add(x, scale)

    @graph_fn
    def _add(self, ops, x, scale):
        return x * scale + self.number


class Root(Component):
    def __init__(self, **kwargs):
        self.one, self.two = Add(scope="one"), Add(scope="two")
        super().__init__(self.one, self.two, scope="root", **kwargs)

    @rlgraph_api
    def run(self, x, y=3.0):
        return {"b": self.two.call(self.one.call(x)), "a": (y, 7)}


def body(function, *components, scope="root"):
    """A root whose only API method is `function`."""
    kind = type("Made", (Component,), {"run": rlgraph_api(function)})
    return kind(*components, scope=scope)


def test_the_graph_is_data():
    graph = assemble(Root())
    assert list(graph.components) == ["root", "one", "two"]
    method = graph.methods["run"]
    assert (method.parameters, dict(method.defaults)) == (("x", "y"), {"y": 3.0})
    root, one, two = (next(graph.calls_of(scope)) for scope in ("root", "one", "two"))
    assert (root.caller, one.caller, two.caller) == (None, root.id, root.id)
    assert [node.function for node in graph.nodes.values()] == ["_add", "_add"]
    first, second = graph.nodes.values()
    assert (first.caller, second.caller) == (one.id, two.id)
    assert method.nodes == (first.id, second.id)
    # Edges are named from the inside and from the outside of every call.
    assert dict(one.arguments)["x"] == Ref(Parameter(root.id, "x"))
    assert dict(one.arguments)["scale"].value == 2.0
    assert dict(root.arguments) == {"x": Ref(Input("run", "x")), "y": Ref(Input("run", "y"))}
    assert dict(first.arguments)["x"] == Ref(Parameter(one.id, "x"))
    assert dict(two.arguments)["x"] == Ref(Result(one.id))
    assert one.results == Ref(Output(first.id))
    # Literals: keys sorted, tuples by position.
    assert root.results.kind is dict
    assert [key for key, _ in root.results.items] == ["a", "b"]
    assert root.results.at("a") == Pack(tuple, ((0, Ref(Parameter(root.id, "y"))), (1, Const(7))))


def test_the_graph_is_immutable():
    graph = assemble(Root())
    with pytest.raises(TypeError):
        graph.nodes[0] = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.root = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.calls[0].method = "other"


def test_constants_are_compared_by_identity():
    number = object()
    assert Const(number) == Const(number)
    assert hash(Const(number)) == hash(Const(number))
    assert Const(number) != Const(object())
    assert Const(1.0) != Const(2.0)


def test_assembling_twice_gives_the_same():
    assert assemble(Root()).methods == assemble(Root()).methods


def test_constants_stay_plain_values_inside():
    seen = []

    class Deciding(Component):
        @rlgraph_api
        def call(self, x, double=False):
            seen.append(double)
            return self._double(x) if double else x

        @graph_fn
        def _double(self, ops, x):
            return x * 2.0

    inner = Deciding(scope="inner")
    graph = assemble(body(lambda self, x: inner.call(inner.call(x, True)), inner))
    assert seen == [True, False]
    assert len(graph.nodes) == 1


def test_containers_are_literals_and_parts_are_paths():
    class Parts(Component):
        @rlgraph_api
        def call(self, pair):
            return {"b": self._f(pair["x"]["y"]), "a": self._f(pair["z"])}

        @graph_fn
        def _f(self, ops, v):
            return v

    parts = Parts(scope="parts")

    def run(self, x):
        result = parts.call(x)
        assert isinstance(result, dict)
        assert list(result) == ["a", "b"]
        return result["a"], result["b"]

    graph = assemble(body(run, parts))
    call = next(graph.calls_of("parts"))
    arguments = [dict(node.arguments)["v"] for node in graph.nodes.values()]
    assert arguments == [Ref(Parameter(call.id, "pair"), ("x", "y")), Ref(Parameter(call.id, "pair"), ("z",))]
    assert graph.results_of("run") == Pack(
        tuple, ((0, Ref(Result(call.id), ("a",))), (1, Ref(Result(call.id), ("b",))))
    )


class Nested(Component):
    """Returns a dict literal in a dict literal."""

    @rlgraph_api
    def call(self, x):
        return {"log_likelihood": x, "nested": {"action": x}}


def test_a_part_that_a_result_does_not_have():
    result = Nested(scope="result")

    def missing(take):
        with pytest.raises(AssemblyError) as error:
            assemble(body(lambda self, x: take(result.call(x)), result))
        return str(error.value).splitlines()[0]

    assert missing(lambda out: out["loglikelihood"]) == (
        "root.run: there is no part 'loglikelihood'; the parts are ['log_likelihood', 'nested']. "
        "Did you mean 'log_likelihood'?"
    )
    assert (
        missing(lambda out: out["nested"]["x"]) == "root.run: there is no part 'x'; the parts are ['action']"
    )
    assert (
        missing(lambda out: out[0])
        == "root.run: there is no part 0; the parts are ['log_likelihood', 'nested']"
    )


OBSERVATION = Dict(states=float, memory=Dict(a=float, b=Tuple(float, float)))


class Observer(Component):
    """Asks for the keys of its argument; passes it on whole, in part, changed."""

    def __init__(self):
        self.seen = []
        super().__init__(scope="observer")

    @rlgraph_api
    def call(self, x):
        self.seen.append(x)
        parts = {key: x["memory"][key] for key in x["memory"]}
        changed = {**x, "states": x["memory"]["a"]}
        return [self._f(given) for given in (x, {**x}, parts, {"a": parts["a"]}, changed, x["memory"]["b"])]

    @graph_fn
    def _f(self, ops, v):
        return ops.zeros(())


def test_an_argument_that_is_a_known_dict_is_a_dict_inside_and_one_reference_when_passed_on():
    observer = Observer()
    root = body(lambda self, x: observer.call(x), observer)
    graph = assemble(root, {"x": OBSERVATION})
    call = next(graph.calls_of("observer"))
    whole = Ref(Parameter(call.id, "x"))
    memory = Ref(whole.source, ("memory",))
    a, b = (Ref(whole.source, ("memory", key)) for key in "ab")
    assert dict(call.arguments) == {"x": Ref(Parameter(0, "x"))}
    assert [dict(node.arguments)["v"] for node in graph.nodes.values()] == [
        whole,
        whole,
        memory,
        Pack(dict, (("a", a),)),
        Pack(dict, (("memory", memory), ("states", a))),
        b,
    ]
    (seen,) = observer.seen
    assert (list(seen), list(seen["memory"]), "action_mask" in seen) == (
        ["memory", "states"],
        ["a", "b"],
        False,
    )
    assert graph == assemble(root, {"x": OBSERVATION})


def test_outputs_of_a_split_graph_function_have_the_structure_of_its_arguments():
    class Halver(Component):
        @rlgraph_api
        def call(self, x):
            halved = self._half(x)
            assert (list(halved), list(halved["memory"])) == (["memory", "states"], ["a", "b"])
            return self._use(halved, halved["memory"], self._plain(x))

        @graph_fn(flatten_ops=True, split_ops=True)
        def _half(self, ops, x):
            return x / 2.0

        @graph_fn(flatten_ops=True)
        def _plain(self, ops, x):
            return {path: leaf / 2.0 for path, leaf in x.items()}

        @graph_fn
        def _use(self, ops, whole, memory, plain):
            return memory["b"][1] + whole["states"] + plain["states"]

    halver = Halver(scope="halver")
    graph = assemble(body(lambda self, x: halver.call(x), halver), {"x": OBSERVATION})
    half, plain, use = graph.nodes.values()
    assert dict(use.arguments) == {
        "whole": Ref(Output(half.id)),
        "memory": Ref(Output(half.id), ("memory",)),
        "plain": Ref(Output(plain.id)),
    }
    root = body(lambda self, x: halver.call(x), halver)
    executor = GraphExecutor(root, {"x": OBSERVATION}, backend="numpy")
    assert executor.execute("run", {"states": 2.0, "memory": {"a": 4.0, "b": (6.0, 8.0)}}) == 6.0


def test_constants_in_a_literal_are_plain_values_inside():
    seen = []

    class Chooser(Component):
        @rlgraph_api
        def call(self, x):
            seen.append(x["mask"])
            return self._f(x)

        @graph_fn
        def _f(self, ops, x):
            return x["states"]

    chooser = Chooser(scope="chooser")
    graph = assemble(body(lambda self, x: chooser.call({"states": x, "mask": None}), chooser))
    assert seen == [None]
    (node,) = graph.nodes.values()
    assert dict(node.arguments)["x"] == Ref(Parameter(next(graph.calls_of("chooser")).id, "x"))


def test_parts_of_what_a_loop_carries():
    def run(self, x):
        return loop(2, lambda i, carried: carried["sums"], {"sum": x})

    with pytest.raises(
        AssemblyError, match=r"root.run: there is no part 'sums'; the parts are \['sum'\]. Did you"
    ):
        assemble(body(run))


def test_variables_and_gradients_are_nodes():
    inner = Add(scope="inner")
    graph = assemble(body(lambda self, loss: gradients(loss, inner.variables()), inner))
    variables, derivatives = graph.nodes.values()
    assert variables == VariablesOf(variables.id, 0, "inner")
    assert isinstance(derivatives, Gradients)
    assert derivatives.variables == Ref(Output(variables.id))
    assert (derivatives.component, derivatives.loss) == ("root", Ref(Parameter(0, "loss")))


def test_several_and_no_outputs():
    class Outputs(Component):
        @rlgraph_api
        def call(self, x):
            one, two = self._two(x)
            assert self._none(x) == ()
            return one, two

        @graph_fn(returns=2)
        def _two(self, ops, x):
            return x, x

        @graph_fn(returns=0)
        def _none(self, ops, x):
            pass

    graph = assemble(Outputs(scope="root"))
    assert [node.returns for node in graph.nodes.values()] == [2, 0]


def test_program_order_of_methods_is_by_name_and_their_nodes_are_their_own():
    class Two(Component):
        @rlgraph_api
        def b(self, x):
            return self._f(x)

        @rlgraph_api
        def a(self, x):
            return self._f(self.b(x))

        @graph_fn
        def _f(self, ops, x):
            return x

    graph = assemble(Two(scope="root"))
    assert list(graph.methods) == ["a", "b"]
    assert [len(graph.methods[name].nodes) for name in "ab"] == [2, 1]
    assert set(graph.methods["a"].nodes).isdisjoint(graph.methods["b"].nodes)
    # The call of b under a is a call of its own.
    assert [call.caller for call in graph.calls_of("root")] == [None, 0, None]


def test_below():
    leaf = Add(scope="leaf")
    middle = body(lambda self, x: leaf.call(x), leaf, scope="middle")
    other = Add(scope="middle-2")
    graph = assemble(body(lambda self, x: (middle.run(x), other.call(x)), middle, other))
    assert list(graph.components) == ["root", "middle", "middle/leaf", "middle-2"]
    assert graph.below("middle") == ["middle", "middle/leaf"]
    assert graph.below("root") == list(graph.components)
    assert leaf.scope_path == "middle/leaf"


# Errors.


def test_too_few_arguments():
    inner = Add(scope="inner")
    with pytest.raises(AssemblyError, match=r"inner.call\(x, scale\): missing a required argument: 'x'"):
        assemble(body(lambda self, x: inner.call(), inner))


def test_too_many_arguments():
    inner = Add(scope="inner")
    with pytest.raises(AssemblyError, match=r"inner.call\(x, scale\): too many positional arguments"):
        assemble(body(lambda self, x: inner.call(x, 1.0, 2.0), inner))


def test_unknown_argument():
    inner = Add(scope="inner")
    with pytest.raises(
        AssemblyError, match=r"inner.call\(x, scale\): got an unexpected keyword argument 'y'"
    ):
        assemble(body(lambda self, x: inner.call(x, y=1.0), inner))


def test_arity_of_a_graph_function():
    class Wrong(Component):
        @rlgraph_api
        def run(self, x):
            return self._f(x, x)

        @graph_fn
        def _f(self, ops, x):
            return x

    with pytest.raises(AssemblyError, match="root._f.*too many positional arguments"):
        assemble(Wrong(scope="root"))


def test_cycle():
    class Loop(Component):
        @rlgraph_api
        def a(self, x):
            return self.b(x)

        @rlgraph_api
        def b(self, x):
            return self.a(x)

    with pytest.raises(AssemblyError, match="root.a calls itself: root.a -> root.b -> root.a"):
        assemble(Loop(scope="root"))


def test_graph_function_of_another_component():
    inner = Add(scope="inner")
    with pytest.raises(
        AssemblyError, match=r"graph function inner._add is called from root.run: .*API methods only"
    ):
        assemble(body(lambda self, x: inner._add(x, 1.0), inner))


def test_two_children_in_one_scope():
    with pytest.raises(AssemblyError, match="root: two sub-components have the scope 'same'"):
        body(lambda self, x: x, Add(scope="same"), Add(scope="same"))


def test_a_child_in_the_scope_of_the_root():
    with pytest.raises(AssemblyError, match="two components share the scope 'root'"):
        assemble(body(lambda self, x: x, Add(scope="root")))


def test_one_component_composed_twice():
    shared = Add(scope="shared")
    left = body(lambda self, x: shared.call(x), shared, scope="left")
    right = body(lambda self, x: shared.call(x), shared, scope="right")
    graph = assemble(body(lambda self, x: right.run(left.run(x)), left, right))
    assert list(graph.components) == ["root", "left", "left/shared", "right"]
    assert len(list(graph.calls_of("left/shared"))) == 2
    assert graph.below("right") == ["left/shared", "right"]


@pytest.mark.parametrize(
    "call", [lambda add: add.call(1.0), lambda add: add._add(1.0, 2.0), lambda add: add.variables()]
)
def test_outside_assembly(call):
    with pytest.raises(
        AssemblyError, match="can only be called while a component graph is assembled.*ComponentTest"
    ):
        call(Add(scope="add"))


def test_gradients_outside_assembly():
    with pytest.raises(AssemblyError, match="while a component graph is assembled"):
        gradients(1.0, [])


def test_a_failing_assembly_leaves_no_trace_behind():
    inner = Add(scope="inner")
    with pytest.raises(AssemblyError):
        assemble(body(lambda self, x: inner.call(), inner))
    with pytest.raises(AssemblyError, match="while a component graph is assembled"):
        inner.call(1.0)
    assert len(assemble(Root()).nodes) == 2


def test_no_api_method():
    with pytest.raises(AssemblyError, match="root has no API method: decorate at least one"):
        assemble(Component(scope="root"))


def test_root_arguments_are_named():
    with pytest.raises(AssemblyError, match="root.run: a root API method takes no"):
        assemble(body(lambda self, *xs: xs))


def test_keys_are_identifiers():
    for key in ("a/b", 3, "a b"):
        with pytest.raises(AssemblyError, match="root.run: keys of a dict of values must be identifiers"):
            assemble(body(_returning(key)))


def _returning(key):
    def run(self, x):
        return {key: x}

    return run


def _if(x):
    return x if x else 0


def _unpack(x):
    first, _ = x
    return first


@pytest.mark.parametrize(
    "use",
    [
        _if,
        _unpack,
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: x * 2,
        lambda x: x / 2,
        lambda x: x // 2,
        lambda x: x % 2,
        lambda x: x**2,
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x @ x,
        lambda x: x & x,
        lambda x: ~x,
        lambda x: x < 1,
        lambda x: x == 1,
        lambda x: x != 1,
        lambda x: x in [1, 2],
        lambda x: 1 in x,
        lambda x: len(x),
        lambda x: float(x),
        lambda x: int(x),
        lambda x: [1, 2][x],
        # NumPy would make an array of one object of it, of which the largest is at 0.
        np.asarray,
        np.argmax,
        np.tanh,
        lambda x: np.stack([x, x]),
        lambda x: np.float32(2.0) * x,
        lambda x: np.ones(2) * x,
    ],
)
def test_a_symbol_is_no_value(use):
    with pytest.raises(AssemblyError, match="root.run: an API method only wires"):
        assemble(body(lambda self, x: use(x)))


@pytest.mark.parametrize("name", ["shape", "argmax"])
def test_a_symbol_is_no_tensor(name):
    with pytest.raises(AttributeError, match=f"root.run: an API method only wires: a symbol has no {name!r}"):
        assemble(body(lambda self, x: getattr(x, name)))


def test_wiring_is_recorded_per_context():
    """Two threads assemble at the same time without seeing each other."""
    import threading

    barrier, graphs = threading.Barrier(2), []

    class Waiting(Component):
        @rlgraph_api
        def run(self, x):
            barrier.wait(10)
            result = self._f(x)
            barrier.wait(10)
            return result

        @graph_fn
        def _f(self, ops, x):
            return x

    threads = [
        threading.Thread(target=lambda: graphs.append(assemble(Waiting(scope="root")))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(graph.nodes) for graph in graphs] == [1, 1]


def test_nodes_name_what_they_are():
    node = GraphFunctionCall(0, None, "a/b", "_f", ())
    from rlgraph.core.graph.nodes import label

    assert [
        label(node),
        label(VariablesOf(1, None, "a")),
        label(Gradients(2, None, "a", Const(0), Const(0))),
    ] == [
        "a/b._f",
        "a.variables",
        "a.gradients",
    ]


@pytest.mark.parametrize("function", [lambda self, ops, *xs: xs[0], lambda self, ops, **xs: xs["x"]])
def test_graph_functions_name_their_tensors(function):
    class Root(Component):
        _f = graph_fn(function)

        @rlgraph_api
        def run(self, x):
            return self._f(x)

    with pytest.raises(AssemblyError, match=r"root._f: a graph function takes no \*args or \*\*kwargs"):
        assemble(Root(scope="root"))


def test_a_call_without_outputs_needs_no_return():
    class Writer(Add):
        @rlgraph_api
        @graph_fn(returns=0)
        def call(self, ops, x):
            ops.assign(self.w, x)

    inner = Writer(scope="inner")

    def run(self, x):
        inner.call(x)

    assert assemble(body(run, inner)).results_of("run") == Const(None)


def test_a_forgotten_return_is_named():
    inner = Add(scope="inner")

    def forgets(self, x):
        inner.call(x)

    message = (
        r"root.run returns nothing, and its last call inner.call gives a value: .*rlgraph_api\(returns=0\)"
    )
    with pytest.raises(AssemblyError, match=message):
        assemble(body(forgets, inner))

    class Forgetful(Add):
        @rlgraph_api
        def call(self, x):
            self._add(x, 1.0)

    with pytest.raises(
        AssemblyError, match=r"inner.call returns nothing, and its last call inner._add gives"
    ):
        assemble(body(lambda self, x: inner.call(x), inner := Forgetful(scope="inner")))
    root = type("Root", (Component,), {"run": rlgraph_api(returns=0)(forgets)})
    inner = Add(scope="inner")
    assert assemble(root(inner, scope="root")).results_of("run") == Const(None)
