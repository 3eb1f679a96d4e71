"""Agents that learn on a (simulated) GPU and act on the CPU: what they learn, and what goes to and fro."""

import numpy as np
import pytest

agents = pytest.importorskip("rlgraph.agents")
pytest.importorskip("gymnasium")

UPDATES = {"steps_before_update": 8, "update_interval": 4, "batch_size": 8}
#: Options of each agent with an update every four steps, and how often an update draws on its own.
AGENTS = {
    "ppo": ({"rollout_length": 4, "num_epochs": 2, "num_minibatches": 2}, 0),
    "a2c": ({"rollout_length": 4}, 0),
    "dqn": ({"update_spec": UPDATES}, 0),
    "sac": ({"update_spec": UPDATES}, 2),
}
LAYERS = [{"type": "dense", "units": 8, "activation": "relu"}]


def make(name, **execution):
    env = "Pendulum-v1" if name == "sac" else "CartPole-v1"
    options = {"network_spec": LAYERS, "seed": 3, **AGENTS[name][0]}
    return agents.Agent.from_spec(name, env=env, backend="torch", execution_spec=execution, **options)


@pytest.mark.parametrize("name", AGENTS)
def test_learning_on_a_gpu(gpus, name):
    placed, local = make(name, device="cuda:0"), make(name)
    assert placed.executor.acting == "numpy"
    for agent in (placed, local):
        agent.learn(16, num_envs=1)
    assert placed.updates == local.updates >= 2
    weights = local.get_weights()
    for variable, value in placed.get_weights().items():
        np.testing.assert_allclose(value, weights[variable], rtol=0, atol=1e-6, err_msg=variable)

    gpus.forget()
    placed.learn(4, num_envs=1)
    # The batch in one piece, for all minibatches; besides it only what the update draws.
    assert gpus.moves.count("cuda:0") == 1 + AGENTS[name][1]
    # Acting waits for the weights of the update before, and the update for its results, together.
    assert gpus.waits == ["event", "event"]

    gpus.forget()
    state = placed.state_space.sample(1, rng=np.random.default_rng(0))
    for use_exploration in (True, False, True):
        placed.get_actions(state, use_exploration)
    assert gpus.waits == ["event"]
