"""Devices on TensorFlow: names, and what is really placed where.

A process has several CPU devices only if it says so before TensorFlow starts, so the tests of more than one run in
a process of their own.
"""

import pytest

from rlgraph.tf.devices import device_name, device_names


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("cpu", "cpu:0"),
        ("CPU:1", "cpu:1"),
        ("gpu", "gpu:0"),
        ("cuda", "gpu:0"),
        ("cuda:3", "gpu:3"),
        ("/device:GPU:1", "gpu:1"),
        ("/gpu:0", "gpu:0"),
        ("tpu:0", "tpu:0"),
        ("cpu:x", "cpu:x"),
    ],
)
def test_names(given, expected):
    assert device_name(given) == expected


def test_what_is_there():
    assert "cpu:0" in device_names()


START = """
import sys
import numpy as np
import tensorflow as tf
import pytest

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)

from rlgraph.components import Adam, DQNLoss, DuelingPolicy, ReplayMemory, Synchronizer
from rlgraph.core import BuildError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


class Learner(Component):
    # Deep Q-learning with a target network and a memory, of shipped components.

    def __init__(self):
        layers = [{"type": "dense", "units": 8, "activation": "tanh"}] * 2
        self.policy = DuelingPolicy(layers, IntBox(2))
        self.target_policy = self.policy.copy(scope="target-policy", trainable=False)
        self.loss, self.optimizer = DQNLoss(), Adam(0.01, clip_grad_norm=0.5)
        self.memory, self.synchronizer = ReplayMemory(100), Synchronizer()
        super().__init__(
            self.policy, self.target_policy, self.loss, self.optimizer, self.memory, self.synchronizer
        )

    @rlgraph_api
    def get_q_values(self, states):
        return self.policy.get_q_values(states)["q_values"]

    @rlgraph_api
    def update(self, records):
        states, others = records["states"], (records["actions"], records["rewards"], records["terminals"])
        q_next = self.policy.get_q_values(records["next_states"])["q_values"]
        q_target = self.target_policy.get_q_values(records["next_states"])["q_values"]
        losses = self.loss.loss(self.policy.get_q_values(states)["q_values"], *others, q_next, q_target)
        self.optimizer.step(self.policy.variables(), losses["loss"])
        return losses["loss"], losses["loss_per_item"]

    @rlgraph_api
    def insert(self, records):
        return self.memory.insert_records(records)

    @rlgraph_api
    def update_from_memory(self, count):
        return self.update(self.memory.get_records(count))

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())


STATES = FloatBox(shape=(4,))
FIELDS = {"states": STATES, "next_states": STATES, "actions": IntBox(2), "rewards": FloatBox()}
RECORDS = Dict({**FIELDS, "terminals": BoolBox()}, add_batch_rank=True)
SPACES = {"states": FloatBox(shape=(4,), add_batch_rank=True), "records": RECORDS, "count": IntBox(1, None)}


def executor(**spec):
    return GraphExecutor(Learner(), SPACES, backend="tf", execution_spec={"seed": 1, **spec})


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def devices_of_operations(made, method):
    plan = made.plan(method)
    graph = made.backend.trace(plan, plan.segments[0], made.storage).graph
    return {operation.type: operation.device for operation in graph.get_operations()}, {
        operation.device[-5:].lower() for operation in graph.get_operations() if operation.device
    }
"""


PLACES = """
made = executor(device="cpu:0", device_map={"target-policy": "cpu:1", "policy": {"variables": "cpu:1"}})
where = {group.device: made.storage.groups[name].device for name, group in made.built.layout.groups.items()}
assert set(where) == {"cpu:0", "cpu:1"}, where
assert all(place.lower().endswith(name) for name, place in where.items()), where
_, used = devices_of_operations(made, "update")
assert used == {"cpu:0", "cpu:1"}, used
types, used = devices_of_operations(made, "get_q_values")
assert types["MatMul"].lower().endswith("cpu:0"), types
assert types["ReadVariableOp"].lower().endswith("cpu:1"), types
plain, rng = executor(), np.random.default_rng(0)
for size in (4, 1):
    records = RECORDS.sample(size, rng=rng)
    for a, b in zip(*(e.execute("update", records) for e in (made, plain))):
        same(a, b)
made.execute("sync"), plain.execute("sync")
for a, b in zip(made.get_weights().values(), plain.get_weights().values()):
    same(a, b)
states = rng.normal(size=(3, 4)).astype("float32")
same(made.numpy_program("get_q_values")(states), plain.execute("get_q_values", states))
"""

DRAWS = """
class Noise(Component):
    @rlgraph_api
    def draw(self, x):
        return self._draw(x)

    @graph_fn
    def _draw(self, ops, x):
        return x + ops.random_uniform(ops.shape(x))


found = []
for spec in ({}, {"device": "cpu:1"}, {"device": "cpu:1", "threads": 1}):
    made = GraphExecutor(Noise(), {"x": SPACES["states"]}, backend="tf", execution_spec={"seed": 3, **spec})
    found.append([made.execute("draw", np.zeros((2, 4), "float32")) for _ in range(2)])
for other in found[1:]:
    np.testing.assert_array_equal(other, found[0])
assert (found[0][0] != found[0][1]).all()
"""

MISSING = """
import re

missing = re.escape("its variables are to be on device 'cpu:2', which the tf backend does not have here.")
with pytest.raises(BuildError, match=missing + " Did you mean 'cpu:[01]'"):
    executor(device="cpu:2")
with pytest.warns(UserWarning, match="learner: its variables were to be on device 'gpu:7', which the tf") as caught:
    made = executor(device="gpu:7", soft_placement=True)
assert len(caught) == 1
assert {group.device for group in made.built.layout.groups.values()} == {""}
"""

PROGRAMS = {"places": PLACES, "draws, one thread": DRAWS, "missing": MISSING}


@pytest.fixture(scope="module")
def outcomes(run_apart):
    """One process with two logical devices."""
    return run_apart(START, PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_two_devices(outcomes, name):
    assert outcomes[name] == ""
