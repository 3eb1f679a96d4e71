"""CUDA graphs, as far as they can be told without a GPU: what is recorded, what it reads, writes and leaves behind.

The GPUs are simulated. Recording itself is replaced by what it promises: playing does again each operation on tensors
that was recorded, on the inputs and variables where they lie, and leaves every result in the same tensor. Python does
nothing again, so a number that Python has read stays what it was.
"""

import warnings

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rlgraph.components import Adam, NeuralNetwork
from rlgraph.core import Component, GraphExecutor, PerformanceWarning, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch.compile import recording

SPACES = {"x": FloatBox(shape=(3,), add_batch_rank=True), "y": FloatBox(add_batch_rank=True)}


class Learner(Component):
    """A regression."""

    def __init__(self):
        layers = [{"type": "dense", "units": 8, "activation": "tanh"}, {"type": "dense", "units": 1}]
        self.net, self.adam = NeuralNetwork(layers, scope="net"), Adam(0.01, clip_grad_norm=0.5)
        super().__init__(self.net, self.adam, scope="learner")

    @rlgraph_api
    def predict(self, x):
        return self._flat(self.net.call(x))

    @rlgraph_api
    def learn(self, x, y):
        loss = self._loss(self.predict(x), y)
        self.adam.step(self.net.variables(), loss)
        return loss

    @rlgraph_api
    @graph_fn
    def noise(self, ops, x):
        return x + ops.random_normal(ops.shape(x))

    @graph_fn
    def _flat(self, ops, x):
        return x[:, 0]

    @graph_fn
    def _loss(self, ops, predictions, y):
        return ops.mean(ops.square(predictions - y))


class Operations(TorchDispatchMode):
    """While it is entered, keeps every operation on tensors, with its results."""

    def __init__(self):
        super().__init__()
        self.done = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.done.append((operation, args, kwargs or {}, result))
        return result

    def repeat(self):
        """Do them again, and leave each result where it was."""
        with torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd():
            for operation, args, kwargs, before in self.done:
                for old, new in zip(leaves(before), leaves(operation(*args, **kwargs)), strict=True):
                    if old.untyped_storage().data_ptr() != new.untyped_storage().data_ptr():
                        old.copy_(new)


def leaves(result):
    return [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]


@pytest.fixture
def recordings(gpus, monkeypatch):
    """What was recorded, each with the number of times it was played."""
    made = []

    def record(compute, device):
        compute()  # a call that counts
        with Operations() as operations:
            outputs = compute()
        played = [0]
        made.append(played)

        def play():
            played[0] += 1
            operations.repeat()

        return play, outputs

    monkeypatch.setattr(recording, "record", record)
    return made


def make(compile=True, **spec):
    spec = {"seed": 1, "compile": compile, **spec}
    return GraphExecutor(Learner(), SPACES, backend="torch", execution_spec=spec)


def batches(*sizes):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(n, 3)).astype("f"), rng.normal(size=n).astype("f")) for n in sizes]


def test_recorded_updates_are_those_of_the_cpu(recordings):
    recorded, plain = make(device="cuda:0"), make(compile=False)
    for x, y in batches(6, 6, 4, 6, 1):
        loss = recorded.execute("learn", x, y)
        np.testing.assert_allclose(loss, plain.execute("learn", x, y), rtol=1e-5)
    assert recorded.choices == {"compile:learn": "cuda graph"}
    assert recordings == [[3]]  # the other sizes ran as they are
    for name, value in plain.get_weights().items():
        np.testing.assert_allclose(recorded.get_weights()[name], value, atol=1e-6)
    before = recorded.execute("predict", batches(6)[0][0])
    recorded.set_weights({name: 2 * value for name, value in recorded.get_weights().items()})
    (x, y), *_ = batches(6)
    plain.set_weights(recorded.get_weights())
    np.testing.assert_allclose(recorded.execute("learn", x, y), plain.execute("learn", x, y), atol=1e-5)
    assert not np.allclose(before, recorded.execute("predict", x))


def test_recorded_programs_wait_once(recordings, gpus):
    recorded = make(device="cuda:0")
    for x, y in batches(6, 6):
        gpus.forget()
        recorded.execute("learn", x, y)
    assert recordings == [[2]]
    assert gpus.moves == ["cuda:0", "cpu"] and gpus.waits == ["event"]


def test_what_was_returned_stays(recordings):
    executor = make(compile=["predict"], device="cuda:0")
    (one, _), (two, _) = batches(5, 5)
    first = executor.execute("predict", one)
    kept = first.copy()
    assert not np.allclose(executor.execute("predict", two), kept)
    np.testing.assert_array_equal(first, kept)
    one *= 2.0
    assert recordings == [[2]]


@pytest.mark.parametrize(
    ("methods", "spec", "reason"),
    [
        (["noise"], {"device": "cuda:0"}, "it draws random numbers, which are made on the CPU"),
        (["learn"], {"device_map": {"net/dense-1": "cuda:0"}}, "it is placed on cpu and cuda:0"),
        (
            ["learn"],
            {"device": {"variables": "cuda:0", "ops": "cuda:1"}},
            "it is placed on cuda:0 and cuda:1",
        ),
    ],
)
def test_what_is_not_recorded(recordings, methods, spec, reason):
    executor = make(compile=methods, **spec)
    x, y = batches(4)[0]
    with pytest.warns(PerformanceWarning, match=f"is not compiled: {reason}"):
        executor.execute(methods[0], *((x,) if methods == ["noise"] else (x, y)))
    assert recordings == []
    assert executor.choices[f"compile:{methods[0]}"].startswith(f"eager ({reason}")


def test_a_recording_that_fails_leaves_everything_as_it_was(gpus, monkeypatch):
    def record(compute, device):
        compute()
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    monkeypatch.setattr(recording, "record", record)
    executor, plain = make(device="cuda:0"), make(compile=False)
    with pytest.warns(PerformanceWarning, match="cannot be recorded .RuntimeError: operation not permitted"):
        executor.execute("learn", *batches(4)[0])
    plain.execute("learn", *batches(4)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        executor.execute("learn", *batches(4)[0])
    plain.execute("learn", *batches(4)[0])
    for name, value in plain.get_weights().items():
        np.testing.assert_allclose(executor.get_weights()[name], value, atol=1e-6)


@pytest.mark.slow
def test_an_agent_learns_from_recorded_updates(recordings):
    """With schedules, which read the time, and loops over minibatches, whose order is drawn on the CPU."""
    agents = pytest.importorskip("rlgraph.agents")
    pytest.importorskip("gymnasium")
    options = {
        "network_spec": [8],
        "rollout_length": 8,
        "num_epochs": 2,
        "num_minibatches": 2,
        "clip_ratio": [0.2, 0.0],
        "optimizer_spec": {"learning_rate": [0.01, 0.0], "clip_grad_norm": 0.5},
    }
    recorded, plain = (
        agents.Agent.from_spec(
            "ppo",
            env="CartPole-v1",
            backend="torch",
            seed=3,
            execution_spec=spec,
            acting="backend",
            **options,
        )
        for spec in ({"device": "cuda:0", "compile": True}, {})
    )
    for agent in (recorded, plain):
        agent.learn(64, num_envs=2)
    assert recordings == [[4]]
    for name, value in plain.get_weights().items():
        np.testing.assert_allclose(recorded.get_weights()[name], value, atol=1e-5, err_msg=name)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that PyTorch can use")
def test_on_a_gpu():
    recorded, plain = make(device="cuda:0"), make(compile=False)
    for x, y in batches(6, 6, 6, 4, 6):
        loss = recorded.execute("learn", x, y)
        np.testing.assert_allclose(loss, plain.execute("learn", x, y), atol=1e-5)
    assert recorded.choices == {"compile:learn": "cuda graph"}
