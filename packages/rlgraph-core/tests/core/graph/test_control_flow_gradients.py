"""Derivatives through loops and branches, and inside of them, against formulas and loops written out in NumPy."""

import numpy as np
import pytest

from rlgraph.components import Adam
from rlgraph.core import Component, branch, gradients, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

NUMBER, INTEGER = FloatBox(), IntBox()
ROWS, COLUMNS = 12, 3


def same(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


class Regression(Component):
    """A linear map from three numbers to one, its error on a minibatch, and its gradient step."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(COLUMNS,)), initializer=0.1)
        self.bias = self.get_variable("bias", float, initializer=0.2)

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def loss(self, ops, x, y):
        predicted = ops.sum(x * self.weights, axis=-1) + self.bias
        return ops.mean(ops.square(predicted - y))

    @rlgraph_api(must_be_complete=False)
    def step(self, loss, rate):
        return self._step(self.variables(), gradients(loss, self.variables()), rate)

    @graph_fn(returns=0)
    def _step(self, ops, variables, derivatives, rate):
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - rate * derivative)


class Batches(Component):
    """Minibatch `i` of four rows each."""

    @rlgraph_api
    @graph_fn(returns=2)
    def get(self, ops, i, x, y):
        x, y = ops.reshape(x, (-1, 4, COLUMNS)), ops.reshape(y, (-1, 4))
        return ops.take(x, i, axis=0), ops.take(y, i, axis=0)


DATA = np.random.default_rng(3)
X, Y = DATA.normal(size=(ROWS, COLUMNS)), DATA.normal(size=ROWS)
SPACES = {"x": FloatBox(shape=(ROWS, COLUMNS)), "y": FloatBox(shape=(ROWS,))}


def by_hand(x, y, weights, bias):
    """Loss and derivatives of the mean squared error."""
    error = x @ weights + bias - y
    return np.mean(error**2), 2 * error @ x / len(y), 2 * np.mean(error)


def sgd_by_hand(epochs, rate, batches=((0, 4), (4, 8), (8, 12)), x=X, y=Y):
    weights, bias, losses = np.full(COLUMNS, 0.1), 0.2, []
    for _ in range(epochs):
        for start, stop in batches:
            loss, by_weights, by_bias = by_hand(x[start:stop], y[start:stop], weights, bias)
            weights, bias = weights - rate * by_weights, bias - rate * by_bias
            losses.append(loss)
    return weights, bias, np.reshape(losses, (epochs, -1))


def test_epochs_of_minibatches(executor, trainer):
    model, batches = Regression(scope="model"), Batches(scope="batches")

    def run(self, x, y):
        def epoch(e):
            def minibatch(i):
                loss = model.loss(*batches.get(i, x, y))
                model.step(loss, 0.05)
                return (), loss

            return (), loop(3, minibatch, collect=True)[1]

        return loop(5, epoch, collect=True)[1]

    made = executor(run, model, batches, backend=trainer, **SPACES)
    weights, bias, losses = sgd_by_hand(5, 0.05)
    same(made.execute("run", X, Y), losses)
    same(made.get_weights()["model/weights"], weights)
    same(made.get_weights()["model/bias"], bias)


def test_a_number_of_epochs_that_run_time_knows(executor, trainer):
    model = Regression(scope="model")

    def run(self, n, x, y):
        def epoch(e, loss):
            loss = model.loss(x, y)
            model.step(loss, 0.05)
            return loss

        return loop(n, epoch, 0.0)

    made = executor(run, model, backend=trainer, n=INTEGER, **SPACES)
    weights, _, losses = sgd_by_hand(3, 0.05, [(0, ROWS)])
    assert made.execute("run", 0, X, Y) == 0.0
    same(made.execute("run", 1, X, Y), losses[0, 0])
    same(made.execute("run", 2, X, Y), losses[2, 0])
    same(made.get_weights()["model/weights"], weights)


def test_adam_in_a_loop_does_what_it_does_in_single_calls(executor, trainer):
    """Kingma and Ba (2015), Algorithm 1, written out."""
    model, adam = Regression(scope="model"), Adam(learning_rate=0.02, scope="adam")

    def run(self, x, y):
        def body(i, last):
            loss = model.loss(x, y)
            adam.step(model.variables(), loss)
            return loss

        return loop(8, body, 0.0)

    made = executor(run, model, adam, backend=trainer, **SPACES)
    loss = made.execute("run", X, Y)

    values, m, v = [np.full(COLUMNS, 0.1), 0.2], [0.0, 0.0], [0.0, 0.0]
    for t in range(1, 9):
        expected, *derivatives = by_hand(X, Y, *values)
        for k, g in enumerate(derivatives):
            m[k], v[k] = 0.9 * m[k] + 0.1 * g, 0.999 * v[k] + 0.001 * g**2
            step = (m[k] / (1 - 0.9**t)) / (np.sqrt(v[k] / (1 - 0.999**t)) + 1e-8)
            values[k] = values[k] - 0.02 * step
    same(loss, expected)
    same(made.get_weights()["model/weights"], values[0])
    same(made.get_weights()["model/bias"], values[1])
    assert made.get_weights()["adam/steps"] == 8


def test_steps_on_one_side_of_a_branch(executor, trainer):
    """An update every other time; the loss is computed in front of the branch as well."""
    model = Regression(scope="model")

    def run(self, due, x, y):
        before = model.loss(x, y)

        def update():
            loss = model.loss(x, y)
            model.step(loss, 0.05)
            return loss

        return before, branch(due, update, lambda: 0.0)

    made = executor(run, model, backend=trainer, due=bool, **SPACES)
    weights, _, losses = sgd_by_hand(2, 0.05, [(0, ROWS)])
    same(made.execute("run", True, X, Y), [losses[0, 0]] * 2)
    same(made.execute("run", False, X, Y), [losses[1, 0], 0.0])
    same(made.execute("run", True, X, Y), [losses[1, 0]] * 2)
    same(made.get_weights()["model/weights"], weights)


def test_a_step_between_host_calls_in_a_loop(executor, counter, trainer):
    model = Regression(scope="model")

    def run(self, x, y):
        def body(i):
            number = counter.host_number()
            loss = model.loss(x, y)
            model.step(loss, 0.05)
            return (), (number, loss)

        return loop(3, body, collect=True)[1]

    made = executor(run, model, counter, backend=trainer, **SPACES)
    numbers, losses = made.execute("run", X, Y)
    assert numbers.tolist() == [1, 2, 3]
    same(losses, sgd_by_hand(3, 0.05, [(0, ROWS)])[2][:, 0])


# Through loops and branches. The weight is 1.0 at first; w x, n times, is w^n x.


def derivative(cell, loss):
    return cell.first(gradients(loss, cell.variables()))


def test_through_a_loop(executor, cell, trainer):
    def run(self, x, n):
        loss = loop(n, lambda i, v: cell.weigh(v), x)
        return loss, derivative(cell, loss)

    made = executor(run, cell, backend=trainer, x=NUMBER, n=INTEGER)
    made.set_weights({"cell/w": 1.5})
    for n in (1, 4, 0):
        same(made.execute("run", 2.0, n), [2.0 * 1.5**n, 2.0 * n * 1.5 ** (n - 1)])


def test_through_a_loop_that_stops(executor, cell, trainer):
    def run(self, x):
        loss = loop(10, lambda i, v: cell.weigh(v), x, until=lambda v: cell.above(v, 10.0))
        return loss, derivative(cell, loss)

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 2.0})
    same(made.execute("run", 1.0), [16.0, 4 * 2.0**3])


def test_through_collected_values(executor, cell, trainer):
    def run(self, x):
        last, collected = loop(3, lambda i, v: (cell.weigh(v), cell.weigh(v)), x, collect=True)
        loss = cell.add(cell.total(collected), last)
        return loss, derivative(cell, loss), collected

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 2.0})
    loss, by_w, collected = made.execute("run", 3.0)
    same(collected, [6.0, 12.0, 24.0])
    same([loss, by_w], [66.0, 3 * (1 + 2 * 2 + 3 * 4) + 3 * 3 * 4])


def test_through_a_loop_in_a_loop_and_a_captured_value(executor, cell, trainer):
    """v <- v w twice, then + (x w), three times over."""

    def run(self, x):
        captured = cell.weigh(x)

        def outer(i, v):
            return cell.add(loop(2, lambda j, v: cell.weigh(v), v), captured)

        loss = loop(3, outer, x)
        return loss, derivative(cell, loss)

    def f(w, x=2.0):
        v = x
        for _ in range(3):
            v = v * w * w + x * w
        return v

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 1.3})
    loss, by_w = made.execute("run", 2.0)
    same(loss, f(1.3))
    same(by_w, (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5, 1e-6)


def test_through_a_branch(executor, cell, trainer):
    """The side that ran is differentiated; one that does not use the variable has the derivative zero."""

    def run(self, x, first, second):
        def otherwise():
            return branch(second, lambda: cell.weigh(cell.weigh(x)), lambda: x)

        loss = branch(first, lambda: cell.weigh(x), otherwise)
        return loss, derivative(cell, loss)

    made = executor(run, cell, backend=trainer, x=NUMBER, first=bool, second=bool)
    made.set_weights({"cell/w": 3.0})
    same(made.execute("run", 2.0, True, False), [6.0, 2.0])
    same(made.execute("run", 2.0, False, True), [18.0, 12.0])
    same(made.execute("run", 2.0, False, False), [2.0, 0.0])


def test_a_branch_in_a_loop(executor, cell, trainer):
    """Weighed in the iterations 2 and 3 only."""

    def run(self, x):
        def body(i, v):
            return branch(cell.above(i, 1), lambda: cell.weigh(v), lambda: cell.add(v, 1.0))

        loss = loop(4, body, x)
        return loss, derivative(cell, loss)

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 3.0})
    same(made.execute("run", 1.0), [3.0 * 9.0, 3.0 * 2 * 3.0])


def test_a_recurrent_network(executor, trainer):
    """Backpropagation through time, against finite differences of a NumPy loop."""

    class Recurrent(Component):
        def create_variables(self, input_spaces, action_space=None):
            square = FloatBox(shape=(2, 2))
            start = np.array([[0.3, -0.2], [0.5, 0.4]])
            self.a = self.get_variable("a", square, initializer=lambda *_: start)
            self.b = self.get_variable("b", square, initializer=lambda *_: start.T)

        @rlgraph_api(must_be_complete=False)
        @graph_fn
        def cell(self, ops, h, t, xs):
            return ops.tanh(ops.linear(h, self.a) + ops.linear(ops.take(xs, t, axis=0), self.b))

        @rlgraph_api(must_be_complete=False)
        @graph_fn
        def loss(self, ops, h):
            return ops.sum(ops.square(h))

        @rlgraph_api(must_be_complete=False)
        def derivatives(self, loss):
            return self._flat(gradients(loss, self.variables()))

        @graph_fn
        def _flat(self, ops, derivatives):
            return ops.concat(list(derivatives), axis=0)

    def forward(flat, h, xs):
        a, b = flat[:4].reshape(2, 2), flat[4:].reshape(2, 2)
        for x in xs:
            h = np.tanh(h @ a + x @ b)
        return np.sum(h**2)

    net = Recurrent(scope="net")

    def run(self, h, xs, steps):
        loss = net.loss(loop(steps, lambda t, h: net.cell(h, t, xs), h))
        return loss, net.derivatives(loss)

    xs, h = DATA.normal(size=(6, 3, 2)), DATA.normal(size=(3, 2))
    spaces = {"h": FloatBox(shape=(3, 2)), "xs": FloatBox(shape=(6, 3, 2)), "steps": INTEGER}
    made = executor(run, net, backend=trainer, **spaces)
    flat = np.concatenate([made.get_weights()[name].ravel() for name in ("net/a", "net/b")])
    loss, found = made.execute("run", h, xs, 6)
    same(loss, forward(flat, h, xs))
    bumps = 1e-6 * np.eye(8)
    same(found, [(forward(flat + d, h, xs) - forward(flat - d, h, xs)) / 2e-6 for d in bumps], 1e-8)


def test_what_is_written_and_not_read_in_a_loop_on_the_way(executor, cell, counter, trainer):
    """A count of the iterations, and a moving mean that reads itself only."""

    class Mean(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.mean = self.get_variable("mean", float, initializer=0.5, trainable=False)

        @rlgraph_api(must_be_complete=False)
        @graph_fn
        def scale(self, ops, x):
            before = ops.read(self.mean)
            ops.assign(self.mean, before + x)
            return x * before

    mean = Mean(scope="mean")

    def run(self, x):
        def body(i, v):
            counter.tick()
            return mean.scale(cell.weigh(v))

        loss = loop(2, body, x)
        return loss, derivative(cell, loss), counter.see_count()

    # (2 w 0.5) w (0.5 + 2 w), where the means are data: w = 1
    made = executor(run, cell, counter, mean, backend=trainer, x=NUMBER)
    same(made.execute("run", 2.0), [1.0 * 2.5, 2 * 2.5, 2])
    same(made.get_weights()["mean/mean"], 0.5 + 2.0 + 1.0)


# Inside.


def test_inside_a_loop_that_writes_nothing(executor, cell, trainer):
    def run(self, x):
        before = cell.weigh(cell.weigh(x))

        def body(i):
            loss = cell.multiply(cell.weigh(cell.weigh(x)), cell.to_float(i))
            return (), derivative(cell, loss)

        return before, loop(3, body, collect=True)[1]

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 3.0})
    before, found = made.execute("run", 2.0)
    same(before, 18.0)
    same(found, [0.0, 12.0, 24.0])  # of i x w^2: 2 i x w


def test_carried_values_are_data_to_a_derivative_inside(executor, cell, trainer):
    """They come from iterations before; what the derivative sees begins with its own."""

    def run(self, x):
        def body(i, h):
            h = cell.weigh(h)
            loss = cell.multiply(h, h)
            cell.descend(gradients(loss, cell.variables()), 0.01)
            return h, loss

        return loop(3, body, cell.weigh(x), collect=True)

    w, h, losses = 1.0, 2.0, []
    for _ in range(3):
        by_w = 2 * (w * h) * h
        h, losses = w * h, [*losses, (w * h) ** 2]
        w -= 0.01 * by_w
    made = executor(run, cell, backend=trainer, x=NUMBER)
    last, found = made.execute("run", 2.0)
    same(last, h)
    same(found, losses)
    same(made.get_weights()["cell/w"], w)


def test_captured_values_are_data_to_a_derivative_inside(executor, cell, trainer):
    """As what is carried: ``outside`` was made with the weight, and is a number to the derivative of (w outside)^2."""

    def run(self, x):
        outside = cell.weigh(x)

        def body(i):
            inside = cell.weigh(outside)
            loss = cell.multiply(inside, inside)
            cell.descend(gradients(loss, cell.variables()), 0.01)
            return (), loss

        return loop(3, body, collect=True)[1]

    w, expected = 1.5, []
    outside = 2.0 * w
    for _ in range(3):
        expected.append((w * outside) ** 2)
        w -= 0.01 * 2 * w * outside**2
    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 1.5})
    same(made.execute("run", 2.0), expected)
    same(made.get_weights()["cell/w"], w)


@pytest.mark.parametrize("kind", ["loop", "branch", "loop in a loop"])
def test_captured_values_of_a_forward_that_is_differentiated_outside(executor, cell, other, kind, trainer):
    """Two derivatives of one forward, of which that inside begins behind it; nothing is written in between."""

    def run(self, x):
        weighed = cell.weigh(x)
        outside = {"a": weighed, "b": (loop(2, lambda i, v: cell.weigh(v), x),)}
        first = cell.multiply(weighed, outside["b"][0])

        def taken():
            inside = cell.multiply(cell.weigh(outside["a"]), outside["b"][0])
            return derivative(cell, inside)

        if kind == "branch":
            inside = branch(cell.above(x, 0.0), taken, lambda: 0.0)
        elif kind == "loop":
            inside = loop(2, lambda i, _: taken(), 0.0)
        else:
            inside = loop(2, lambda i, v: loop(2, lambda j, _: taken(), v), 0.0)
        last = cell.multiply(weighed, first)
        return inside, derivative(cell, first), derivative(cell, last)

    # first = w^3 x^2, inside = w a b, last = w^4 x^3
    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 1.5})
    w, x = 1.5, 2.0
    same(made.execute("run", x), [(w * x) * (w * w * x), 3 * w**2 * x**2, 4 * w**3 * x**3])


def test_captured_values_that_a_host_function_made_of_outputs(executor, cell, trainer):
    """It has no derivative, and none is asked for."""

    def run(self, x):
        outside = cell.host_add(cell.weigh(x), 1.0)
        return loop(1, lambda i, _: derivative(cell, cell.multiply(cell.weigh(x), outside)), 0.0)

    made = executor(run, cell, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 1.5})
    same(made.execute("run", 2.0), 2.0 * (1.5 * 2.0 + 1.0))


class Records(Component):
    """A container out of a graph function that is called once, and out of one that is called for each leaf."""

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def whole(self, ops, x, y):
        return {"x": 2.0 * x, "y": {"z": 2.0 * y}}

    @rlgraph_api(must_be_complete=False)
    def split(self, x, y):
        return self._split({"x": x, "y": {"z": y}})

    @graph_fn(flatten_ops=True, split_ops=True)
    def _split(self, ops, leaf):
        return 2.0 * leaf


@pytest.mark.parametrize("method", ["whole", "split"])
def test_captured_containers_are_data(executor, cell, method, trainer):
    records = Records(scope="records")

    def run(self, x):
        made = getattr(records, method)(cell.weigh(x), x)

        def body(i, _):
            return derivative(cell, cell.multiply(cell.weigh(made["x"]), made["y"]["z"]))

        return derivative(cell, cell.multiply(made["x"], x)), loop(2, body, 0.0)

    made = executor(run, cell, records, backend=trainer, x=NUMBER)
    made.set_weights({"cell/w": 1.5})
    same(made.execute("run", 3.0), [2 * 3.0 * 3.0, (2 * 1.5 * 3.0) * 6.0])


def test_two_derivatives_of_one_forward_inside(executor, cell, other, trainer):
    def run(self, x):
        def body(i):
            shared = other.weigh(cell.weigh(x))
            one, two = cell.multiply(shared, shared), other.multiply(shared, 3.0)
            by_one, by_two = gradients(one, cell.variables()), gradients(two, other.variables())
            cell.descend(by_one, 0.1)
            other.descend(by_two, 0.1)
            return (), (one, two)

        return loop(3, body, collect=True)[1]

    u, v, expected = 1.0, 1.0, []
    for _ in range(3):
        expected.append(((2 * u * v) ** 2, 3 * 2 * u * v))
        u, v = u - 0.1 * 8 * u * v**2, v - 0.1 * 6 * u
    made = executor(run, cell, other, backend=trainer, x=NUMBER)
    same(np.transpose(made.execute("run", 2.0)), expected)
    same([made.get_weights()["cell/w"], made.get_weights()["other/w"]], [u, v])
