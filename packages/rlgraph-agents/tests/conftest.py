"""Every test with an argument `backend` runs once per installed backend but NumPy, which cannot learn.

Where a test asks nothing of the backend itself, one is enough: the others are repetitions.
"""

import signal
import subprocess
import sys

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import registry
from rlgraph.spaces import FloatBox, IntBox

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # The tests run in the background of a shell: programs that they start would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
#: One of them, for what does not depend on which: PyTorch if it is there, the quickest to build.
ONE_BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
#: Files of tests that a backend of its own kind of weights, programs or threads could fail.
WHERE_BACKENDS_DIFFER = {
    "test_acting",
    "test_checkpoints",
    "test_determinism",
    "test_programs_from_outside",
    "test_resume",
    "test_slice",
    "test_threads",
    "test_update",
}
STATES, ACTIONS = 3, 4


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        repeated = metafunc.definition.path.stem not in WHERE_BACKENDS_DIFFER
        params = [
            pytest.param(name, marks=pytest.mark.repetition if repeated and name != ONE_BACKEND else ())
            for name in BACKENDS
        ]
        metafunc.parametrize("backend", params, scope="module")


@pytest.fixture(scope="session")
def backends():
    """The installed backends, NumPy left out."""
    return list(BACKENDS)


@pytest.fixture(scope="session")
def one_backend():
    """The name of `ONE_BACKEND`."""
    return ONE_BACKEND


@pytest.fixture(scope="session")
def execution():
    """`execution_spec` for networks so small that a second thread only waits for the first."""
    # TensorFlow takes a number of threads only before its first use in a process.
    return lambda backend, **fields: {"threads": 1 if backend == "torch" else None, **fields}


@pytest.fixture(scope="session")
def make_agent(execution):
    """A DQN agent of a few dozen parameters for states [3] and 4 actions, unless told otherwise."""

    def make(backend, *, units=8, dtype="float32", **options):
        layer = {"type": "dense", "units": units, "activation": "tanh"}
        spec = {"type": "dqn", "network_spec": [layer], "seed": 3, **options}
        if "env" not in options:
            spec = {"state_space": FloatBox(shape=(STATES,)), "action_space": IntBox(ACTIONS), **spec}
        spec.setdefault("execution_spec", execution(backend, dtype=dtype))
        return Agent.from_spec(spec, backend=backend)

    return make


@pytest.fixture(scope="session")
def make_batch():
    """Transitions `[number, ...]` for the agents of `make_agent`; one in three is terminal."""

    def make(number, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        return {
            "states": rng.normal(size=(number, STATES)).astype(dtype),
            "actions": rng.integers(0, ACTIONS, number),
            "rewards": rng.normal(scale=3.0, size=number).astype(dtype),
            "terminals": np.arange(number) % 3 == 2,
            "next_states": rng.normal(size=(number, STATES)).astype(dtype),
        }

    return make


@pytest.fixture(scope="session")
def python():
    """Runs Python in a process of its own and returns what it wrote to the standard output."""

    def run(*arguments):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


class Reference:
    """Deep Q-learning written a second time, in NumPy and without RLgraph: what agents are held against.

    A dueling (or plain) network of one tanh layer over weights by scoped name, and its losses."""

    def q_values(self, weights, states, policy="dqn/policy"):
        """`[B, A]`."""

        def layer(x, name):
            return x @ weights[f"{policy}/{name}/weights"] + weights[f"{policy}/{name}/biases"]

        hidden = np.tanh(layer(states, "network/dense-0"))
        if f"{policy}/q-values/weights" in weights:
            return layer(hidden, "q-values")
        advantages = layer(hidden, "advantages")
        return layer(hidden, "value") + advantages - advantages.mean(axis=1, keepdims=True)

    def targets(self, weights, batch, discount, double_q):
        """`r + discount * Q_target(s', a*)`, `[B]`; a* by the online network for double Q-learning."""
        next_target = self.q_values(weights, batch["next_states"], "dqn/target-policy/policy")
        chooser = self.q_values(weights, batch["next_states"]) if double_q else next_target
        values = [row[np.argmax(choice)] for row, choice in zip(next_target, chooser, strict=True)]
        alive = [0.0 if terminal else 1.0 for terminal in batch["terminals"]]
        return batch["rewards"] + discount * np.array(alive) * np.array(values)

    def per_item(self, weights, batch, targets, huber):
        """Half the squared errors `[B]`, or Huber's function of them with delta 1."""
        q_values = self.q_values(weights, batch["states"])
        losses = []
        for row, action, target in zip(q_values, batch["actions"], targets, strict=True):
            error = abs(target - row[action])
            losses.append(error - 0.5 if huber and error > 1.0 else error**2 / 2)
        return np.array(losses)

    def loss(self, weights, batch, discount=0.99, double_q=True, huber=False):
        """The mean loss and the loss per item."""
        per_item = self.per_item(weights, batch, self.targets(weights, batch, discount, double_q), huber)
        return per_item.mean(), per_item

    def gradient(self, weights, batch, discount=0.99, double_q=True, huber=False, step=1e-5):
        """Central differences of the loss by every policy variable; the targets stay as they are."""
        targets = self.targets(weights, batch, discount, double_q)
        gradients = {}
        for name in [name for name in weights if name.startswith("dqn/policy/")]:
            gradient = np.zeros_like(weights[name])
            for place in np.ndindex(gradient.shape):
                changed = {**weights, name: weights[name].copy()}
                values = []
                for sign in (1, -1):
                    changed[name][place] = weights[name][place] + sign * step
                    values.append(self.per_item(changed, batch, targets, huber).mean())
                gradient[place] = (values[0] - values[1]) / (2 * step)
            gradients[name] = gradient
        return gradients

    def randomised(self, weights, seed, scale=0.7):
        """Other values for the policy and the target policy, which then differ."""
        rng = np.random.default_rng(seed)
        names = [name for name in weights if name.startswith(("dqn/policy/", "dqn/target-policy/"))]
        return {
            name: rng.normal(scale=scale, size=weights[name].shape).astype(weights[name].dtype)
            for name in names
        }


@pytest.fixture
def reference():
    return Reference()
