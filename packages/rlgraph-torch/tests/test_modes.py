"""What a caller switched on in PyTorch: results are those without it, and the caller has it back."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import torch

from rlgraph.components import Adam, DQNLoss, DuelingPolicy
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.torch import ModuleComponent


@contextmanager
def switched(switch, value, before):
    switch(value)
    try:
        yield
    finally:
        switch(before)


def set_flush_denormal(value):
    torch.set_flush_denormal(value)


MODES = {
    "inference_mode": torch.inference_mode,
    "no_grad": torch.no_grad,
    "set_grad_enabled": lambda: switched(torch.set_grad_enabled, False, True),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "device": lambda: torch.device("meta"),
    "set_default_device": lambda: switched(torch.set_default_device, "meta", None),
    "float64": lambda: switched(torch.set_default_dtype, torch.float64, torch.float32),
    "float16": lambda: switched(torch.set_default_dtype, torch.float16, torch.float32),
    "flush_denormal": lambda: switched(set_flush_denormal, True, False),
    "forward_ad": torch.autograd.forward_ad.dual_level,
}
BY_REQUEST = {"deterministic": lambda: switched(torch.use_deterministic_algorithms, True, False)}
#: Those that PyTorch would apply to a program, or to what is made for one.
LEFT = ("inference_mode", "autocast", "device", "set_default_device")

TIMES = ("build", "act", "update", "weights")


class Learner(Component):
    """DQN that draws its actions."""

    def __init__(self):
        self.policy = DuelingPolicy([{"type": "dense", "units": 8, "activation": "tanh"}], IntBox(3))
        self.loss, self.optimizer = DQNLoss(), Adam(0.01, clip_grad_norm=1.0)
        super().__init__(self.policy, self.loss, self.optimizer, scope="learner")

    @rlgraph_api
    def act(self, states):
        return self._drawn(self.policy.get_q_values(states)["q_values"])

    @rlgraph_api
    def update(self, states, actions, rewards, terminals, next_states):
        q_values = self.policy.get_q_values(states)["q_values"]
        later = self.policy.get_q_values(next_states)["q_values"]
        losses = self.loss.loss(q_values, actions, rewards, terminals, later, later)
        self.optimizer.step(self.policy.variables(), losses["loss"])
        return losses["loss"]

    @graph_fn
    def _drawn(self, ops, q_values):
        return ops.random_categorical(ops.astype(q_values, "float"))


SPACES = {
    "states": FloatBox(shape=(3,), add_batch_rank=True),
    "next_states": FloatBox(shape=(3,), add_batch_rank=True),
    "actions": IntBox(3, add_batch_rank=True),
    "rewards": FloatBox(add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
}


def learn(times=(), mode=nullcontext, path=None, **execution):
    """Losses, actions and weights of updates, where `mode` is on at some of the `times`."""

    def at(time):
        return mode() if time in times else nullcontext()

    with at("build"):
        made = GraphExecutor(Learner(), SPACES, backend="torch", execution_spec={"seed": 3, **execution})
    rng = np.random.default_rng(0)
    states, next_states = rng.normal(size=(2, 6, 3)).astype(np.float32)
    batch = (states, rng.integers(0, 3, 6), np.ones(6, np.float32), np.zeros(6, bool), next_states)
    found = [made.get_weights()]
    for _ in range(3):
        with at("act"):
            found.append(made.execute("act", states))
        with at("update"):
            found.append(made.execute("update", *batch))
    with at("weights"):
        made.set_weights({name: 0.5 * value for name, value in made.get_weights().items()})
        if path is not None:
            made.load(made.save(path))
    found += [made.execute("update", *batch), made.execute("act", states), made.get_weights()]
    return found


def modes():
    """What a caller can see of the modes."""
    return (
        torch.is_inference_mode_enabled(),
        torch.is_grad_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_default_device(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return learn(path=tmp_path_factory.mktemp("without") / "checkpoint")


@pytest.mark.parametrize(
    ("name", "times"),
    [
        *((name, TIMES) for name in MODES),
        *((name, (time,)) for name in LEFT for time in TIMES),
        pytest.param("deterministic", TIMES, marks=pytest.mark.slow),  # imports PyTorch's compiler
    ],
)
def test_results_are_those_without_the_mode(name, times, expected, tmp_path):
    found = learn(times, (MODES | BY_REQUEST)[name], tmp_path / "checkpoint")
    np.testing.assert_equal(found, expected)
    for before, after in zip(found[0].values(), found[-1].values(), strict=True):
        assert (before != after).any()


@pytest.mark.slow  # imports PyTorch's compiler
def test_compiled_programs_leave_the_mode(straight):
    expected = learn(compile=True)
    assert straight
    for name in LEFT:
        np.testing.assert_equal(learn(TIMES, MODES[name], compile=True), expected)


class Switch(Component):
    """Asks for the modes, and may fail."""

    fails = False
    seen: tuple

    @rlgraph_api
    @graph_fn
    def call(self, ops, inputs):
        if not hasattr(ops, "_recorder"):
            self.seen = modes()
            if self.fails:
                raise RuntimeError("boom")
        return inputs * 2.0


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("name", LEFT)
def test_the_caller_has_its_mode_back(name, fails):
    usual = modes()
    Switch.fails, inputs = fails, np.ones((2, 3), np.float32)
    made = GraphExecutor(Switch(), {"inputs": SPACES["states"]}, backend="torch")
    with MODES[name]():
        before = modes()
        with pytest.raises(RuntimeError, match="boom") if fails else nullcontext():
            made.execute("call", inputs)
        assert modes() == before != usual
        assert torch.empty(1).device == before[3]  # its tensors are made as before
    assert modes() == usual


class Environment(Component):
    """A host function, the step of an environment, that switches a mode on between two parts of a program."""

    switch = staticmethod(nullcontext)

    def __init__(self):
        self.learner = Learner()
        super().__init__(self.learner, scope="outer")

    @rlgraph_api
    def update(self, states, actions, rewards, terminals, next_states):
        rewards = self._sum(rewards, self._step())
        return self.learner.update(states, actions, rewards, terminals, next_states)

    @graph_fn(host=True, spaces=FloatBox())
    def _step(self):
        Environment.entered = Environment.switch()
        Environment.entered.__enter__()
        return np.float32(1.0)

    @graph_fn
    def _sum(self, ops, x, y):
        return x + y


@pytest.mark.parametrize("name", LEFT)
def test_an_environment_may_leave_a_mode_on(name, monkeypatch):
    def learned(switch):
        monkeypatch.setattr(Environment, "switch", staticmethod(switch))
        made = GraphExecutor(Environment(), SPACES, backend="torch")
        states = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
        batch = (states, np.arange(4) % 3, np.ones(4, np.float32), np.zeros(4, bool), states[::-1])
        losses = []
        for _ in range(2):
            try:
                losses.append(made.execute("update", *batch))
            finally:
                Environment.entered.__exit__(None, None, None)
        return losses, made.get_weights()

    losses, weights = learned(nullcontext)
    np.testing.assert_equal(learned(MODES[name]), (losses, weights))
    assert losses[0] != losses[1]


@pytest.mark.parametrize("name", LEFT)
def test_a_module_is_built_and_run_without_the_mode(name):
    def outputs(mode):
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softplus())
        with mode():
            component = ModuleComponent(module, scope="module")
            made = GraphExecutor(component, {"inputs": SPACES["states"]}, backend="torch")
            return made.execute("call", np.ones((2, 3), np.float32))

    found = outputs(MODES[name])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, outputs(nullcontext))


@pytest.mark.parametrize("name", LEFT)
def test_an_export_computes_without_the_mode(name, tmp_path):
    made = GraphExecutor(Switch(), {"inputs": SPACES["states"]}, backend="torch")
    Switch.fails = False
    with MODES[name]():
        made.export_graph(tmp_path / "export")
    program = torch.export.load(tmp_path / "export" / "call.pt2").module()
    (output,) = program(torch.ones(2, 3)).values()
    assert (output.dtype, output.device.type, output.is_inference()) == (torch.float32, "cpu", False)
    np.testing.assert_array_equal(output.detach().numpy(), np.full((2, 3), 2.0, np.float32))
