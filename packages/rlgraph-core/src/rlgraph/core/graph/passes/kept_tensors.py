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
from collections.abc import Sequence

from rlgraph.core.graph.nodes import Input, Packed
from rlgraph.core.graph.plan import (
    Leaf,
    LoopStep,
    Plan,
    Segment,
    Step,
    tensor_leaves,
    used_between,
    walk_steps,
)


def kept_tensors(plan: Plan) -> frozenset[Leaf]:
    """The tensors between the segments of `plan` that nothing but segments use, and its arguments used repeatedly."""
    segments = plan.segments
    made = {
        leaf for segment in segments for leaf, _ in segment.outputs if not isinstance(leaf.source, Packed)
    }
    used = set(tensor_leaves(plan.built, [*used_between(plan.steps), plan.results]))
    return frozenset((made - used) | _repeated(plan.steps))


def _repeated(steps: Sequence[Step]) -> set[Leaf]:
    """The arguments of the API method that several segments use, or one in a loop."""
    uses: Counter[Leaf] = Counter()
    for step in steps:
        times = 1 + isinstance(step, LoopStep)
        for segment in walk_steps([step]):
            if isinstance(segment, Segment):
                uses.update({leaf: times for leaf, _ in segment.inputs if isinstance(leaf.source, Input)})
    return {leaf for leaf, times in uses.items() if times > 1}
