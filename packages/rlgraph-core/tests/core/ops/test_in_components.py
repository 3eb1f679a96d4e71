"""Operations in components, on every backend: several results, sizes that only values decide, gradients."""

import numpy as np
import pytest

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox
from rlgraph.testing import ComponentTest


class Chooser(Component):
    """Splits, ranks and filters rows."""

    @rlgraph_api
    @graph_fn(returns=2)
    def halves(self, ops, rows):
        return ops.split(rows, (1, 3), axis=-1)

    @rlgraph_api
    @graph_fn(returns=2)
    def best(self, ops, rows):
        return ops.top_k(rows, 2)

    @rlgraph_api
    def kept(self, rows, mask):
        return self._filter(rows, mask)

    @rlgraph_api
    def mean_of_kept(self, rows, mask):
        return self._mean(self._filter(rows, mask))

    @rlgraph_api
    @graph_fn
    def returns(self, ops, rows):
        return ops.linear_recurrence(rows, 0.5, reverse=True) @ ops.eye(4)

    @rlgraph_api
    @graph_fn(returns=2)
    def ends(self, ops, rows):
        return rows[:1], rows[-1:]

    @rlgraph_api
    @graph_fn
    def signs(self, ops, rows, mask):
        same = ops.zeros((4,), rows.dtype).dtype == rows.dtype != mask.dtype
        return ops.astype(ops.astype(rows > 1.0, "int32"), rows.dtype) if same else rows

    @graph_fn
    def _filter(self, ops, rows, mask):
        return ops.boolean_mask(rows, mask) * 2.0

    @graph_fn
    def _mean(self, ops, rows):
        return ops.mean(rows, axis=0)


ROWS = np.float32([[3, 1, 2, 3], [0, 0, 5, 4], [9, 8, 7, 6]])
MASK = np.array([True, False, True])


@pytest.fixture
def chooser(backend):
    spaces = {"rows": FloatBox(shape=(4,), add_batch_rank=True), "mask": BoolBox(add_batch_rank=True)}
    return ComponentTest(Chooser(), spaces, backend=backend)


def test_several_results(chooser):
    chooser.test(("halves", [ROWS]), expected_outputs=(ROWS[:, :1], ROWS[:, 1:]))
    values, indices = chooser.test(("best", [ROWS]))
    assert (values.tolist(), indices.tolist()) == ([[3, 3], [5, 4], [9, 8]], [[0, 3], [2, 3], [0, 1]])


def test_sizes_that_values_decide(chooser):
    chooser.test(("kept", [ROWS, MASK]), expected_outputs=2 * ROWS[MASK])
    assert chooser.test(("kept", [ROWS, ~MASK])).shape == (1, 4)
    assert chooser.test(("kept", [ROWS, np.zeros(3, bool)])).shape == (0, 4)
    chooser.test(("mean_of_kept", [ROWS, MASK]), expected_outputs=[12, 9, 9, 9])


def test_a_recurrence_over_the_batch(chooser):
    last, middle = ROWS[2], ROWS[1] + 0.5 * ROWS[2]
    chooser.test(("returns", [ROWS]), expected_outputs=[ROWS[0] + 0.5 * middle, middle, last])


def test_the_first_and_the_last_row(chooser):
    chooser.test(("ends", [ROWS]), expected_outputs=(ROWS[:1], ROWS[2:]))


def test_the_dtype_of_a_tensor_goes_into_operations_and_is_compared_with_that_of_another(chooser):
    chooser.test(("signs", [ROWS, MASK]), expected_outputs=np.float32(ROWS > 1))
