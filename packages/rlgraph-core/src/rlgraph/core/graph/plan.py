"""Plans: one flat list of graph-function calls per API method of the root, ready to be lowered by a backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlgraph.core.graph.build import BuiltGraph
from rlgraph.core.graph.nodes import Expression, GraphFunctionCall, Node, Output, Path, Source
from rlgraph.core.ops.effects import stream_names
from rlgraph.core.ops.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Leaf:
    """One tensor: the part at `path` of what `source` produces."""

    source: Source
    path: Path = ()


@dataclass(frozen=True)
class Segment:
    """A stretch of a plan without host calls; what a backend lowers.

    Attributes:
        name: its name in the emitted source.
        nodes: what it computes, in order.
        inputs: tensors that enter it, with their specs.
        outputs: tensors that leave it, with their specs.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[tuple[Leaf, TensorSpec], ...]
    outputs: tuple[tuple[Leaf, TensorSpec], ...]


@dataclass(frozen=True)
class HostStep:
    """A host function between segments; outputs listed in `copies` are copied before they are handed on."""

    node: GraphFunctionCall
    copies: frozenset[int]


@dataclass(frozen=True)
class Plan:
    """What one API method of the root does, flat.

    Attributes:
        name: the API method.
        built: the built graph it comes from.
        nodes: what remains of its nodes, in execution order.
        results: what it returns.
        slices: gradient node -> the nodes between its variables and its loss.
        copies: outputs that share memory with a variable and must be copied.
        steps: host steps and segments, in execution order.
    """

    name: str
    built: BuiltGraph
    nodes: tuple[Node, ...]
    results: Expression
    slices: Mapping[int, frozenset[int]]
    copies: frozenset[Output]
    steps: tuple[HostStep | Segment, ...]

    @property
    def writes(self) -> frozenset[str]:
        """Names of the tensor variables it writes."""
        return self._written() - self.draws

    @property
    def draws(self) -> frozenset[str]:
        """Names of the streams its graph functions draw from (see `rlgraph.core.ops.stream_name`)."""
        return stream_names(self._written())

    def _written(self) -> frozenset[str]:
        return frozenset[str]().union(*(self.built.effects[node.id].writes for node in self.nodes))

    @property
    def needs_gradients(self) -> bool:
        return bool(self.slices)

    @property
    def host_components(self) -> frozenset[str]:
        """Scopes of the components whose host functions it calls."""
        return frozenset(step.node.component for step in self.steps if isinstance(step, HostStep))
