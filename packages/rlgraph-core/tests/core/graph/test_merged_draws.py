"""Equal draws are never one draw: not side by side, not in loops, not in calls that are executed together."""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox


class Dice(Component):
    @rlgraph_api
    def twice(self, x):
        return self._roll(x), self._roll(x)

    @rlgraph_api
    def around(self, x):
        before = self._roll(x)
        _, inside = loop(3, lambda i: ((), (self._roll(x), self._double(x))), collect=True)
        return before, inside[0], inside[1], self._double(x)

    @rlgraph_api
    def once(self, x):
        return self._roll(x)

    @graph_fn
    def _roll(self, ops, x):
        return x + ops.random_uniform(ops.shape(x))

    @graph_fn
    def _double(self, ops, x):
        return x * 2.0


X = np.zeros(4, np.float32)


@pytest.fixture
def dice(backend):
    return GraphExecutor(Dice(), {"x": FloatBox(add_batch_rank=True)}, backend=backend)


def test_side_by_side(dice):
    first, second = dice.execute("twice", X)
    assert np.all(first != second)


def test_in_and_around_a_loop(dice):
    before, inside, doubled, after = dice.execute("around", X)
    rolls = np.stack([before, *inside])
    assert len(np.unique(rolls)) == rolls.size
    np.testing.assert_array_equal(doubled, [after] * 3)


def test_executed_together(dice):
    first, second, (third, fourth) = dice.execute([("once", X), ("once", X), ("twice", X)])
    rolls = np.stack([first, second, third, fourth])
    assert len(np.unique(rolls)) == rolls.size


def test_together_they_draw_what_they_draw_one_by_one(backend):
    together, apart = (
        GraphExecutor(Dice(), {"x": FloatBox(add_batch_rank=True)}, backend=backend) for _ in range(2)
    )
    both = together.execute([("once", X), ("once", X)])
    np.testing.assert_array_equal(both, [apart.execute("once", X), apart.execute("once", X)])
