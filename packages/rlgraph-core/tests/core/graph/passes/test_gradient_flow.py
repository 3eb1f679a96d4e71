"""What a loss does not depend on by a derivative stays outside its gradient slice."""

from __future__ import annotations

from typing import Any

import pytest

from rlgraph.components import Dense
from rlgraph.core import Component, assemble, build, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.spaces import FloatBox


class Bootstrapped(Component):
    """One layer on two inputs; how the second enters the loss is chosen."""

    def __init__(self, way: str) -> None:
        self.layer = Dense(1, scope="layer")
        self.way = way
        super().__init__(self.layer, scope="root")

    @rlgraph_api
    def get_gradients(self, now: Any, then: Any) -> Any:
        loss = self._loss(self.layer.call(now), self.layer.call(then))
        return self._first(gradients(loss, self.layer.variables()))

    @graph_fn
    def _loss(self, ops: Any, now: Any, then: Any) -> Any:
        """now, then [B, 1] -> []."""
        if self.way == "stopped":
            then = ops.stop_gradient(then)
        elif self.way == "argmax":
            then = ops.astype(ops.argmax(then, axis=1), "float")[:, None]
        elif self.way == "compared":
            then = ops.where(then > 0.0, ops.ones_like(now), now)
        elif self.way == "stacked":
            then = ops.concat([then, then], axis=1)
        return ops.mean(ops.square(now - then))

    @graph_fn
    def _first(self, ops: Any, gradients: Any) -> Any:
        return ops.sum(gradients[0])


@pytest.mark.parametrize(
    ("way", "inside"),
    [("plain", 2), ("stacked", 2), ("stopped", 1), ("argmax", 1), ("compared", 1)],
)
def test_only_what_carries_a_derivative_is_in_the_slice(way: str, inside: int) -> None:
    space = FloatBox(shape=(3,), add_batch_rank=True)
    built = build(assemble(Bootstrapped(way)), {"now": space, "then": space})
    plan = make_plan(built, "get_gradients")
    (members,) = plan.slices.values()
    layers = [n for n in plan.nodes if isinstance(n, GraphFunctionCall) and n.component == "layer"]
    assert len(layers) == 2
    assert [node.id in members for node in layers].count(True) == inside
    assert layers[0].id in members
