"""Kept tensors: what only segments use stays a tensor of the backend between them, and is converted once.

Before::

    states      -> segment_0 -> (array) -> segment_1    # NumPy at every border
    loop: states -> segment_2                           # converted in every iteration

After::

    states -> tensor
    tensor      -> segment_0 -> (tensor) -> segment_1
    loop: tensor -> segment_2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rlgraph.core.graph.nodes import Expression, Input, arguments_of
from rlgraph.core.graph.plan import (
    BranchStep,
    CollectiveStep,
    HostStep,
    Leaf,
    LoopStep,
    Plan,
    Segment,
    Step,
    tensor_leaves,
    walk_steps,
)


def kept_tensors(plan: Plan) -> frozenset[Leaf]:
    """The tensors between the segments of `plan` that nothing but segments use, and its arguments used repeatedly."""
    segments = plan.segments
    made = {leaf for segment in segments for leaf, _ in segment.outputs}
    used = set(tensor_leaves(plan.built, [*_outside(plan.steps), plan.results]))
    return frozenset((made - used) | _repeated(plan.steps))


def _outside(steps: Iterable[Step]) -> Iterator[Expression]:
    """What is used between segments."""
    for step in steps:
        if isinstance(step, HostStep):
            yield from (expression for _, expression in arguments_of(step.node))
        elif isinstance(step, CollectiveStep):
            yield from (expression for node in step.nodes for _, expression in arguments_of(node))
        elif isinstance(step, LoopStep):
            yield from (step.node.count, step.node.carried, step.node.region.results)
            yield from _outside(step.steps)
        elif isinstance(step, BranchStep):
            yield from (step.node.predicate, step.node.then.results, step.node.otherwise.results)
            yield from _outside([*step.then, *step.otherwise])


def _repeated(steps: Sequence[Step]) -> set[Leaf]:
    """The arguments of the API method that several segments use, or one in a loop."""
    uses: Counter[Leaf] = Counter()
    for step in steps:
        times = 1 + isinstance(step, LoopStep)
        for segment in walk_steps([step]):
            if isinstance(segment, Segment):
                uses.update({leaf: times for leaf, _ in segment.inputs if isinstance(leaf.source, Input)})
    return {leaf for leaf, times in uses.items() if times > 1}
