"""Several agents and backends in one process do not disturb one another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.agents import DQNAgent
from rlgraph.core import CapabilityError
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import installed_backends

pytestmark = pytest.mark.slow

BACKENDS = installed_backends()
TRAINERS = installed_backends("gradients")
needs_two = pytest.mark.skipif(len(BACKENDS) < 2, reason=f"only one backend is installed: {BACKENDS}")


class Run:
    """An agent that acts, observes, and learns where its backend can."""

    def __init__(self, backend, seed):
        self.agent = DQNAgent(
            FloatBox(shape=(3,)),
            IntBox(4),
            network_spec=[{"type": "dense", "units": 8, "activation": "tanh"}],
            memory_spec={"capacity": 64},
            backend=backend,
            seed=seed,
            acting="backend",
        )
        self.learns = backend in TRAINERS
        self.rng = np.random.default_rng(seed)
        self.seen = []

    def step(self):
        states, next_states = self.rng.standard_normal((2, 5, 3)).astype("float32")
        actions = self.agent.get_actions(states)
        rewards = self.rng.standard_normal(5).astype("float32")
        self.agent.observe(states, actions, rewards, np.zeros(5, bool), next_states, batched=True)
        self.seen.extend(actions.tolist())
        if self.learns:
            self.seen.append(self.agent.update()["loss"])

    def results(self):
        return self.seen, self.agent.get_weights()


def alone(backend, seed, steps=12):
    run = Run(backend, seed)
    for _ in range(steps):
        run.step()
    return run.results()


def assert_equal(given, expected):
    assert given[0] == expected[0]
    for name, value in expected[1].items():
        np.testing.assert_array_equal(given[1][name], value, err_msg=name)


@needs_two
def test_in_turns_they_do_what_they_do_alone():
    """Two agents on every backend, of which one has another seed, stepped alternately."""
    keys = [(backend, seed) for seed in (1, 2) for backend in BACKENDS]
    expected = {key: alone(*key) for key in keys}
    runs = {key: Run(*key) for key in keys}
    for _ in range(12):
        for run in runs.values():
            run.step()
    for key, run in runs.items():
        assert_equal(run.results(), expected[key])
        assert run.seen[:12] != expected[key[0], 3 - key[1]][0][:12]


@needs_two
def test_in_threads_they_do_what_they_do_alone():
    expected = {backend: alone(backend, 3) for backend in BACKENDS}
    with ThreadPoolExecutor(len(BACKENDS)) as pool:
        futures = {backend: pool.submit(alone, backend, 3) for backend in BACKENDS}
    for backend, future in futures.items():
        assert_equal(future.result(), expected[backend])


def test_acting_is_what_an_agent_exports(tmp_path):
    agent = Run("numpy", 0).agent
    with pytest.raises(CapabilityError, match="the numpy backend does not export graphs"):
        agent.export_graph(tmp_path / "export")
    for backend in TRAINERS:
        agent = Run(backend, 0).agent
        if agent.executor.backend.exports is not None:
            description = (agent.export_graph(tmp_path / backend) / "graph.json").read_text()
            assert '"get_greedy_actions"' in description and '"get_td_loss"' not in description
