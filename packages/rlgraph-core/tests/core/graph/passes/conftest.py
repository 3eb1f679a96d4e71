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
    def pure(self, x):
        return self._pure(x)

    @api
    def weigh(self, x):
        return self._weigh(x)

    @api
    def same(self, x, y):
        return self._same(x, y)

    @api
    def declared(self, x):
        return self._declared(x)

    @api
    def total(self, x):
        return self._total(x)

    @api
    def view(self):
        return self._view()

    @api
    def through(self, x):
        return self._through(x)

    @api
    def write(self, x):
        return self._write(x)

    @api
    def host(self, x):
        return self._host(x)

    @api
    def scale(self, x, factor):
        return self._scale(x, factor)

    @api
    def parts(self, x):
        return self._parts(x)

    @api
    def positive(self, x):
        return self._positive(x)

    @api
    def index(self, x):
        return self._index(x)

    @api
    def first_of(self, x):
        return self._first_of(x)

    @api
    def two(self, x):
        return self._two(x)

    @api
    def count(self, x):
        return self._count(x)

    @api
    def first(self, derivatives):
        return self._first(derivatives)

    @api
    def step(self, derivatives):
        return self._step(self.variables(), derivatives)

    @api
    def draw(self, x):
        return self._draw(x)

    @graph_fn
    def _scale(self, ops, x, factor):
        return x * factor

    @graph_fn
    def _draw(self, ops, x):
        return x + ops.random_uniform((2,))

    @graph_fn
    def _parts(self, ops, x):
        return {"a": x["a"] * 2.0, "b": x["b"]}

    @graph_fn
    def _positive(self, ops, x):
        return ops.sum(x) > 0.0

    @graph_fn
    def _index(self, ops, x):
        return ops.argmax(x, axis=0)

    @graph_fn
    def _first_of(self, ops, x):
        return x[:1] + 0.0

    @graph_fn(returns=2)
    def _two(self, ops, x):
        return x * 2.0, x * self.w

    @graph_fn
    def _count(self, ops, x):
        ops.assign(self.w, x)
        return x * 3.0

    @graph_fn
    def _pure(self, ops, x):
        return x * 2.0

    @graph_fn
    def _weigh(self, ops, x):
        return x * self.w

    @graph_fn(returns=2)
    def _same(self, ops, x, y):
        return y, x * self.w

    @graph_fn
    def _declared(self, ops, x):
        return x

    @_declared.kernel("torch")
    def _declared_torch(self, ops, x):
        return x

    @graph_fn
    def _total(self, ops, x):
        return ops.sum(x)

    @graph_fn
    def _view(self, ops):
        return self.w[:1]

    @graph_fn
    def _through(self, ops, x):
        return ops.reshape(x, (1, -1))

    @graph_fn(returns=0)
    def _write(self, ops, x):
        ops.assign(self.w, x)

    @graph_fn(host=True, spaces=VECTOR)
    def _host(self, x):
        return x

    @graph_fn
    def _first(self, ops, derivatives):
        return derivatives[0]

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
