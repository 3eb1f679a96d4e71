"""A build evaluates equal calls of a graph function once, unless what they give is each one's own."""

import pytest

from rlgraph.core import Component, assemble, build, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox


def results(root, **spaces):
    graph = build(assemble(root), spaces)
    return graph.value_of(graph.graph.results_of("run"))


def test_equal_calls_are_looked_at_once():
    seen = []

    class Root(Component):
        @rlgraph_api
        def run(self, x, y):
            return self._f(x, 1), self._f(y, 1), self._f(x, True), self._f(x, 1.0), self._f(y, 2)

        @graph_fn
        def _f(self, ops, x, number):
            seen.append(number)
            return ops.astype(x > 0.0, "int64") if isinstance(number, bool) else x * float(number)

    specs = results(Root(), x=float, y=float)
    assert list(map(repr, seen)) == ["1", "True", "1.0", "2"]
    assert [spec.dtype for spec in specs] == ["float32", "float32", "int64", "float32", "float32"]


def test_a_fixed_rank_is_not_the_same_as_a_size():
    class Root(Component):
        @rlgraph_api
        def run(self, ranked, plain):
            return self._f(ranked), self._f(plain)

        @graph_fn
        def _f(self, ops, x):
            return x + 1.0

    ranked, plain = results(Root(), ranked=FloatBox(add_batch_rank=5), plain=FloatBox(shape=(5,)))
    assert ranked.to_space() == FloatBox(add_batch_rank=5)
    assert plain.to_space() == FloatBox(shape=(5,))


@pytest.mark.parametrize("space", [FloatBox(add_batch_rank=True), FloatBox(add_time_rank=True)])
def test_sizes_that_only_a_call_knows_are_its_own(space):
    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return [(self._declared(x), self._masked(x)) for _ in range(2)]

        @graph_fn(host=True, spaces=space)
        def _declared(self, x): ...

        @graph_fn
        def _masked(self, ops, x):
            return ops.boolean_mask(x, x > 0.0)

    pairs = results(Root(), x=FloatBox(add_batch_rank=True))
    assert len({spec.shape[0] for pair in pairs for spec in pair}) == 4
