from rlgraph.core import Component, assemble, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph.nodes import Const, Gradients, GraphFunctionCall, Input, Output, Pack, Ref
from rlgraph.core.graph.passes.contraction import contract


class Scale(Component):
    @rlgraph_api
    def call(self, x, factor=2.0):
        return self._scale(x, factor)

    @rlgraph_api
    def unchanged(self, x):
        return x

    @graph_fn
    def _scale(self, ops, x, factor):
        return x * factor


class Root(Component):
    def __init__(self):
        self.scale = Scale(scope="scale")
        super().__init__(self.scale, scope="root")

    @rlgraph_api
    def chain(self, x):
        return self.scale.unchanged(self.scale.call(self.scale.unchanged(x)))

    @rlgraph_api
    def containers(self, x):
        pack = self.scale.unchanged({"a": x["left"], "b": (x["right"]["deep"], 5)})
        return self._pair(pack["b"][0], pack["a"], pack["b"][1])

    @rlgraph_api
    def loss(self, x):
        return gradients(self.scale.call(x), self.scale.variables())

    @graph_fn
    def _pair(self, ops, one, other, number):
        return {"one": one, "other": other}


def test_before_and_after():
    before = assemble(Root())
    after = contract(before)
    sources = {type(e.source).__name__ for node in before.nodes.values() for e in refs(node)}
    assert sources == {"Parameter", "Result", "Output"}
    sources = {type(e.source).__name__ for node in after.nodes.values() for e in refs(node)}
    assert sources == {"Input", "Output"}
    # The graph given is as it was, the nodes are the same ones in the same order.
    assert list(before.nodes) == list(after.nodes)
    assert (after.methods, after.components, after.root) == (before.methods, before.components, before.root)


def refs(node):
    expressions = [e for _, e in node.arguments] if isinstance(node, GraphFunctionCall) else []
    expressions += [node.loss, node.variables] if isinstance(node, Gradients) else []
    return [e for e in expressions if isinstance(e, Ref)]


def node_of(graph, method, function):
    found = [graph.nodes[id_] for id_ in graph.methods[method].nodes]
    return next(node for node in found if getattr(node, "function", None) == function)


def test_calls_disappear():
    graph = contract(assemble(Root()))
    node = node_of(graph, "chain", "_scale")
    arguments = dict(node.arguments)
    assert arguments["x"] == Ref(Input("chain", "x"))
    assert isinstance(arguments["factor"], Const)
    assert arguments["factor"].value == 2.0
    assert graph.results_of("chain") == Ref(Output(node.id))


def test_keys_of_containers_are_resolved():
    graph = contract(assemble(Root()))
    node = node_of(graph, "containers", "_pair")
    arguments = dict(node.arguments)
    assert arguments["one"] == Ref(Input("containers", "x"), ("right", "deep"))
    assert arguments["other"] == Ref(Input("containers", "x"), ("left",))
    assert graph.results_of("containers") == Ref(Output(node.id))


def test_calls_are_contracted_too():
    graph = contract(assemble(Root()))
    packed = [
        dict(call.arguments)["x"]
        for call in graph.calls_of("scale")
        if isinstance(dict(call.arguments)["x"], Pack)
    ]
    assert [dict(pack.items)["a"] for pack in packed] == [Ref(Input("containers", "x"), ("left",))]


def test_gradients():
    graph = contract(assemble(Root()))
    scale, *rest = (graph.nodes[id_] for id_ in graph.methods["loss"].nodes)
    (derivatives,) = (node for node in rest if isinstance(node, Gradients))
    assert derivatives.loss == Ref(Output(scale.id))
