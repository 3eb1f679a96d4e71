"""Layers that fold, unfold, exchange and rename batch and time rank, and what comes after them."""

import numpy as np
import pytest

from rlgraph.components import PreprocessorStack, RankReinterpreter, Reshape, Transpose
from rlgraph.core import AssemblyError, Component, GraphExecutor, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


def floats(shape, batch=False, time=False, time_major=False):
    return FloatBox(shape=shape, add_batch_rank=batch, add_time_rank=time, time_major=time_major)


def numbered(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


#: layer, Space, a sample of it, the Space that comes out, its shape there
CASES = [
    (Reshape(fold_time_rank=True), floats((2,), True, True), (4, 3, 2), floats((2,), True), (12, 2)),
    (Reshape(fold_time_rank=True), floats((2,), True, True, True), (3, 4, 2), floats((2,), True), (12, 2)),
    (Reshape(fold_time_rank=True), floats((2,), 4, 3), (4, 3, 2), floats((2,), 12), (12, 2)),
    (Reshape(fold_time_rank=True, flatten=True), floats((2, 5), True, 3), (4, 3, 2, 5), floats((10,), True), (12, 10)),
    (Reshape(unfold_time_rank=3), floats((2,), True), (12, 2), floats((2,), True, 3), (4, 3, 2)),
    (Reshape([2, 1], unfold_time_rank=3), floats((2,), True), (12, 2), floats((2, 1), True, 3), (4, 3, 2, 1)),
    (
        Reshape(unfold_time_rank=3, time_major=True),
        floats((2,), 12),
        (12, 2),
        floats((2,), 4, 3, True),
        (3, 4, 2),
    ),
    (RankReinterpreter(0, 1), floats((3, 2), True), (4, 3, 2), floats((2,), True, 3), (4, 3, 2)),
    (RankReinterpreter(0), floats((2,), True, 3), (4, 3, 2), floats((3, 2), True), (4, 3, 2)),
    (RankReinterpreter(1, 0), floats((2,), 3, 4), (3, 4, 2), floats((2,), 4, 3, True), (3, 4, 2)),
    (RankReinterpreter(time_rank=0), floats((3, 2)), (3, 2), floats((2,), False, 3, True), (3, 2)),
    (RankReinterpreter(0, 1), floats((2,), True, True), (4, 3, 2), floats((2,), True, True), (4, 3, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "space", "given", "expected_space", "expected"), CASES)
def test_row_major_order_stays(backend, layer, space, given, expected_space, expected):
    assert layer.get_preprocessed_space(space) == expected_space
    test = ComponentTest(layer.copy(), {"inputs": space}, backend=backend)
    test.test("call", numbered(*given), expected_outputs=numbered(*expected))


@pytest.mark.parametrize("time_major", [False, True])
def test_transpose(backend, time_major):
    space = floats((2,), True, True, time_major)
    for output_is_time_major in (False, True):
        layer = Transpose(output_is_time_major)
        wanted = floats((2,), True, True, output_is_time_major)
        assert layer.get_preprocessed_space(space) == wanted
        x = numbered(4, 3, 2)
        expected = x if time_major == output_is_time_major else np.swapaxes(x, 0, 1)
        ComponentTest(layer, {"inputs": space}, backend=backend).test("call", x, expected_outputs=expected)


def test_what_comes_after_sees_the_new_ranks(backend):
    """The Space that a layer announces is the one that the next component is built with."""
    layers = [
        Reshape(unfold_time_rank=3),
        Transpose(),
        RankReinterpreter(1, 0),
        Reshape(fold_time_rank=True, scope="fold"),
    ]
    spaces = [floats((2,), True)]
    for layer in layers:
        spaces.append(layer.get_preprocessed_space(spaces[-1]))
    stack = PreprocessorStack(layers)
    executor = GraphExecutor(stack, {"inputs": spaces[0]}, backend=backend)
    assert [layer.boxes[""] for layer in layers] == spaces[:-1]
    x = numbered(12, 2)
    expected = np.swapaxes(x.reshape(4, 3, 2), 0, 1).reshape(12, 2)
    np.testing.assert_array_equal(executor.execute("preprocess", x), expected)


class FoldAndUnfold(Component):
    """What a network does around layers that know no time."""

    def __init__(self):
        self.fold = Reshape(fold_time_rank=True, scope="fold")
        self.unfold = Reshape(unfold_time_rank=True, scope="unfold")
        super().__init__(self.fold, self.unfold)

    @rlgraph_api
    def call(self, inputs):
        return self.unfold.call(self.fold.call(inputs), inputs)


@pytest.mark.parametrize("ranks", [(True, True, False), (True, True, True), (True, 3, False)])
def test_unfold_as_it_was(backend, ranks):
    space = Dict(a=floats((2,), *ranks), b=floats((), *ranks))
    test = ComponentTest(FoldAndUnfold(), {"inputs": space}, backend=backend)
    sample = {"a": numbered(4, 3, 2), "b": numbered(4, 3)}
    test.test("call", sample, expected_outputs=sample)


class TwiceUnfolded(Component):
    """Unfolds two batches, one after the other."""

    def __init__(self):
        self.unfold = Reshape(unfold_time_rank=3, scope="unfold")
        super().__init__(self.unfold)

    @rlgraph_api
    def call(self, one, two):
        return self.unfold.call(self._join(one, two))

    @graph_fn
    def _join(self, ops, one, two):
        return ops.concat([one, two])


@pytest.mark.parametrize("ranks", [(True, True), (True, "other")])
def test_unfold_a_batch_of_which_nothing_is_known(backend, ranks):
    spaces = {name: floats((2,), rank) for name, rank in zip(("one", "two"), ranks, strict=True)}
    x = numbered(12, 2)
    test = ComponentTest(TwiceUnfolded(), spaces, backend=backend)
    test.test(("call", [x[:6], x[6:]]), expected_outputs=x.reshape(4, 3, 2))


@pytest.mark.parametrize("time_major", [False, True])
def test_unfold_a_batch_of_its_own_by_a_sequence(backend, time_major):
    spaces = {
        "inputs": floats((2,), "rows"),
        "input_before_time_rank_folding": floats((), True, True, time_major),
    }
    reshape, x, shape = Reshape(unfold_time_rank=True, time_major=time_major), numbered(12, 2), (4, 3)
    test = ComponentTest(reshape, spaces, backend=backend)
    test.test(("call", [x, numbered(*shape)]), expected_outputs=x.reshape(*shape, 2))


def test_mistakes():
    with pytest.raises(SpecError, match="reshape: expected new_shape, or one of flatten"):
        Reshape()
    with pytest.raises(SpecError, match="reshape: expected fold_time_rank or unfold_time_rank, given both"):
        Reshape(fold_time_rank=True, unfold_time_rank=True)
    with pytest.raises(SpecError, match=r"reshape\.unfold_time_rank: expected an integer >= 1, given -2"):
        Reshape(unfold_time_rank=-2)
    with pytest.raises(SpaceError, match="folding needs a Space with batch rank and time rank, given"):
        Reshape(fold_time_rank=True).get_preprocessed_space(floats((2,), True))
    with pytest.raises(SpaceError, match="unfolding needs a Space with batch rank and without time rank"):
        Reshape(unfold_time_rank=3).get_preprocessed_space(floats((2,), True, True))
    with pytest.raises(SpaceError, match="7 items are not a multiple of 3 steps"):
        Reshape(unfold_time_rank=3).get_preprocessed_space(floats((2,), 7))
    with pytest.raises(AssemblyError, match="unfold_time_rank=True needs input_before_time_rank_folding"):
        GraphExecutor(Reshape(unfold_time_rank=True), {"inputs": floats((2,), True)}, backend="numpy")
    with pytest.raises(
        SpaceError, match='expected a Space with batch rank and time rank.*"unfold_time_rank": n'
    ):
        Transpose().get_preprocessed_space(IntBox(3, add_batch_rank=True))


@pytest.mark.parametrize("axes", [(), (1,), (0, 0), (None, 1), (0, 2)])
def test_axes_that_are_none(axes):
    with pytest.raises(SpecError, match="rank-reinterpreter: batch_rank and time_rank are the axes 0 and 1"):
        RankReinterpreter(*axes)


def test_an_axis_of_unknown_size_stays_what_it_is():
    with pytest.raises(
        SpaceError, match="axis 0, the batch rank, has no fixed size and cannot change its role"
    ):
        RankReinterpreter(time_rank=0).get_preprocessed_space(floats((2,), True))
    with pytest.raises(SpaceError, match="expected at least 2 axes"):
        RankReinterpreter(0, 1).get_preprocessed_space(floats((), True))
