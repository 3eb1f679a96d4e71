"""Cases of what serves several components."""

from __future__ import annotations

from typing import Any

from rlgraph.components import NeuralNetwork, Synchronizer
from rlgraph.core import Component, rlgraph_api
from rlgraph.testing.conformance.cases.case import FEATURES, Case
from rlgraph.testing.conformance.gradients import LAYERS


class Synchronized(Component):
    """Two networks, one of which follows the other."""

    def __init__(self, tau: float):
        self.source = NeuralNetwork(LAYERS, scope="source")
        self.target = self.source.copy(scope="target", trainable=False)
        self.synchronizer = Synchronizer(tau)
        super().__init__(self.source, self.target, self.synchronizer, scope="synchronized")

    @rlgraph_api
    def both(self, inputs: Any) -> Any:
        return self.source.call(inputs), self.target.call(inputs)

    @rlgraph_api
    def sync(self) -> Any:
        return self.synchronizer.sync(self.source.variables(), self.target.variables())


CASES: dict[str, Case] = {
    "synchronizer": Case(lambda: Synchronized(1.0), {"inputs": FEATURES}, ("both", "sync", "both")),
    "synchronizer_slow": Case(lambda: Synchronized(0.25), {"inputs": FEATURES}, ("both", "sync", "both")),
}
