"""The group of a graph executor: programs that add up arrays over all learners, in the same order on all of them."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any

import numpy as np

from rlgraph.core.collectives import Collective
from rlgraph.core.errors import CollectiveError
from rlgraph.core.graph.nodes import label
from rlgraph.core.graph.plan import BranchStep, CollectiveStep, LoopStep, Plan, Step, tensor_leaves
from rlgraph.core.runtime.locks import Locks

#: Held while a plan with collectives runs. It comes before all other locks in the order of their names.
LOCK = "collective"
#: Arrays of at most that many numbers are copied into one call: a call costs more.
SMALL = 2**15


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
        return _Together(self._locks.holding([LOCK]), lambda: self._meet(lines))

    def _meet(self, lines: Sequence[str]) -> None:
        digest = json.dumps(lines)
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
        self, shapes: Sequence[tuple[int, ...]], divided_by: Sequence[int | None]
    ) -> Callable[..., Sequence[np.ndarray]]:
        """``f(*arrays, numbers=()) -> sums`` over all learners, divided by the sums of numbers [], at least 1.

        Small arrays, and the numbers, are one call; a large flat one has its own and may be overwritten.

        Args:
            shapes: of the arrays.
            divided_by: for each of them the position of its number; None: it is not divided.
        """
        all_reduce = self.collective.all_reduce
        sizes = [math.prod(shape) for shape in shapes]
        large = [i for i, shape in enumerate(shapes) if sizes[i] > SMALL and len(shape) == 1]
        small, end, places = [i for i in range(len(shapes)) if i not in large], 0, list[slice]()
        for i in small:
            places.append(slice(end, end + sizes[i]))
            end += sizes[i]
        #: What is divided by the same number is next to each other, mostly all.
        runs = [
            (slice(of[0].start, of[-1].stop), by)
            for by, group in groupby(zip(small, places, strict=True), lambda pair: divided_by[pair[0]])
            if by is not None and (of := [place for _, place in group])
        ]

        def reduce(*arrays: np.ndarray, numbers: Sequence[np.ndarray] = ()) -> Sequence[np.ndarray]:
            sums: list[Any] = list(arrays)
            if small or numbers:
                parts = [array.reshape(-1) for array in (*[arrays[i] for i in small], *numbers)]
                flat = all_reduce(np.concatenate(parts))
                for run, by in runs:
                    flat[run] /= max(flat[end + by], 1.0)
                for i, place in zip(small, places, strict=True):
                    sums[i] = flat[place].reshape(shapes[i])
            for i in large:
                sums[i] = all_reduce(arrays[i])
                if (number := divided_by[i]) is not None:
                    sums[i] /= max(flat[end + number], 1.0)
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
            specs = tensor_leaves(plan.built, [e for n in step.nodes for e in (n.value, n.number)]).values()
            yield f"all_reduce of {', '.join(map(str, specs))} at {', '.join(map(label, step.nodes))}"
