"""The group of a graph executor: programs that add up arrays over all learners, in the same order on all of them."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate, groupby, pairwise
from typing import Any

import numpy as np

from rlgraph.core.collectives import Collective
from rlgraph.core.errors import CollectiveError
from rlgraph.core.graph.nodes import label, references
from rlgraph.core.graph.plan import BranchStep, CollectiveStep, LoopStep, Plan, Step, tensor_leaves
from rlgraph.core.runtime.locks import Locks

#: Held while a plan with collectives runs. It comes before all other locks in the order of their names.
LOCK = "collective"


class LearnerGroup:
    """What the programs of one learner need to run together with those of the others.

    Args:
        collective: how the learner reaches the others.
        locks: those of its executor.
    """

    def __init__(self, collective: Collective, locks: Locks):
        self.collective, self._locks = collective, locks
        #: What the plans do that all learners have, as `_lines` says, and since when.
        self._agreed: set[str] = set()
        self._session = collective.session

    def together(self, plan: Plan) -> AbstractContextManager[Any]:
        """What a whole plan with collectives runs in: no other such plan, and no writer of weights, beside it.

        Before its first run the learners compare their collectives, and where there are several such plans before every
        run which one it is: a provider adds up whatever has equal sizes, and may abort the process where sizes differ.

        Raises:
            CollectiveError: they differ; names the first difference.
        """
        lines = [f"the API method {plan.name!r}", *_lines(plan, plan.steps)]
        digest = json.dumps(lines)
        return _Together(self._locks.holding([LOCK]), lambda: self._meet(lines, digest))

    def _meet(self, lines: Sequence[str], digest: str) -> None:
        if self.collective.session != self._session:
            self._agreed.clear()
        if digest not in self._agreed:
            agree(self.collective, lines)
            self._agreed.add(digest)
            self._session = self.collective.session  # it may have joined just now
        elif len(self._agreed) > 1:
            mark = float(zlib.crc32(digest.encode()))
            if self.collective.all_reduce(np.full(1, mark)) != self.collective.size * mark:
                raise CollectiveError(
                    f"learner {self.collective.rank}: it runs {lines[0]}, and another learner of the group of "
                    f"{self.collective.size} something else: all must call the same methods in the same order"
                )

    def reduction(
        self,
        shapes: Sequence[tuple[int, ...]],
        divided_by: Sequence[int | None],
        numbers: int,
        large_by: Sequence[int | None],
    ) -> Callable[..., Sequence[np.ndarray]]:
        """``f(flat, *large) -> sums`` over all learners, divided by the sums of numbers, at least 1.

        `flat` is one call, and may be overwritten, as may large arrays, which have one each.

        Args:
            shapes: of the small arrays, which are one after the other in `flat`, with the numbers at its end.
            divided_by: for each of them the position of its number; None: it is not divided.
            numbers: how many numbers there are.
            large_by: as `divided_by`, for each large array.
        """
        all_reduce = self.collective.all_reduce
        ends = list(accumulate(map(math.prod, shapes), initial=0))
        places = [slice(*edges) for edges in pairwise(ends)]
        #: What is divided by the same number is next to each other, mostly all.
        runs = [
            (slice(of[0].start, of[-1].stop), ends[-1] + by)
            for by, group in groupby(range(len(shapes)), divided_by.__getitem__)
            if by is not None and (of := [places[i] for i in group])
        ]
        views = [
            (place, None if len(shape) == 1 else shape) for place, shape in zip(places, shapes, strict=True)
        ]

        def reduce(flat: np.ndarray, *large: np.ndarray) -> Sequence[np.ndarray]:
            sums = list[np.ndarray]()
            if shapes or numbers:
                flat = all_reduce(flat)
                for run, by in runs:
                    flat[run] /= max(flat[by], 1.0)
                sums = [flat[at] if shape is None else flat[at].reshape(shape) for at, shape in views]
            for array, number in zip(large, large_by, strict=True):
                total = all_reduce(array)
                if number is not None:
                    total /= max(flat[ends[-1] + number], 1.0)
                sums.append(total)
            return sums

        return reduce


class _Together:
    def __init__(self, lock: AbstractContextManager[Any], meet: Callable[[], None]):
        self._lock, self._meet = lock, meet

    def __enter__(self) -> None:
        self._lock.__enter__()
        try:
            self._meet()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)


def agree(collective: Collective, lines: Sequence[str]) -> None:
    """Check that all learners run the same collectives in the same order.

    Args:
        collective: how the learner reaches the others.
        lines: the name of its plan, and its collectives.

    Raises:
        CollectiveError: they do not; names the first difference and who has it.
    """
    messages = collective.all_gather(json.dumps(lines).encode())
    if all(message == messages[0] for message in messages):
        return
    everyone = [json.loads(message) for message in messages]
    place = next(i for i in range(max(map(len, everyone))) if len({_at(all_, i) for all_ in everyone}) > 1)
    given: dict[str, list[str]] = {}
    for rank, all_ in enumerate(everyone):
        given.setdefault(_at(all_, place), []).append(str(rank))
    shown = "; ".join(
        f"learner{'s' * (len(ranks) > 1)} {', '.join(ranks)}: {line}" for line, ranks in given.items()
    )
    what = f"collective {place} of {lines[0]}" if place else "the program"
    raise CollectiveError(
        f"the learners of the group of {collective.size} differ in {what}: {shown}. All must have the same "
        "specification, and call the same methods in the same order"
    )


def _at(lines: Sequence[str], place: int) -> str:
    return lines[place] if place < len(lines) else "nothing more"


def _lines(plan: Plan, steps: Iterable[Step]) -> Iterator[str]:
    """A line for each collective: kind, dtype, size, place; and one for each loop or branch around some."""
    for step in steps:
        if isinstance(step, LoopStep):
            inside = list(_lines(plan, step.steps))
            count = plan.built.value_of(step.node.count)
            yield from [f"{label(step.node)}, {count} times", *inside, "its end"] if inside else ()
        elif isinstance(step, BranchStep):
            sides = [list(_lines(plan, side)) for side in (step.then, step.otherwise)]
            if any(sides):
                yield from [label(step.node), *sides[0], "otherwise", *sides[1], "its end"]
        elif isinstance(step, CollectiveStep):
            # Each by itself: a tensor that is added up twice is sent twice.
            refs = [ref for n in step.nodes for e in (n.value, n.number) for ref in references(e)]
            specs = [spec for ref in refs for spec in tensor_leaves(plan.built, [ref]).values()]
            yield f"all_reduce of {', '.join(map(str, specs))} at {', '.join(map(label, step.nodes))}"
