"""Several gradients in one method, the gradient mode, and what gradients may share."""

import numpy as np
import pytest
import torch

from rlgraph.components import Adam, NeuralNetwork
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

X = FloatBox(shape=(3,), add_batch_rank=True)
DOUBLE = {"dtype": "float64"}


def executor(root, spaces, **options):
    return GraphExecutor(root, spaces, backend="torch", execution_spec={**DOUBLE, **options})


class Store(Component):
    """Keeps the gradients it is given in variables of its own, where they can be looked at."""

    def create_variables(self, input_spaces, action_space=None):
        self.kept = self.get_slots("kept", input_spaces["variables"])

    @rlgraph_api
    def keep(self, variables, loss):
        return self._keep(variables, gradients(loss, variables))

    @graph_fn(returns=0)
    def _keep(self, ops, variables, derivatives):
        for slot, derivative in zip(self.kept, derivatives, strict=True):
            ops.assign(slot, derivative)


def check_finite_differences(made, method, arguments, step=1e-6, tolerance=1e-7):
    """The kept derivatives of the loss that `method` returns first, by every trainable variable."""

    def loss():
        out = made.execute(method, *arguments)
        return float(out[0] if isinstance(out, tuple) else out)

    loss()
    weights = made.get_weights(trainable_only=True)
    derivatives = {
        name: made.storage.read(next(n for n in made.get_weights() if n.endswith(f"kept/{name}")))
        for name in weights
    }
    assert derivatives
    for name, value in weights.items():
        for index in np.ndindex(value.shape):
            sides = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * step
                made.set_weights({name: moved})
                sides.append(loss())
            made.set_weights({name: value})
            expected = (sides[0] - sides[1]) / (2 * step)
            assert derivatives[name][index] == pytest.approx(expected, abs=tolerance), (name, index)


class Shared(Component):
    """Two losses on one forward pass, each with its own part of the variables; or one loss by both parts."""

    def __init__(self):
        self.body = NeuralNetwork(
            [{"type": "dense", "units": 4, "activation": "tanh", "scope": "b"}], scope="body"
        )
        self.one, self.two = (
            NeuralNetwork([{"type": "dense", "units": 1, "scope": s}], scope=f"head-{s}")
            for s in ("one", "two")
        )
        self.stores = [Store(scope=f"store-{i}") for i in range(3)]
        super().__init__(self.body, self.one, self.two, *self.stores, scope="shared")

    @rlgraph_api
    def learn(self, x):
        features = self.body.call(x)
        loss_one, loss_two = self._loss(self.one.call(features)), self._loss(self.two.call(features))
        self.stores[0].keep(self.one.variables(), loss_one)
        self.stores[1].keep(self.two.variables(), loss_two)
        total = self._add(loss_one, loss_two)
        self.stores[2].keep(self.body.variables(), total)
        return total

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))

    @graph_fn
    def _add(self, ops, x, y):
        return x + y


def test_several_gradients_over_one_forward():
    made = executor(Shared(), {"x": X})
    check_finite_differences(made, "learn", [np.random.default_rng(5).normal(size=(4, 3))])
    assert len(made.plan("learn").slices) == 3


class Actor(Component):
    """A step of one network before the gradient of another that was evaluated with it."""

    def __init__(self):
        layers = [{"type": "dense", "units": 4, "activation": "tanh"}, {"type": "dense", "units": 3}]
        self.actor = NeuralNetwork(layers, scope="actor")
        self.critic = NeuralNetwork(layers, scope="critic")
        self.adam_critic, self.store = Adam(0.1, scope="adam"), Store(scope="store")
        super().__init__(self.actor, self.critic, self.adam_critic, self.store, scope="root")

    @rlgraph_api
    def learn(self, x):
        critic_loss = self._loss(self.critic.call(x))
        actor_loss = self._loss(self.critic.call(self.actor.call(x)))
        self.adam_critic.step(self.critic.variables(), critic_loss)
        self.store.keep(self.actor.variables(), actor_loss)
        return actor_loss

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))


def test_a_step_between_two_losses_on_one_network():
    """The second gradient is that of the weights before the step, whatever the order of the calls."""
    x = np.random.default_rng(6).normal(size=(4, 3))
    made = executor(Actor(), {"x": X})
    start = made.get_weights()
    made.execute("learn", x)
    derivative = made.storage.read("store/kept/actor/dense-1/biases")
    for i in range(3):
        sides = []
        for sign in (1, -1):
            moved = {name: value.copy() for name, value in start.items()}
            moved["actor/dense-1/biases"][i] += sign * 1e-6
            made.set_weights(moved)
            sides.append(float(made.execute("learn", x)))
        assert derivative[i] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)


# The gradient mode.


class Modes(Component):
    """Says in which mode its functions run."""

    seen: list

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(3,)), initializer=1.0)

    @rlgraph_api
    def learn(self, x):
        prepared = self._before(x)
        loss = self._loss(prepared)
        after = self._after(x)
        derivatives = gradients(loss, self.variables())
        self._step(self.variables(), derivatives)
        return prepared, loss, after

    @rlgraph_api
    def fail(self, x):
        loss = self._bomb(self._loss(x))
        self._step(self.variables(), gradients(loss, self.variables()))
        return loss

    def _note(self, ops, name):
        if not hasattr(ops, "_recorder"):
            Modes.seen.append((name, torch.is_grad_enabled()))

    @graph_fn
    def _before(self, ops, x):
        self._note(ops, "before")
        return x * 2.0

    @graph_fn
    def _loss(self, ops, x):
        self._note(ops, "loss")
        return ops.mean(x * self.w)

    @graph_fn
    def _after(self, ops, x):
        self._note(ops, "after")
        return x + self.w

    @graph_fn
    def _bomb(self, ops, x):
        if not hasattr(ops, "_recorder"):
            raise RuntimeError("boom")
        return x * self.w[0]

    @graph_fn(returns=0)
    def _step(self, ops, variables, derivatives):
        self._note(ops, "step")
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - derivative)


@pytest.mark.parametrize("outside", [True, False])
def test_gradients_are_recorded_in_slices_only(outside):
    made = executor(Modes(scope="modes"), {"x": X})
    Modes.seen = []
    with torch.set_grad_enabled(outside):
        prepared, loss, after = made.execute("learn", np.ones((2, 3)))
        assert torch.is_grad_enabled() is outside
    assert sorted(Modes.seen) == [("after", False), ("before", False), ("loss", True), ("step", False)]
    np.testing.assert_array_equal(prepared, 2.0 * np.ones((2, 3)))
    assert float(loss) == 2.0
    np.testing.assert_array_equal(after, 2.0 * np.ones((2, 3)))
    np.testing.assert_allclose(made.get_weights()["modes/w"], 1.0 - 2.0 / 3.0)


@pytest.mark.parametrize("outside", [True, False])
def test_the_mode_is_restored_after_errors(outside):
    made = executor(Modes(scope="modes"), {"x": X})
    Modes.seen = []
    with torch.set_grad_enabled(outside):
        with pytest.raises(RuntimeError, match="boom"):
            made.execute("fail", np.ones((2, 3)))
        assert torch.is_grad_enabled() is outside
    np.testing.assert_array_equal(made.get_weights()["modes/w"], [1.0, 1.0, 1.0])


class Learner(Component):
    def __init__(self):
        self.net, self.adam = NeuralNetwork([{"type": "dense", "units": 3}]), Adam(0.1)
        super().__init__(self.net, self.adam, scope="learner")

    @rlgraph_api
    def learn(self, x):
        items = self.net.call(x)
        loss = self._mean(items)
        self.adam.step(self.net.variables(), loss)
        return {
            "items": items,
            "same": self._same(items),
            "cast": self._cast(self._same(items)),
            "shaped": self._shaped(items),
            "loss": (loss, self._pair(items)),
        }

    @graph_fn
    def _mean(self, ops, x):
        return ops.mean(x)

    @graph_fn
    def _same(self, ops, x):
        return x

    @graph_fn
    def _cast(self, ops, x):
        return ops.astype(x, "float")

    @graph_fn
    def _shaped(self, ops, x):
        return ops.reshape(x, (-1,))

    @graph_fn
    def _pair(self, ops, x):
        return {"a": x, "b": x * 2.0}


def test_what_leaves_a_slice_is_an_array():
    made = executor(Learner(), {"x": X})
    x = np.random.default_rng(0).normal(size=(4, 3))
    out = made.execute("learn", x)
    for name in ("same", "cast"):
        np.testing.assert_array_equal(out[name], out["items"])
    np.testing.assert_array_equal(out["shaped"], out["items"].reshape(-1))
    np.testing.assert_array_equal(out["loss"][1]["b"], out["items"] * 2.0)
    loss, pair = out["loss"]
    for array in (out["items"], out["same"], out["cast"], out["shaped"], loss, *pair.values()):
        owner = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        # An array keeps its tensor alive; that must not keep everything the loss was computed from.
        assert owner.grad_fn is None


def test_a_build_inside_inference_mode_can_train():
    x = np.random.default_rng(1).normal(size=(5, 3))
    with torch.inference_mode():
        made = executor(Learner(), {"x": X})
    assert np.isfinite(made.execute("learn", x)["items"]).all()


class Squares(Component):
    """A graph function, and one that somebody computes with parameters of their own."""

    def create_variables(self, input_spaces, action_space=None):
        self.weight = self.get_variable("weight", float, initializer=3.0)

    @rlgraph_api
    @graph_fn
    def plain(self, ops, x):
        return x * x * self.weight

    @rlgraph_api
    def own(self, x):
        return self._own(x)

    @graph_fn
    def _own(self, ops, x):
        return x * x * self.weight

    @_own.kernel("torch")
    def _own_on_torch(self, ops, x):
        return x * x * torch.nn.Parameter(torch.tensor(3.0))


@pytest.mark.parametrize("outside", [True, False])
def test_nothing_is_switched_off_where_nothing_can_be_recorded(outside):
    executor = GraphExecutor(Squares(), {"x": FloatBox(add_batch_rank=True)}, backend="torch")
    with torch.set_grad_enabled(outside):
        for method, switches in (("plain", False), ("own", True)):
            np.testing.assert_array_equal(executor.execute(method, np.array([2.0], np.float32)), [12.0])
            plan = executor.plan(method)
            source = executor.backend.lower(plan, plan.segments[0], executor.storage).__source__
            assert ("set_grad_enabled(False)" in source) == switches


class RunningScale(Component):
    """Divides by a variable, and writes it afterwards."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=2.0)
        self.scale = self.get_variable("scale", float, initializer=4.0, trainable=False)

    @rlgraph_api
    def derive(self, x):
        return self._first(gradients(self._loss(x), self.variables(trainable_only=True)))

    @graph_fn
    def _loss(self, ops, x):
        y = self.w * self.w * x / self.scale
        ops.assign(self.scale, ops.abs(y))
        return y

    @graph_fn
    def _first(self, ops, derivatives):
        return ops.sum(derivatives[0])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_variable_that_is_written_after_its_use(compiled):
    made = executor(RunningScale(scope="s"), {"x": float}, compile=compiled)
    # The derivative of w^2 x / scale; then scale = 2^2 * 3 / 4.
    assert made.execute("derive", 3.0) == 2 * 2 * 3 / 4
    assert made.execute("derive", 3.0) == 2 * 2 * 3 / 3
