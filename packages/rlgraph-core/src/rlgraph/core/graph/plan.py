"""Plans: one flat list of graph-function calls per API method of the root, ready to be lowered by a backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import (
    Branch,
    Collective,
    Expression,
    GraphFunctionCall,
    Input,
    Loop,
    Node,
    Output,
    Path,
    Source,
    arguments_of,
    references,
    walk_nodes,
)
from rlgraph.core.graph.values import as_tensors, leaves
from rlgraph.core.graph.variables import GradientList
from rlgraph.core.ops.effects import stream_names
from rlgraph.core.ops.random import Noise
from rlgraph.core.ops.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Leaf:
    """One tensor: the part at `path` of what `source` produces."""

    source: Source
    path: Path = ()


@dataclass(frozen=True)
class Segment:
    """A stretch of a plan without host calls and collectives; what a backend lowers.

    Attributes:
        name: its name in the emitted source.
        nodes: what it computes, in order.
        inputs: tensors that enter it, with their specs.
        outputs: tensors that leave it, with their specs.
        reads: groups that it reads.
        writes: groups that it writes, some of them in part; a program needs their old values too.
        streams: names of the random streams it draws from.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[tuple[Leaf, TensorSpec], ...]
    outputs: tuple[tuple[Leaf, TensorSpec], ...]
    reads: frozenset[str]
    writes: frozenset[str]
    streams: frozenset[str]


@dataclass(frozen=True)
class HostStep:
    """A host function between segments; outputs listed in `copies` are copied."""

    node: GraphFunctionCall
    copies: frozenset[int]


@dataclass(frozen=True)
class CollectiveStep:
    """Collectives that are one call of the group: their values cross as one flat array (see `passes.packing`).

    Attributes:
        nodes: the collectives.
        packed: the flat array, where a segment makes it; None: the driver does, of several arrays.
        beside: what crosses beside a flat array of a segment.
    """

    nodes: tuple[Collective, ...]
    packed: Leaf | None = None
    beside: tuple[Expression, ...] = ()

    @property
    def arrays(self) -> tuple[Expression, ...]:
        """What the driver uses of segments, other than `packed`."""
        if self.packed is not None:
            return self.beside
        return tuple(expression for node in self.nodes for _, expression in arguments_of(node))


@dataclass(frozen=True)
class DrawStep:
    """Random numbers that are drawn on the host, before all other steps.

    Attributes:
        draws: what is drawn, which numbers, and from which stream, in order.
        sizes: name of a symbolic size -> an input and the axis of which it is the size.
        streams: names of the streams.
    """

    draws: tuple[tuple[Leaf, Noise, str], ...]
    sizes: Mapping[str, tuple[Leaf, int]]
    streams: frozenset[str]


@dataclass(frozen=True)
class LoopStep:
    """A loop with a host call or collective inside: it runs in Python, around the steps of one iteration."""

    node: Loop
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class BranchStep:
    """A branch with a host call or collective inside: Python decides which steps run."""

    node: Branch
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]


#: A step that calls one function, or draws.
FlatStep = HostStep | Segment | DrawStep | CollectiveStep
Step = FlatStep | LoopStep | BranchStep


def walk_steps(steps: Iterable[Step]) -> Iterator[FlatStep]:
    """All steps, those inside loops and branches in place of these."""
    for step in steps:
        if isinstance(step, LoopStep):
            yield from walk_steps(step.steps)
        elif isinstance(step, BranchStep):
            yield from walk_steps([*step.then, *step.otherwise])
        else:
            yield step


def used_between(steps: Iterable[Step]) -> Iterator[Expression]:
    """What is used between segments."""
    for step in steps:
        if isinstance(step, HostStep):
            yield from (expression for _, expression in arguments_of(step.node))
        elif isinstance(step, CollectiveStep):
            yield from step.arrays
        elif isinstance(step, LoopStep):
            yield from (step.node.count, step.node.carried, step.node.region.results)
            yield from used_between(step.steps)
        elif isinstance(step, BranchStep):
            yield from (step.node.predicate, step.node.then.results, step.node.otherwise.results)
            yield from used_between([*step.then, *step.otherwise])


@dataclass(frozen=True)
class Plan:
    """What one API method of the root does, flat.

    Attributes:
        name: the API method.
        built: the built graph it comes from.
        nodes: what remains of its nodes, in execution order.
        results: what it returns.
        slices: gradient node -> the nodes between its variables and its loss.
        data: outputs that a loop or branch takes from outside, and through which no derivative taken inside goes back.
        copies: outputs that share memory with a variable and must be copied.
        steps: segments, host calls, and loops and branches around such, in execution order.
        statistics: seconds spent and sizes (see `rlgraph.core.GraphExecutor`).
        kept: tensors that stay the backend's own between segments; all others are arrays there.
        page: writes the plan as source (see `source`); emission depends on plans, so a plan cannot import it.
    """

    name: str
    built: BuiltGraph
    nodes: tuple[Node, ...]
    results: Expression
    slices: Mapping[int, frozenset[int]]
    data: frozenset[Output]
    copies: frozenset[Output]
    steps: tuple[Step, ...]
    statistics: Mapping[str, float | int]
    page: Callable[[Plan], str] = field(repr=False)
    kept: frozenset[Leaf] = frozenset()

    @property
    def inputs(self) -> tuple[tuple[Leaf, TensorSpec], ...]:
        """The tensors among its arguments that it uses."""
        expressions = [e for node in self.nodes for _, e in arguments_of(node)]
        used = tensor_leaves(self.built, [*expressions, self.results])
        return tuple((leaf, spec) for leaf, spec in used.items() if isinstance(leaf.source, Input))

    @property
    def reads(self) -> frozenset[str]:
        """Names of the tensor variables it reads."""
        return frozenset[str]().union(*(self.built.effects[node.id].reads for node in self.nodes))

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
    def segments(self) -> tuple[Segment, ...]:
        """What a backend lowers, in order."""
        return tuple(step for step in walk_steps(self.steps) if isinstance(step, Segment))

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """What all learners of the group do together, in order."""
        return tuple(node for node in walk_nodes(self.nodes) if isinstance(node, Collective))

    @property
    def source(self) -> str:
        """The plan as a page of readable Python: driver and segments, with the meaning of their names."""
        return self.page(self)

    @property
    def sliced(self) -> frozenset[int]:
        """The nodes of all slices."""
        return frozenset[int]().union(*self.slices.values())

    @property
    def needs_gradients(self) -> bool:
        return bool(self.slices)


def tensor_leaves(built: BuiltGraph, expressions: Iterable[Expression]) -> dict[Leaf, TensorSpec]:
    """All tensors that the expressions refer to, in order, as they cross the border of a segment."""
    found: dict[Leaf, TensorSpec] = {}
    for expression in expressions:
        for ref in references(expression):
            for path, spec in leaves(as_tensors(built.value_of(ref))):
                if isinstance(spec, TensorSpec):
                    found[Leaf(ref.source, ref.path + path)] = spec
    return found


def receives_derivatives(plan: Plan, segment: Segment) -> bool:
    """Whether derivatives enter a segment, which so is the rest of an update: the step of an optimizer."""
    sources = (leaf.source for leaf, _ in segment.inputs)
    return any(isinstance(plan.built.values[source], GradientList) for source in sources)


def size_of(nodes: Iterable[Node]) -> int:
    """The number of nodes, those inside loops and branches too."""
    return sum(1 for _ in walk_nodes(nodes))


def plan_statistics(sizes: list[int], steps: Iterable[Step], started: float) -> dict[str, float | int]:
    """What the passes did; `sizes` are the numbers of nodes before, between and after those that drop nodes."""
    traced, unmerged, left = sizes
    walked = list(walk_steps(steps))
    return {
        "nodes_traced": traced,
        "nodes_merged": traced - unmerged,
        "nodes_dropped": unmerged - left,
        "nodes": left,
        "segments": sum(isinstance(step, Segment) for step in walked),
        "host_calls": sum(isinstance(step, HostStep) for step in walked),
        "planning_seconds": time.perf_counter() - started,
    }
