"""Derivatives: by hand, by finite differences, by TensorFlow's own, and how pieces are put together."""

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Dense
from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph.variables import Block
from rlgraph.spaces import FloatBox, IntBox
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


class Net(Component):
    """A loss through most families of operations, and through the flat blocks (weight decay)."""

    def __init__(self):
        self.first, self.second = Dense(3, activation="tanh", scope="first"), Dense(4, scope="second")
        super().__init__(self.first, self.second, scope="net")

    @rlgraph_api
    def get_loss(self, x, actions):
        return self._loss(self.second.call(self.first.call(x)), actions, self.variables())

    @graph_fn
    def _loss(self, ops, y, actions, variables):
        picked = ops.take_along_axis(y, ops.expand_dims(actions, 1), axis=1)
        twice = ops.take_along_axis(y, ops.concat([ops.expand_dims(actions, 1)] * 2, axis=1), axis=1)
        spread = ops.mean(y, axis=-1, keepdims=True) + ops.sum(y, axis=0) + ops.max(y, axis=1, keepdims=True)
        decay = 0.0
        for block in variables:
            decay = decay + ops.sum(ops.square(block))
        parts = (
            ops.mean(ops.square(picked))
            + ops.mean(ops.log_softmax(y))
            + ops.sum(ops.softplus(spread * twice[:, 1:]))
        )
        return parts + 0.1 * decay


class Learner(Component):
    def __init__(self):
        self.net, self.recorder = Net(), Recorder(scope="recorder")
        super().__init__(self.net, self.recorder, scope="learner")

    @rlgraph_api
    def get_loss(self, x, actions):
        return self.net.get_loss(x, actions)

    @rlgraph_api
    def record(self, x, actions):
        loss = self.net.get_loss(x, actions)
        self.recorder.record(self.net.variables(), loss)
        return loss


SPACES = {"x": FloatBox(shape=(2,), add_batch_rank=True), "actions": IntBox(4, add_batch_rank=True)}


def test_finite_differences():
    test = ComponentTest(Learner(), SPACES, backend="tf", execution_spec={"dtype": "float64"})
    rng = np.random.default_rng(3)
    x, actions = rng.standard_normal((5, 2)), rng.integers(0, 4, 5)
    executor = test.executor
    weights = executor.get_weights(trainable_only=True)
    start = {name: value + 0.1 * rng.standard_normal(value.shape) for name, value in weights.items()}
    executor.set_weights(start)
    loss = executor.execute("record", x, actions)
    assert loss.dtype == np.float64 and loss == executor.execute("get_loss", x, actions)
    for name, value in start.items():
        given = executor.storage.read(f"recorder/kept/{name}")
        for index in np.ndindex(value.shape):
            losses = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[index] += step
                executor.set_weights({name: moved})
                losses.append(executor.execute("get_loss", x, actions))
            executor.set_weights({name: value})
            np.testing.assert_allclose(given[index], (losses[0] - losses[1]) / 2e-6, rtol=1e-6, atol=1e-7)


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
