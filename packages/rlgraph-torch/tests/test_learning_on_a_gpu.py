"""Agents that learn on a (simulated) GPU and act on the CPU: what they learn, and what goes to and fro."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import memory_group
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.shares import random_batch, share_of

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


#: Time steps and environments of a batch, and the environments of each learner: 1 and 3 quarters.
STEPS, COLUMNS, SHARES = 3, 8, ((0, 2), (2, 8))
#: What a learner does with its records.
IN_A_GROUP = {
    "ppo": {"num_epochs": 2, "num_minibatches": 1, "weight_entropy": 0.01},
    "a2c": {},
    "dqn": {"memory_spec": {"type": "prioritized_replay", "capacity": 100}},
    "sac": {},
}


def make_learner(name, devices, collective=None):
    from rlgraph.learning.agent_options import split_options
    from rlgraph.learning.learner import Learner

    kind = Agent.of(name).algorithm_class
    execution = {"dtype": "float64", "devices": devices, "collective": "memory"}
    options = {
        "network_spec": LAYERS,
        "optimizer_spec": {"clip_grad_norm": 0.1},
        "seed": 3,
        **IN_A_GROUP[name],
    }
    actions = IntBox(3)
    spec, experience, execution = split_options(
        kind, FloatBox(shape=(3,)), actions, execution_spec=execution, **options
    )
    return Learner(spec, experience, "torch", execution, collective=collective)


@pytest.mark.parametrize("name", IN_A_GROUP)
def test_learners_on_a_gpu_each_are_one_on_the_cpu(gpus, name):
    group = memory_group(2)
    one = make_learner(name, ["cpu"])
    several = [make_learner(name, ["cuda:0", "cuda:1"], each) for each in group]
    for rank, learner in enumerate(several):
        devices = {str(values.device) for values in learner.executor.storage.groups.values()}
        assert devices == {f"cuda:{rank}"}
    rng, space = np.random.default_rng(5), one.executor.built.input_spaces["update"]
    batches = [random_batch(space, rng, STEPS, COLUMNS, SHARES[0][1]) for _ in range(5)]

    def learn(learner, part):
        with gpus:  # it is of one thread
            return [learner.executor.execute("update", **share_of(space, each, *part)) for each in batches]

    with ThreadPoolExecutor(2) as pool:
        found = [learn(one, (0, COLUMNS)), *pool.map(learn, several, SHARES)]
    weights, first, second = (learner.executor.get_weights() for learner in (one, *several))
    for variable, value in weights.items():
        np.testing.assert_allclose(first[variable], value, rtol=0, atol=1e-10, err_msg=variable)
        np.testing.assert_array_equal(first[variable], second[variable])
    for whole, *parts in zip(*found, strict=True):
        for part in parts:
            np.testing.assert_allclose(part["loss"], whole["loss"], rtol=0, atol=1e-10)
