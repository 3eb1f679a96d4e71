"""Lists of derivatives that cross a host call, and host functions of them."""

import numpy as np
import pytest

from rlgraph.components import SGD, Adam
from rlgraph.core import (
    BuildError,
    CapabilityError,
    Component,
    GraphExecutor,
    assemble,
    build,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph import make_plan
from rlgraph.spaces import FloatBox

ROWS, LIMIT = 6, 0.5
X = np.random.default_rng(0).normal(size=(ROWS, 3)) * 4.0
SPACES = {"x": FloatBox(shape=(3,), add_batch_rank=True)}


class Line(Component):
    """A linear map to one number; its derivatives are those of a plain regression."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(3,)), initializer=0.5)
        self.bias = self.get_variable("bias", float, initializer=-0.25)

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.sum(x * self.weights, axis=-1) + self.bias


class Clipper(Component):
    """Limits the norm of all derivatives together, in NumPy."""

    @rlgraph_api
    @graph_fn(host=True, spaces=lambda self, grads: grads)
    def clip(self, grads):
        assert type(grads) is np.ndarray and grads.ndim == 1
        norm = np.sqrt(np.sum(np.square(grads)))
        return grads * np.minimum(1.0, LIMIT / norm)

    @rlgraph_api
    @graph_fn(host=True, spaces=FloatBox())
    def note(self, norm):
        return np.minimum(1.0, LIMIT / norm)


class Learner(Component):
    """Two lines; one of them is stepped by two optimizers, so that the variables lie in two buffers."""

    def __init__(self, **limits):
        self.lines = [Line(scope="a"), Line(scope="z")]
        self.clipper = Clipper(scope="clipper")
        self.optimizer = Adam(0.1, scope="optimizer", **limits)
        self.own = SGD(0.1, scope="own")
        super().__init__(*self.lines, self.clipper, self.optimizer, self.own, scope="learner")

    def loss(self, x):
        one, two = (line.call(x) for line in self.lines)
        return self._loss(one, two)

    def all_variables(self):
        return self.lines[1].variables() + self.lines[0].variables()

    @rlgraph_api
    def on_tensors(self, x):
        loss = self.loss(x)
        self.optimizer.step(self.all_variables(), loss)
        return loss

    @rlgraph_api
    def on_host(self, x):
        loss, variables = self.loss(x), self.all_variables()
        grads = self.clipper.clip(gradients(loss, variables))
        self.optimizer.apply_gradients(variables, grads)
        return loss

    @rlgraph_api
    def on_tensors_then_host(self, x):
        loss, variables = self.loss(x), self.all_variables()
        grads = self.clipper.clip(self._negative(self._negative(gradients(loss, variables))))
        self.optimizer.apply_gradients(variables, grads)
        return loss

    @graph_fn
    def _negative(self, ops, grads):
        return [-each for each in grads]

    @rlgraph_api
    def past_host(self, x):
        loss, variables = self.loss(x), self.all_variables()
        grads = gradients(loss, variables)
        self.clipper.note(self.optimizer.get_gradient_statistics(grads)["global_norm"])
        self.optimizer.apply_gradients(variables, grads)
        return loss

    @rlgraph_api
    def twice(self, x):
        def body(i):
            self.on_host(x)

        loop(2, body)
        return self.loss(x)

    @rlgraph_api
    def step_one(self, x):
        self.own.step(self.lines[0].variables(), self.loss(x))

    @graph_fn
    def _loss(self, ops, one, two):
        return ops.mean(ops.square(one - 1.0)) + ops.mean(ops.square(two + 2.0))


def learned(backend, method, calls=3, limits=None, contract=True, **execution):
    execution |= {"dtype": "float64"}
    executor = GraphExecutor(
        Learner(**(limits or {})), SPACES, backend=backend, contract=contract, execution_spec=execution
    )
    losses = [executor.execute(method, X) for _ in range(calls)]
    return losses, executor.get_weights()


def same(found, expected):
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    for name, value in expected[1].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-6, err_msg=name)


def test_clipped_on_the_host_as_on_tensors(trainer):
    expected = learned(trainer, "on_tensors", limits={"clip_grad_norm": LIMIT})
    same(learned(trainer, "on_host"), expected)
    assert expected[0] != learned(trainer, "on_tensors")[0]


def test_a_graph_function_of_derivatives_gives_derivatives(trainer):
    same(learned(trainer, "on_tensors_then_host"), learned(trainer, "on_host"))


@pytest.mark.parametrize("contract", [True, False])
def test_derivatives_outlive_a_host_call(trainer, contract):
    same(learned(trainer, "past_host", contract=contract), learned(trainer, "on_tensors"))


def test_a_loop_hands_derivatives_to_the_host(trainer):
    (_, weights), (_, expected) = learned(trainer, "twice", calls=1), learned(trainer, "on_host", calls=2)
    same(([], weights), ([], expected))


def test_numpy_lacks_gradients():
    with pytest.raises(CapabilityError, match=r"on_host.*gradients"):
        learned("numpy", "on_host")


def test_derivatives_on_several_devices_do_not_pass_a_host_call():
    built = build(assemble(Learner()), SPACES, device_map={"a": "gpu:0", "z": "gpu:1"})
    with pytest.raises(BuildError, match=r"the variables are on 'gpu:0', 'gpu:1': .*one flat tensor"):
        make_plan(built, "on_host")
    make_plan(built, "on_tensors")
