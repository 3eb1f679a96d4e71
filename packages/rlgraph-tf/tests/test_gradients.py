"""Derivatives: by hand, by TensorFlow's own, and how pieces are put together."""

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph.variables import Block
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest
from rlgraph.tf import derivatives
from rlgraph.tf.variables import Piece, derivative_of


class Recorder(Component):
    """Keeps the derivatives it is given in its slots."""

    def create_variables(self, input_spaces, action_space=None):
        self.kept = self.get_slots("kept", input_spaces["variables"])

    @rlgraph_api
    def record(self, variables, loss):
        return self._record(variables, gradients(loss, variables))

    @graph_fn(returns=0)
    def _record(self, ops, variables, gradients):
        for slot, gradient in zip(self.kept, gradients, strict=True):
            ops.assign(slot, gradient)


class ByHand(Component):
    """``loss = mean(x) * w^2 + stop_gradient(w) * w``, with a variable nobody uses between two that are used."""

    def __init__(self):
        self.recorder = Recorder(scope="recorder")
        self.holder = Holder(scope="holder")
        super().__init__(self.recorder, self.holder, scope="root")

    @rlgraph_api
    def record(self, x):
        loss = self.holder.loss(x)
        return self.recorder.record(self.holder.variables(), loss)

    @rlgraph_api
    def record_decay(self):
        variables = self.holder.variables()
        return self.recorder.record(variables, self._decay(variables))

    @graph_fn
    def _decay(self, ops, variables):
        return sum((ops.sum(ops.square(block)) for block in variables[1:]), ops.sum(ops.square(variables[0])))


class Holder(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.first = self.get_variable("a", FloatBox(), initializer=3.0)
        self.unused = self.get_variable("b", FloatBox(shape=(2,)), initializer=1.0)
        self.last = self.get_variable("c", FloatBox(shape=(2,)), initializer=[1.0, -2.0])

    @rlgraph_api
    @graph_fn
    def loss(self, ops, x):
        squares = ops.mean(x) * self.first**2.0 + ops.stop_gradient(self.first) * self.first
        return squares + ops.sum(self.last * self.last * self.last)


def test_by_hand():
    test = ComponentTest(ByHand(), {"x": FloatBox(add_batch_rank=True)}, backend="tf")
    test.test(("record", [[1.0, 3.0]]))
    kept = "recorder/kept/holder"
    # d/da: 2 * mean(x) * a + stop_gradient(a) = 12 + 3; d/dc = 3 c^2.
    test.variable_test({f"{kept}/a": 15.0, f"{kept}/b": [0.0, 0.0], f"{kept}/c": [3.0, 12.0]})
    test.test("record_decay")
    test.variable_test({f"{kept}/a": 6.0, f"{kept}/b": [2.0, 2.0], f"{kept}/c": [2.0, -4.0]})


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize(
    ("axis", "keepdims"), [(None, False), (None, True), (-1, False), (0, True), ((0, 2), False), ((), False)]
)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean"])
def test_reductions_against_tensorflows_own(name, axis, keepdims, open_sizes):
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    ours = _derivative(lambda t: getattr(derivatives, name)(t, axis, keepdims), x, open_sizes)
    axes = axis if axis != () else tf.zeros([0], tf.int32)
    np.testing.assert_allclose(
        ours, _derivative(lambda t: getattr(tf, name)(t, axes, keepdims), x, open_sizes)
    )


def test_reduction_of_a_scalar():
    for function in (derivatives.reduce_sum, derivatives.reduce_mean):
        np.testing.assert_allclose(
            _derivative(lambda t, f=function: f(t, None, False), np.array(3.0), False), 6.0
        )


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_picking_against_tensorflows_own(count, open_sizes):
    rng = np.random.default_rng(0)
    x, indices = rng.standard_normal((2, 3, 4)), rng.integers(0, 4, (2, 3, count))
    ours = _derivative(lambda t: derivatives.pick(t, indices), x, open_sizes)
    np.testing.assert_allclose(
        ours, _derivative(lambda t: tf.gather(t, indices, batch_dims=2), x, open_sizes)
    )


def _derivative(function, x, open_sizes):
    """d sum(f(x)^2) / dx."""

    def derivative(t):
        return tf.gradients(tf.reduce_sum(tf.square(function(t))), t)[0]

    spec = tf.TensorSpec([None] * x.ndim if open_sizes else x.shape, x.dtype)
    return tf.function(derivative, autograph=False).get_concrete_function(spec)(tf.constant(x)).numpy()


def test_pieces_put_together():
    def piece(start, *values, group="g"):
        return Piece(group, start, start + len(values), tf.constant(values, tf.float32))

    block = Block("g", 2, 8, ())
    # Beyond the ends, overlapping, with gaps, of another group.
    pieces = [
        piece(0, 9, 9, 1, 1),
        piece(3, 2, 2),
        piece(7, 5, 9),
        piece(0, 1, 1, 1, 1, group="h"),
        piece(9, 9),
    ]
    np.testing.assert_array_equal(derivative_of(block, pieces, tf.float32), [1, 3, 2, 0, 0, 5])
    np.testing.assert_array_equal(derivative_of(block, [], tf.float32), np.zeros(6))
    assert derivative_of(block, [piece(2, 1, 2, 3, 4, 5, 6)], tf.float32).shape == (6,)
