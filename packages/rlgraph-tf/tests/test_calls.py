"""The ways from NumPy arrays into a program and back."""

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest
from rlgraph.tf import calls

WAYS = [calls.runtime_call, calls.flat_call, calls.public_call]


class Counter(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", FloatBox(), initializer=1.0)
        self.table = self.get_variable("table", FloatBox(shape=(3,)), initializer=[1.0, 2.0, 3.0])

    @rlgraph_api
    @graph_fn(returns=0)
    def add(self, ops, x):
        ops.assign_add(self.count, ops.sum(x))

    @rlgraph_api
    def add_and_get(self, x, flag, index):
        self._add(x)
        return self._get(flag, index)

    @rlgraph_api
    def get(self):
        return self._count()

    @graph_fn(returns=3)
    def _get(self, ops, flag, index):
        return ops.read(self.count), ops.logical_not(flag), ops.take(self.table, index)

    @graph_fn
    def _count(self, ops):
        return ops.read(self.count)


SPACES = {
    "x": FloatBox(shape=(2,), add_batch_rank=True),
    "flag": BoolBox(),
    "index": IntBox(add_batch_rank=True),
}


@pytest.mark.parametrize("single_threaded", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_every_way(way, single_threaded, monkeypatch):
    monkeypatch.setattr(calls, "shortest_way", lambda: way)
    test = ComponentTest(Counter(scope="counter"), SPACES, backend="tf")
    test.executor.backend.single_threaded = single_threaded
    assert test.test(("add", [[[1.0, 2.0]]])) is None
    outputs = test.test(
        ("add_and_get", [[[1.0, 2.0], [3.0, 4.0]], True, [2, 0]]), expected_outputs=(14.0, False, [3.0, 1.0])
    )
    assert [(type(o), o.dtype.kind, o.shape) for o in outputs] == [
        (np.ndarray, "f", ()),
        (np.ndarray, "b", ()),
        (np.ndarray, "f", (2,)),
    ]
    test.test("get", expected_outputs=14.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="add_and_get__segment_0"):
        test.test(("add_and_get", [[[0.0, 0.0]], True, [7]]))
    test.test("get", expected_outputs=14.0)


def test_the_shortest_way_works_here():
    """With the version that is pinned for the tests; any other may fall back."""
    assert calls.shortest_way() is calls.runtime_call
    assert calls.conversion() is not tf.constant


def no_call(concrete, /, *, single_threaded):
    return lambda tensors: ()


def wrong_output(concrete, /, *, single_threaded):
    call = calls.public_call(concrete)
    return lambda tensors: [2 * output for output in call(tensors)]


def missing_name(concrete, /, *, single_threaded):
    return concrete.no_such_attribute


def one_thread_only(concrete, /, *, single_threaded):
    return no_call(concrete, single_threaded=True) if single_threaded else calls.public_call(concrete)


@pytest.mark.parametrize("way", [no_call, wrong_output, missing_name, one_thread_only])
def test_a_way_that_does_not_work_is_found_out(way):
    assert not calls.works(way)


@pytest.mark.parametrize("way", WAYS)
def test_a_way_that_works_is_found_out(way):
    assert calls.works(way)


def test_the_next_way_is_taken(monkeypatch):
    for working in ([calls.flat_call], []):
        monkeypatch.setattr(calls, "works", working.__contains__)
        assert calls.shortest_way.__wrapped__() is (working[0] if working else calls.public_call)


class NoConstructor:
    def __init__(self, *args):
        raise TypeError("it has changed")


def test_conversion_falls_back(monkeypatch):
    from tensorflow.python.framework import ops

    monkeypatch.setattr(ops, "EagerTensor", NoConstructor)
    assert calls.conversion.__wrapped__() is tf.constant


@pytest.mark.parametrize("to_tensor", [calls.conversion(), tf.constant])
def test_conversion(to_tensor):
    for array in (
        np.arange(6)[::2],
        np.ones((2, 3), np.float32).T,
        np.zeros((0, 4)),
        np.array(True),
        np.uint8([1]),
    ):
        tensor = to_tensor(array)
        assert tensor.shape == array.shape and tensor.dtype == array.dtype
        np.testing.assert_array_equal(tensor.numpy(), array)


def test_loops_are_left_to_the_ordinary_executor():
    def triple(x):
        return (tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + x), [0, x])[1],)

    spec = tf.TensorSpec([None], tf.float32)
    concrete = tf.function(triple, autograph=False).get_concrete_function(spec)
    for way in WAYS:
        (output,) = way(concrete, single_threaded=True)([tf.constant([1.0, 2.0])])
        np.testing.assert_array_equal(output.numpy(), [3.0, 6.0])
