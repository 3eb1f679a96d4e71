"""Slices, shards and samples of a batch."""

import numpy as np
import pytest

from rlgraph.components import BatchSplitter, Sampler, Slice
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

SPACE = Dict(a=FloatBox(shape=(2,)), b=IntBox(100), add_batch_rank=True)
BATCH = {"a": np.arange(14.0, dtype=np.float32).reshape(7, 2), "b": np.arange(7)}


def rows(*which):
    return {name: x[list(which)] for name, x in BATCH.items()}


class Cut(Component):
    def __init__(self, *indices, squeeze=False):
        self.indices, self.cut = indices, Slice(squeeze)
        super().__init__(self.cut, scope="root")

    @rlgraph_api
    def call(self, inputs):
        return self.cut.slice(inputs, *self.indices)


@pytest.mark.parametrize(
    ("indices", "expected"), [((), range(7)), ((2, 4), (2, 3)), ((-2,), (5, 6)), ((0, -5), (0, 1))]
)
def test_slices(backend, indices, expected):
    ComponentTest(Cut(*indices), {"inputs": SPACE}, backend=backend).test(
        ("call", [BATCH]), expected_outputs=rows(*expected)
    )


@pytest.mark.parametrize("indices", [(0, 10), (5, 7), (-5,), (0, -4)])
def test_slices_are_inside_of_the_batch(indices):
    """Said when the graph is built if the size is fixed, else when it runs."""
    message = rf"inputs: expected rows {indices[0]}:.* inside the batch, given 3 rows"
    with pytest.raises(SpaceError, match=f"slice: {message}"):
        ComponentTest(Cut(*indices), {"inputs": FloatBox(shape=(3, 2))}, backend="numpy")
    test = ComponentTest(Cut(*indices), {"inputs": FloatBox(add_batch_rank=True)}, backend="numpy")
    with pytest.raises(Exception, match=message):
        test.test(("call", [np.ones(3, np.float32)]))


@pytest.mark.parametrize(("indices", "row"), [((3, 4), 3), ((-1,), 6), ((-3, -2), 4)])
def test_a_single_row_squeezed(indices, row, backend):
    test = ComponentTest(Cut(*indices, squeeze=True), {"inputs": SPACE}, backend=backend)
    test.test(("call", [BATCH]), expected_outputs={"a": BATCH["a"][row], "b": row})


@pytest.mark.parametrize(
    ("indices", "expected"), [((1, -1), 1.0), ((2,), 2.0), ((0, -2), 0.0), ((), [0, 1, 2]), ((-2,), [1, 2])]
)
def test_rows_of_a_fixed_batch_squeezed_where_they_are_one(indices, expected, backend):
    for space in (FloatBox(add_batch_rank=3), FloatBox(shape=(3,))):
        test = ComponentTest(Cut(*indices, squeeze=True), {"inputs": space}, backend=backend)
        test.test(("call", [np.arange(3, dtype=np.float32)]), expected_outputs=expected)


@pytest.mark.parametrize("indices", [(), (2,), (0, -1), (-2, 3)])
def test_squeezed_rows_whose_number_nobody_knows(indices):
    with pytest.raises(
        SpaceError, match="slice: inputs: with squeeze, expected indices that determine the number of rows"
    ):
        ComponentTest(Cut(*indices, squeeze=True), {"inputs": FloatBox(add_batch_rank=True)}, backend="numpy")


def test_shards_leave_the_rest_out(backend):
    test = ComponentTest(BatchSplitter(3, 2), {"inputs": SPACE}, backend=backend)
    test.test(("split_batch", [BATCH]), expected_outputs=(rows(0, 1), rows(2, 3), rows(4, 5)))


def test_samples_are_rows_of_the_batch(backend):
    """All parts of the same rows; each row as often as the others."""
    test = ComponentTest(Sampler(700), {"inputs": SPACE}, backend=backend)
    sample = test.test(("sample", [BATCH]))
    np.testing.assert_array_equal(sample["a"], BATCH["a"][sample["b"]])
    counts = np.bincount(sample["b"], minlength=7)
    # Chi-square with 6 degrees of freedom: above 22.5 once in a thousand.
    assert ((counts - 100) ** 2 / 100).sum() < 22.5
    assert not np.array_equal(test.test(("sample", [BATCH]))["b"], sample["b"])


def test_mistakes():
    with pytest.raises(AssemblyError, match="slice.slice: start_index: expected a number known at assembly"):
        ComponentTest(Cut(1.5), {"inputs": SPACE}, backend="numpy")
    with pytest.raises(SpecError, match="batch-splitter.shard_size: expected an integer >= 1, given 0"):
        BatchSplitter(2, 0)
    with pytest.raises(SpecError, match="sampler.sampling_strategy: unknown 'uniformly'.*'uniform'"):
        Sampler(2, "uniformly")
    time_major = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    for space in (FloatBox(shape=(3,)), time_major):
        with pytest.raises(SpaceError, match="sampler: inputs need a batch rank, ahead of a time rank"):
            ComponentTest(Sampler(2), {"inputs": space}, backend="numpy")
        with pytest.raises(
            SpaceError, match="batch-splitter: inputs need a batch rank, ahead of a time rank"
        ):
            ComponentTest(BatchSplitter(1, 2), {"inputs": space}, backend="numpy")
