"""Draws ahead: random numbers of a plan become a prefix on the host, drawn from NumPy streams.

So an action is the same draw on every backend, and one lowered plan serves callers with random streams of their own.

Before::

    %1 = policy.logits(states)
    %2 = policy._sample(%1)              # draws

After::

    draws    %3 = gumbel [B, 2]          # B is len(states)
    segment  (states, %3) -> %2
             %1 = policy.logits(states)
             %2 = policy._sample(%3, %1)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from rlgraph.core.graph.nodes import GraphFunctionCall, Node, Output, Ref, label, walk_nodes
from rlgraph.core.graph.passes.segments import split_into_segments
from rlgraph.core.graph.plan import DrawStep, Leaf, Plan
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.effects import Effects
from rlgraph.core.ops.random import Noise
from rlgraph.core.ops.tensor_spec import TensorSpec

#: The argument by which a graph function gets its random numbers; no parameter has such a name.
NOISE = "~noise"


def draw_ahead(plan: Plan) -> Plan:
    """The plan with its draws in front, in program order.

    A draw stays where it is if it is inside a loop or branch, or if values of tensors decide its range or how many
    numbers it needs.
    """
    sizes = _sizes(plan)
    built = plan.built
    ids = count(1 + max([*built.graph.nodes, *built.graph.calls, *(n.id for n in walk_nodes(plan.nodes))]))
    values, effects, nodes, draws = dict(built.values), dict(built.effects), list[Node](), list[Any]()
    streams = set[str]()
    for node in plan.nodes:
        found = effects[node.id]
        if isinstance(node, GraphFunctionCall) and _can_be_ahead(found, sizes):
            drawn = Output(next(ids))
            values[drawn] = tuple(TensorSpec(n.shape, n.dtype) for n in found.noise if n is not None)
            effects[node.id] = replace(found, writes=found.writes - found.draws, noise=())
            (stream,) = found.draws
            streams.add(stream)
            draws.extend((Leaf(drawn, (i,)), noise, stream) for i, noise in enumerate(found.noise))
            node = replace(node, arguments=((NOISE, Ref(drawn)), *node.arguments))
        nodes.append(node)
    if not draws:
        return plan
    built = replace(built, values=values, effects=effects)
    first = DrawStep(tuple(draws), sizes, frozenset(streams))
    steps = (first, *split_into_segments(built, nodes, plan.results, plan.sliced))
    return replace(plan, built=built, nodes=tuple(nodes), steps=steps)


def draws_left(plan: Plan) -> list[str]:
    """The graph functions of a plan that draw in tensors, by their scoped names."""
    effects = plan.built.effects
    calls = (node for node in walk_nodes(plan.nodes) if isinstance(node, GraphFunctionCall))
    return sorted({label(node) for node in calls if effects[node.id].draws})


def takes_noise(node: GraphFunctionCall) -> bool:
    """Whether a graph function is given its random numbers."""
    return any(name == NOISE for name, _ in node.arguments[:1])


def size_text(size: Any, sizes: Mapping[str, str]) -> str:
    """Source of a number or size, from that of its symbols."""
    if not isinstance(size, SymbolicDim):
        return repr(size)
    return re.sub(r"[^\W\d]\w*", lambda found: sizes[found[0]], repr(size))


def _sizes(plan: Plan) -> dict[str, tuple[Leaf, int]]:
    """The symbols that are the size of an input, each with such an input and its axis."""
    found: dict[str, tuple[Leaf, int]] = {}
    for leaf, spec in plan.inputs:
        for axis, dim in enumerate(spec.shape):
            if isinstance(dim, SymbolicDim) and dim == SymbolicDim.symbol(repr(dim)):
                found.setdefault(repr(dim), (leaf, axis))
    return found


def _can_be_ahead(effects: Effects, sizes: Mapping[str, Any]) -> bool:
    noise = effects.noise
    return bool(effects.draws) and bool(noise) and all(n is not None and _is_known(n, sizes) for n in noise)


def _is_known(noise: Noise, sizes: Mapping[str, Any]) -> bool:
    dims: Sequence[Any] = [*noise.shape, *noise.parameters]
    texts = (repr(dim) for dim in dims if isinstance(dim, SymbolicDim))
    return all(symbol in sizes for text in texts for symbol in re.findall(r"[^\W\d]\w*", text))
