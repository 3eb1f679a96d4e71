"""Drawings of graphs with shared components, and of functions written out for the leaves of containers."""

from rlgraph.core import Component, assemble, build, graph_fn, rlgraph_api
from rlgraph.draw import draw, plan_text
from rlgraph.spaces import Dict


class Shared(Component):
    @rlgraph_api
    def call(self, x):
        return self._double(x)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _double(self, ops, key, x):
        return x * 2.0


class User(Component):
    def __init__(self, shared, **kwargs):
        self.shared = shared
        super().__init__(shared, **kwargs)

    @rlgraph_api
    def call(self, x):
        return self.shared.call(x)


class Root(Component):
    def __init__(self):
        shared = Shared(scope="shared")
        self.left, self.right = User(shared, scope="left"), User(shared, scope="right")
        super().__init__(self.left, self.right, scope="root")

    @rlgraph_api
    def run(self, x):
        return self.right.call(self.left.call(x))


BUILT = build(assemble(Root()), {"x": Dict(a=float, b=Dict(c=float))})


def test_a_shared_component_is_drawn_where_it_is_owned():
    text = draw(BUILT, depth=9).text()
    assert text.count("shared: Shared") == 1
    assert draw(BUILT, depth=9).svg().startswith("<svg")


def test_a_plan_has_a_line_per_leaf_with_the_key_as_a_literal():
    lines = plan_text(BUILT, "run").splitlines()
    assert [line.partition("(")[2] for line in lines if "= left__shared__double" in line] == [
        "'a', x_a)",
        "'b/c', x_b_c)",
        "'a', v7)",
        "'b/c', v8)",
    ]
