"""Agents that learn on another device than they act on: what they learn, and what goes to and fro in an update.

The other device is a second logical CPU, of which a process has to know before TensorFlow starts.
"""

import pytest

pytest.importorskip("rlgraph.agents")
pytest.importorskip("gymnasium")

START = """
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from rlgraph.agents import Agent
from rlgraph.tf import storage

storage.FOLLOWED = 10  # on devices groups of any size are followed

UPDATES = {"steps_before_update": 8, "update_interval": 4, "batch_size": 8}
# Options of each agent with an update every four steps, and the tensors that it sends.
AGENTS = {
    "ppo": ({"rollout_length": 4, "num_epochs": 2, "num_minibatches": 2}, 7 + 2),  # rows of minibatches, progress
    "a2c": ({"rollout_length": 4}, 7 + 1),
    "dqn": ({"update_spec": UPDATES}, 5),
    "sac": ({"update_spec": UPDATES}, 5 + 2),  # the random streams of two draws
}


def make(name, **execution):
    options = {"network_spec": [{"type": "dense", "units": 8, "activation": "relu"}], "seed": 3, **AGENTS[name][0]}
    env = "Pendulum-v1" if name == "sac" else "CartPole-v1"
    return Agent.from_spec(name, env=env, backend="tf", execution_spec={"threads": 1, **execution}, **options)


def transfers(run):
    # Names of what is sent from one device to the other, by the one that gets it, in the functions called first in run.
    context.enable_run_metadata()
    try:
        run()
        functions = context.export_run_metadata().function_graphs
    finally:
        context.disable_run_metadata()
    found = {"CPU:0": [], "CPU:1": []}
    for node in (node for graph in functions for part in graph.partition_graphs for node in part.node):
        if node.op in ("_Recv", "_HostRecv"):
            receiver = node.attr["recv_device"].s.decode()[-5:]
            found[receiver].append(re.sub("^edge_[0-9]+_", "", node.attr["tensor_name"].s.decode()))
    return found


def check(name):
    placed, local = make(name, device="cpu:1"), make(name)
    assert placed.executor.acting == "numpy"
    local.learn(16, num_envs=1)
    # One environment: the first update is the first in which anything is sent.
    sent = transfers(lambda: placed.learn(16, num_envs=1))
    assert placed.updates == local.updates >= 2
    weights = local.get_weights()
    for variable, value in placed.get_weights().items():
        np.testing.assert_allclose(value, weights[variable], rtol=0, atol=1e-6, err_msg=variable)
    assert len(sent["CPU:1"]) == AGENTS[name][1], sent["CPU:1"]
    # Nothing of a loop's iterations is sent, and the weights that act come with the results.
    assert not [tensor for tensors in sent.values() for tensor in tensors if "while" in tensor], sent
    weights_that_act = [tensor for tensor in sent["CPU:0"] if tensor.startswith("Read")]
    assert len(weights_that_act) == 1, sent["CPU:0"]
    (group,) = placed.executor.storage.handed_out.values()
    assert group.device.endswith("CPU:0")
"""

# Learners on a device each are one on the whole batch, of which masks leave out most of the first one's items.
GROUP = """
from concurrent.futures import ThreadPoolExecutor

from rlgraph.algorithms.a2c import A2C
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.learner import Learner
from rlgraph.core import memory_group
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.shares import random_batch, share_of


def learner(devices, collective=None):
    execution = {"dtype": "float64", "devices": devices, "collective": "memory"}
    options = {"network_spec": [8], "optimizer_spec": {"clip_grad_norm": 0.1}, "seed": 3, "execution_spec": execution}
    spec, experience, execution = split_options(A2C, FloatBox(shape=(3,)), IntBox(3), **options)
    return Learner(spec, experience, "tf", execution, collective=collective)


def learn(learner, part):
    return [learner.executor.execute("update", **share_of(space, batch, *part)) for batch in batches]


one = learner(["cpu"])
several = [learner(["cpu:0", "cpu:1"], each) for each in memory_group(2)]
for rank, each in enumerate(several):
    assert {group.device[-5:] for group in each.executor.storage.groups.values()} == {f"CPU:{rank}"}
space, rng = one.executor.built.input_spaces["update"], np.random.default_rng(5)
batches = [random_batch(space, rng, 3, 8, 2) for _ in range(5)]
with ThreadPoolExecutor(2) as pool:
    found = [learn(one, (0, 8)), *pool.map(learn, several, [(0, 2), (2, 8)])]
weights, first, second = (each.executor.get_weights() for each in (one, *several))
for variable, value in weights.items():
    np.testing.assert_allclose(first[variable], value, rtol=0, atol=1e-10, err_msg=variable)
    np.testing.assert_array_equal(first[variable], second[variable])
for whole, *parts in zip(*found, strict=True):
    for part in parts:
        np.testing.assert_allclose(part["loss"], whole["loss"], rtol=0, atol=1e-10)
"""

AGENTS = ("ppo", "a2c", "dqn", "sac")


@pytest.fixture(scope="module")
def outcomes(run_apart):
    """One process with two logical devices."""
    return run_apart(START, {**{name: f"check({name!r})" for name in AGENTS}, "group": GROUP})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*AGENTS, "group"])
def test_learning_on_another_device(outcomes, name):
    assert outcomes[name] == ""
