"""Section ``groups``: two learners in threads, whose plans add up between segments, in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rlgraph.core import GraphExecutor, all_reduce, gradients, in_group, loop, memory_group, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.cell import NUMBER, Wired, floats
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import NEEDS

ROWS = FloatBox(add_batch_rank=True)


def group_of_two(
    subject: Subject, *methods: Callable[..., Any], **spaces: Any
) -> tuple[GraphExecutor, GraphExecutor]:
    """Two learners with the API methods ``f(self, *tensors)``."""
    members = {method.__name__: rlgraph_api(method) for method in methods}
    root: Any = type("Root", (Wired,), members)
    first, second = (
        subject.executor(root(), spaces, collective=collective, dtype="float64")
        for collective in memory_group(2)
    )
    return first, second


def together(
    learners: tuple[GraphExecutor, GraphExecutor], method: str, *arguments: Mapping[str, Any]
) -> list[Any]:
    """What a method returns on each learner, called with the arguments of each."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda learner, own: learner.execute(method, **own), learners, arguments))


@check("groups")
def sums(subject: Subject) -> None:
    """The parts of a container are added up, and divided by the sum of the numbers; in a loop, too."""

    def run(self: Any, x: Any, n: Any) -> Any:
        return all_reduce({"x": x, "rest": (n, self.cell.view())}), all_reduce(self.cell.add(x, x), n)

    def repeated(self: Any, x: Any) -> Any:
        return loop(2, lambda i, v: (self.cell.add(all_reduce(v), x), v), x, collect=True)

    learners = group_of_two(subject, run, repeated, n=NUMBER, x=NUMBER)
    given = ({"x": 2.0, "n": 1.0}, {"x": 8.0, "n": 3.0})
    expected = ({"x": floats(10.0), "rest": (floats(4.0), floats([2.0]))}, floats(5.0))
    for number, found in enumerate(together(learners, "run", *given)):
        assert_same(found, expected, path=f"learner {number}")
    # v <- sum of v + x: of learner 0 it is 10 + 2, 30 + 2
    found, other = together(learners, "repeated", *({"x": each["x"]} for each in given))
    assert_same(found, (floats(32.0), floats([2.0, 12.0])), path="learner 0")
    assert_same(other, (floats(38.0), floats([8.0, 18.0])), path="learner 1")


@check("groups")
def values_between_segments(subject: Subject) -> None:
    """What is used after a sum is what it was ahead of it, whatever is written; no argument changes."""

    def run(self: Any, x: Any) -> Any:
        twice, before = self.cell.add(x, x), self.cell.view()
        total = all_reduce(self.cell.total(x))
        self.cell.write(total)
        return loop(2, lambda i, v: self.cell.add(all_reduce(v), self.cell.total(twice)), total), (
            self.cell.add(twice, before),
            self.cell.see(),
        )

    learners = group_of_two(subject, run, x=ROWS)
    rows = (floats([1.0, 2.0, 3.0]), floats([10.0]))
    kept = [array.copy() for array in rows]
    found = together(learners, "run", *({"x": array} for array in rows))
    # total 16, v <- sum of v + 2 * own rows: 44 and 52, then 108 and 116
    assert_same(found[0], (floats(108.0), (floats([3.0, 5.0, 7.0]), floats(16.0))), path="learner 0")
    assert_same(found[1], (floats(116.0), (floats([21.0]), floats(16.0))), path="learner 1")
    assert_same(rows, tuple(kept), path="the arguments")


@check("groups", capabilities=NEEDS)
def steps(subject: Subject) -> None:
    """A derivative is that of the mean over the rows of both learners; in a loop, and what they train stays equal."""

    def run(self: Any, x: Any, n: Any) -> Any:
        def body(i: Any) -> Any:
            total = self.cell.total(self.cell.weigh(self.cell.weigh(x)))
            loss = all_reduce(total, n) if in_group() else total
            self.cell.write(self.cell.first(gradients(loss, self.cell.variables())))
            return None, loss

        return loop(3, body, collect=True)[1]

    learners = group_of_two(subject, run, x=ROWS, n=NUMBER)
    given = ({"x": floats([1.0]), "n": 1.0}, {"x": floats([1.0, 2.0, 4.0]), "n": 3.0})
    # The mean of x is 2: the loss 2 w^2, and w <- 4 w.
    for number, found in enumerate(together(learners, "run", *given)):
        assert_same(found, floats([2.0, 32.0, 512.0]), path=f"learner {number}")
        assert_same(learners[number].get_weights(), {"cell/w": floats(64.0)}, path=f"learner {number}")


@check("groups", placed=False)
def draws_and_starts(subject: Subject) -> None:
    """Learners of one seed start equal and draw different numbers."""

    def run(self: Any, x: Any) -> Any:
        return all_reduce(self.cell.weigh(x))

    learners = group_of_two(subject, run, x=NUMBER)
    first, second = (np.asarray(learner.storage.stream("cell").random(4)) for learner in learners)
    assert not np.isclose(first, second).any(), f"both draw {first}"
    assert_same(learners[0].get_weights(), learners[1].get_weights())
