"""The page of a plan: what is called at run time as readable Python, whatever the backend adds to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from rlgraph.core.errors import RLGraphError
from rlgraph.core.graph.emission.driver import emit_driver
from rlgraph.core.graph.emission.linking import Dialect, Linker, Tape
from rlgraph.core.graph.emission.segment import emit_segment
from rlgraph.core.graph.emission.source import SourceFunction, leaf_name
from rlgraph.core.graph.nodes import Branch, Gradients, Loop, Node, walk_nodes
from rlgraph.core.graph.plan import HostStep, Leaf, Plan, Segment, walk_steps
from rlgraph.core.graph.variables import Block
from rlgraph.core.ops.tensor_spec import TensorSpec

_DIALECT = Dialect(receive="{}".format, give="{}".format, copy="copy({})".format, detach="{}".format)


class _Shown(Linker):
    """Of a plan that is shown, no function is run: one without a body has no kernel to be found."""

    def link(self, function: Any, view: Any, draws: Collection[str] = ()) -> Callable[..., Any]:
        return _nothing


def plan_page(plan: Plan) -> str:
    """The driver and the segments of a plan, with the meaning of their names."""
    segments = ("\n".join(_segment(plan, segment)) for segment in plan.segments)
    parts = [_head(plan), _driver(plan).source, *segments]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _head(plan: Plan) -> str:
    nodes = sum(not isinstance(node, Loop | Branch) for node in walk_nodes(plan.nodes))
    hosts = sum(isinstance(step, HostStep) for step in walk_steps(plan.steps))
    lines = [f"# The plan of {plan.built.graph.root}.{plan.name}: {_count(nodes, 'node')}"]
    between = [_count(hosts, "host call")]
    if plan.collectives:
        between.append(f"{_count(len(plan.collectives), 'sum')} over all learners")
    lines[0] += f" in {_count(len(plan.segments), 'segment')}, {' and '.join(between)} between them."
    if plan.writes:
        owners = Counter(name.partition("/")[0] for name in sorted(plan.writes))
        written = [f"{_count(number, 'variable')} of {owner}" for owner, number in owners.items()]
        lines.append(f"# It writes {', '.join(written)}.")
    return "\n".join(lines)


def _driver(plan: Plan) -> SourceFunction:
    lowered = {segment.name: _nothing for segment in plan.segments}
    return emit_driver(plan, lowered, lambda scope: None, lambda *_: _nothing)


def _segment(plan: Plan, segment: Segment) -> Iterator[str]:
    gradients = Tape(lambda blocks, retain: _nothing)
    # Each its own: functions that are equal share a name.
    ops = SimpleNamespace(**{name: partial(_nothing) for name in ("stack", "concat", "reshape")})
    linker = _Shown(lambda v: v, lambda block: block, gradients, ops=ops)
    function = emit_segment(plan, segment, _DIALECT, linker)
    yield f"# {segment.name}: {_leaves(segment.inputs)} -> {_leaves(segment.outputs)}"
    for node in walk_nodes(segment.nodes):
        if isinstance(node, Gradients):
            yield from _slice(plan, node)
    for name, value in function.namespace.items():
        if isinstance(value, list) and value and all(isinstance(item, Block) for item in value):
            yield f"# {name} = {', '.join(map(_block, value))}"
        elif not callable(value):
            yield f"# {name} = {value!r}"
    yield function.source


def _slice(plan: Plan, node: Gradients) -> Iterator[str]:
    variables = plan.built.value_of(node.variables)
    yield f"# gradients_{node.id}: by {_count(len(variables), 'variable')}, through {_nodes(plan, node)}"


def _nodes(plan: Plan, node: Node) -> str:
    return ", ".join(f"v{id_}" for id_ in sorted(plan.slices[node.id]))


def _block(block: Block) -> str:
    return f"{block.group}[{block.start}:{block.stop}] ({_count(len(block.variables), 'variable')})"


def _leaves(leaves: Sequence[tuple[Leaf, TensorSpec]]) -> str:
    return "(" + ", ".join(f"{leaf_name(leaf)}: {spec!r}" for leaf, spec in leaves) + ")"


def _nothing(*_: Any) -> Any:
    raise RLGraphError("this plan is shown, not run")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
