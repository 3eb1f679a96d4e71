"""Kernels in a network, memory that is shared and memory that is not; each kernel alone is tried by conformance."""

import numpy as np
import pytest
import torch

from rlgraph.components import Adam, Dense, NeuralNetwork, Synchronizer
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch import kernels
from rlgraph.torch.kernels import KERNELS
from rlgraph.torch.optimizers import clip

X = FloatBox(shape=(3,), add_batch_rank=True)


def build(root, spaces, **options):
    return GraphExecutor(root, spaces, backend="torch", execution_spec=options)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


# Kernels.


def test_kernels_name_graph_functions_that_exist():
    from importlib import import_module

    for key in KERNELS:
        module, _, name = key.partition(":")
        owner, _, function = name.partition(".")
        assert function in getattr(import_module(module), owner).graph_functions()
        assert getattr(import_module(module), owner).graph_functions()[function].key == key


class Frozen(Component):
    """Part of a network is frozen; two optimizers step disjoint parts of the rest."""

    def __init__(self, clip=None):
        def layer(scope, **options):
            return Dense(3, "tanh", scope=scope, **options)

        self.parts = [layer("a"), layer("b", trainable=False), layer("c"), layer("d")]
        self.ac = Chain([self.parts[0], self.parts[2]], scope="ac")
        self.first, self.second = Adam(0.05, clip_grad_norm=clip, scope="first"), Adam(0.1, scope="second")
        super().__init__(self.ac, self.parts[1], self.parts[3], self.first, self.second, scope="root")

    @rlgraph_api
    def learn(self, x):
        y = self.parts[3].call(self.parts[1].call(self.ac.call(x)))
        loss = self._loss(y)
        self.first.step(self.ac.variables(), loss)
        self.second.step(self.parts[3].variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 0.5))


class Chain(Component):
    def __init__(self, layers, **options):
        self.layers = layers
        super().__init__(*layers, **options)

    @rlgraph_api
    def call(self, x):
        for layer in self.layers:
            x = layer.call(x)
        return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_adam_on_parts_of_a_network(dtype, clip):
    made = [build(Frozen(clip), {"x": X}, dtype=dtype, use_kernels=use) for use in (True, False)]
    start = made[0].get_weights()
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=(6, 3)).astype(dtype)
        losses = [executor.execute("learn", x) for executor in made]
        np.testing.assert_allclose(*losses, rtol=1e-4 if dtype == "float32" else 1e-11)
    with_kernels, without = (executor.get_weights() for executor in made)
    assert sorted(with_kernels) == sorted(without)
    for name, value in with_kernels.items():
        tolerance = {"rtol": 1e-3, "atol": 2e-5} if dtype == "float32" else {"rtol": 1e-10, "atol": 1e-12}
        np.testing.assert_allclose(value, without[name], **tolerance, err_msg=name)
        changed = not np.array_equal(value, start[name])
        assert changed == (not name.startswith("b/")), name


class Reused(Component):
    """A value that goes into a kernel and is used again behind it."""

    def __init__(self):
        self.dense, self.head = Dense(3, "relu", scope="dense"), Dense(2, scope="head")
        super().__init__(self.dense, self.head, scope="root")

    @rlgraph_api
    def run(self, x):
        hidden = self.dense.call(x)
        return hidden, self.head.call(hidden), self._again(hidden), self._again(x)

    @graph_fn
    def _again(self, ops, x):
        return x * 1.0


def test_kernels_leave_their_arguments_alone():
    one, other = (build(Reused(), {"x": X}, use_kernels=use) for use in (True, False))
    for size in (4, 0):
        x = np.random.default_rng(0).normal(size=(size, 3)).astype(np.float32)
        for left, right in zip(one.execute("run", x), other.execute("run", x), strict=True):
            close(left, right)


def test_clipping():
    """Pascanu et al. (2013), Algorithm 1; all gradients together, with torch's 1e-6."""
    gradients = [torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])]
    assert clip(gradients, 10.0) is gradients
    np.testing.assert_allclose(torch.cat(clip(gradients, 1.0)).numpy(), [0.6, 0.0, 0.0, 0.8], rtol=1e-5)
    assert [g.tolist() for g in gradients] == [[3.0, 0.0], [0.0, 4.0]]
    assert torch.isnan(clip([torch.tensor([float("nan"), 1.0])], 1.0)[0]).all()


def test_a_torch_without_the_fused_step(monkeypatch):
    """The single source takes over where the private function is missing."""
    monkeypatch.delitem(kernels.KERNELS, "rlgraph.components.optimizers.adam:Adam._apply")
    made = build(Frozen(), {"x": X})
    assert np.isfinite(made.execute("learn", np.ones((2, 3), np.float32)))


# Memory.


class Tracked(Component):
    def __init__(self):
        self.net = NeuralNetwork([{"type": "dense", "units": 2}], scope="net")
        self.target = self.net.copy(scope="target", trainable=False)
        self.sync = Synchronizer(scope="sync")
        super().__init__(self.net, self.target, self.sync, scope="root")

    @rlgraph_api
    def call(self, x):
        return self.target.call(x)

    @rlgraph_api
    def call_net(self, x):
        return self.net.call(x)

    @rlgraph_api
    def synchronise(self):
        return self.sync.sync(self.net.variables(), self.target.variables())


def test_variables_are_leaves_in_one_buffer():
    made = build(Tracked(), {"x": X})
    storage = made.storage
    for name, variable in made.built.variables.items():
        leaf = storage.handle(variable)
        assert leaf.is_leaf
        assert leaf.requires_grad == name.startswith("net/")
        group, start, _ = made.built.layout.place(variable)
        buffer = storage.groups[group]
        assert leaf.data_ptr() == buffer.data_ptr() + start * buffer.element_size()
        assert tuple(leaf.shape) == variable.shape


def test_numpy_acts_on_the_memory_of_torch():
    made = build(Tracked(), {"x": X})
    act = made.numpy_program("call")
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    before = act(x)
    made.execute("synchronise")
    close(act(x), made.execute("call_net", x))
    assert not np.allclose(act(x), before)
    assert all(made.storage.borrow_group(name) is not None for name in made.built.layout.groups)
    for name, group in made.storage.groups.items():
        assert np.shares_memory(made.storage.borrow_group(name), group.numpy())


def test_inputs_are_not_copied_where_that_is_possible():
    from rlgraph.torch.backend import to_tensor

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.shares_memory(to_tensor(x).numpy(), x)
    assert np.shares_memory(to_tensor(x.T).numpy(), x)
    for other in (x[::-1], np.broadcast_to(x[:1], (2, 3))):
        np.testing.assert_array_equal(to_tensor(other).numpy(), other)
        assert not np.shares_memory(to_tensor(other).numpy(), other)
