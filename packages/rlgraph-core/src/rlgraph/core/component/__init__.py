"""Components: composition, API methods, graph functions and variables."""

from rlgraph.core.component.component import Component
from rlgraph.core.component.decorators import graph_fn, rlgraph_api
from rlgraph.core.component.layer_calls import LayerCall, LayerOutput
from rlgraph.core.component.members import ApiMethod, BoundApiMethod, GraphFunction
from rlgraph.core.specs.specifiable import Specifiable

__all__ = [
    "ApiMethod",
    "BoundApiMethod",
    "Component",
    "GraphFunction",
    "LayerCall",
    "LayerOutput",
    "Specifiable",
    "graph_fn",
    "rlgraph_api",
]
