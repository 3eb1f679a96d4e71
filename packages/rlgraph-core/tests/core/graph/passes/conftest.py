"""Small hand-made components, and plans made of them."""

import warnings

import pytest

from rlgraph.core import BuildWarning, Component, assemble, build, graph_fn, rlgraph_api
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.nodes import GraphFunctionCall, regions_of, walk_nodes
from rlgraph.core.graph.plan import BranchStep, HostStep, LoopStep
from rlgraph.spaces import FloatBox

VECTOR = FloatBox(shape=(2,))

# A piece is fed with what it computed itself: its variable must not wait for that.
api = rlgraph_api(must_be_complete=False)


class Piece(Component):
    """One trainable variable `w` [2], and a graph function of every kind."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", VECTOR, initializer=1.0)

    @api
    @graph_fn
    def pure(self, ops, x):
        return x * 2.0

    @api
    @graph_fn
    def weigh(self, ops, x):
        return x * self.w

    @api
    @graph_fn(returns=2)
    def same(self, ops, x, y):
        return y, x * self.w

    @api
    def declared(self, x):
        return self._declared(x)

    @api
    @graph_fn
    def total(self, ops, x):
        return ops.sum(x)

    @api
    @graph_fn
    def view(self, ops):
        return self.w[:1]

    @api
    @graph_fn
    def through(self, ops, x):
        return ops.reshape(x, (1, -1))

    @api
    @graph_fn(returns=0)
    def write(self, ops, x):
        ops.assign(self.w, x)

    @api
    @graph_fn(host=True, spaces=VECTOR)
    def host(self, x):
        return x

    @api
    @graph_fn
    def scale(self, ops, x, factor):
        return x * factor

    @api
    @graph_fn
    def parts(self, ops, x):
        return {"a": x["a"] * 2.0, "b": x["b"]}

    @api
    @graph_fn
    def positive(self, ops, x):
        return ops.sum(x) > 0.0

    @api
    @graph_fn
    def index(self, ops, x):
        return ops.argmax(x, axis=0)

    @api
    @graph_fn
    def first_of(self, ops, x):
        return x[:1] + 0.0

    @api
    @graph_fn(returns=2)
    def two(self, ops, x):
        return x * 2.0, x * self.w

    @api
    @graph_fn
    def count(self, ops, x):
        ops.assign(self.w, x)
        return x * 3.0

    @api
    @graph_fn
    def first(self, ops, derivatives):
        return derivatives[0]

    @api
    def step(self, derivatives):
        return self._step(self.variables(), derivatives)

    @api
    @graph_fn
    def draw(self, ops, x):
        return x + ops.random_uniform((2,))

    @graph_fn
    def _declared(self, ops, x):
        return x

    @_declared.kernel("torch")
    def _declared_torch(self, ops, x):
        return x

    @graph_fn(returns=0)
    def _step(self, ops, variables, derivatives):
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - derivative)


class Plans:
    """Makes plans of wirings and shows them by function names."""

    def __call__(self, wiring, arguments=("x",)):
        """The plan of a root ``run(x, ...)`` that calls ``wiring(p, q, x, ...)`` with two pieces."""
        pieces = self.pieces()
        namespace = {"wiring": wiring, "pieces": pieces}
        names = ", ".join(arguments)
        exec(f"def run(self, {names}):\n    return wiring(*pieces, {names})", namespace)
        root = type("Root", (Component,), {"run": rlgraph_api(namespace["run"])})(*pieces, scope="root")
        with warnings.catch_warnings():
            # A wiring need not call both pieces.
            warnings.simplefilter("ignore", BuildWarning)
            return make_plan(build(assemble(root), dict.fromkeys(arguments, VECTOR)), "run")

    @staticmethod
    def pieces():
        return [Piece(scope="p"), Piece(scope="q")]

    @staticmethod
    def before(plan):
        """What the method did before the passes."""
        graph = plan.built.graph
        return shown(graph.nodes[id_] for id_ in sorted(graph.methods["run"].nodes))

    @staticmethod
    def after(plan):
        return shown(plan.nodes)

    @staticmethod
    def slices(plan):
        by_id = {node.id: node for node in walk_nodes(plan.nodes)}
        return [sorted(name(by_id[id_]) for id_ in ids) for ids in plan.slices.values()]

    @staticmethod
    def copies(plan):
        by_id = {node.id: node for node in walk_nodes(plan.nodes)}
        return sorted(name(by_id[output.node]) for output in plan.copies)

    @staticmethod
    def steps(plan):
        return [shown_step(step) for step in plan.steps]


def shown(nodes):
    """``p._weigh`` and so on; what stands in a loop or branch is a list or two behind its name."""
    return [
        (name(node), *(shown(region.nodes) for region in regions_of(node)))
        if regions_of(node)
        else name(node)
        for node in nodes
    ]


def name(node):
    return f"{node.component}.{node.function}" if isinstance(node, GraphFunctionCall) else type(node).__name__


def shown_step(step):
    if isinstance(step, LoopStep):
        return ("loop", [shown_step(inner) for inner in step.steps])
    if isinstance(step, BranchStep):
        return ("branch", *([shown_step(inner) for inner in side] for side in (step.then, step.otherwise)))
    return ("host", name(step.node)) if isinstance(step, HostStep) else ("segment", *shown(step.nodes))


@pytest.fixture
def plan():
    return Plans()
