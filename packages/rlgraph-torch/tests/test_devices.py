"""Devices on PyTorch: names, moves between simulated GPUs, and that nothing is done where everything is on the CPU."""

import threading

import numpy as np
import pytest
import torch

from rlgraph.components import Adam, DQNLoss, DuelingPolicy, Policy, ReplayMemory, Synchronizer
from rlgraph.core import BuildError, Component, GraphExecutor, gradients, graph_fn, loop, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing.conformance import run_conformance
from rlgraph.testing.conformance.cases import CASES
from rlgraph.torch import devices
from rlgraph.torch.devices import device_name
from rlgraph.torch.transfers import Fetch, sent


class Learner(Component):
    """Deep Q-learning with a target network and a memory, of shipped components."""

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
    return GraphExecutor(Learner(), SPACES, backend="torch", execution_spec={"seed": 1, **spec})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("cpu", "cpu"),
        ("CPU:0", "cpu"),
        ("cpu:1", "cpu:1"),
        ("cuda", "cuda:0"),
        ("gpu", "cuda:0"),
        ("gpu:2", "cuda:2"),
        ("/device:GPU:1", "cuda:1"),
        ("cuda:x", "cuda:x"),
    ],
)
def test_names(given, expected):
    assert device_name(given) == expected


def test_what_is_there():
    count = torch.cuda.device_count()
    assert devices.device_names() == {"cpu", *(f"cuda:{i}" for i in range(count))}


def run(made, rng):
    """What a learner returns and learns in some steps."""
    found = []
    for size in (4, 5, 1):
        found += made.execute("update", RECORDS.sample(size, rng=rng))
    made.execute("insert", RECORDS.sample(20, rng=rng))
    found += made.execute("update_from_memory", 3)
    made.execute("sync")
    found.append(made.execute("get_q_values", rng.normal(size=(3, 4)).astype("float32")))
    found.append(made.numpy_program("get_q_values")(rng.normal(size=(3, 4)).astype("float32")))
    return [*found, *made.get_weights().values()]


SPECS = {
    "all on one": {"device": "cuda:0"},
    "ops only": {"device": {"ops": "cuda:0"}},
    "variables only": {"device": {"variables": "cuda:0"}},
    "policy only": {"device_map": {"policy": "cuda:0"}},
    "optimizer only": {"device_map": {"optimizer": "cuda:1"}},
    "two parts": {"device": "cuda:0", "device_map": {"policy/value": "cuda:1", "loss": "cpu"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_placed_parts_compute_what_the_cpu_does(gpus, spec, use_kernels):
    made, plain = executor(**spec, use_kernels=use_kernels), executor(use_kernels=use_kernels)
    found, expected = run(made, np.random.default_rng(0)), run(plain, np.random.default_rng(0))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
    assert {"cuda:0", "cuda:1"} & set(gpus.moves)


def test_groups_are_on_their_devices(gpus):
    made = executor(device="cuda:0", device_map={"target-policy": "cuda:1"})
    for name, group in made.built.layout.groups.items():
        assert str(made.storage.groups[name].device) == group.device
        assert made.storage.borrow_group(name) is None
    values = {name: value + 1.0 for name, value in made.get_weights().items()}
    made.set_weights(values)
    for name, value in made.get_weights().items():
        np.testing.assert_array_equal(value, values[name])


def test_updates_go_on_while_weights_are_fetched(gpus):
    made, rng = executor(device="cuda:0"), np.random.default_rng(0)
    weights = made.flat_weights(["get_q_values"])
    before = weights.get()

    def update():
        with gpus:  # it is of one thread
            made.execute("update", RECORDS.sample(4, rng=rng))

    def update_meanwhile():
        gpus.on_wait = lambda: None
        thread = threading.Thread(target=update, daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()

    gpus.forget()
    gpus.on_wait = update_meanwhile
    fetched = weights.get()
    assert gpus.waits == ["event", "event"]  # for the results of the update, and for the weights
    np.testing.assert_array_equal(fetched["float32"], before["float32"])
    assert not np.array_equal(weights.get()["float32"], before["float32"])


def test_inputs_are_sent_together_and_results_fetched_together(gpus):
    made, rng = executor(device="cuda:0"), np.random.default_rng(0)
    made.execute("update", RECORDS.sample(4, rng=rng))
    records = RECORDS.sample(3, rng=rng)
    kept = {name: values.copy() for name, values in records.items()}
    gpus.forget()
    loss, per_item = made.execute("update", records)
    assert gpus.moves == ["cuda:0", "cpu", "cpu"]
    assert gpus.waits == ["event"]
    assert loss.shape == () and per_item.shape == (3,)
    assert loss.flags.writeable and per_item.flags.writeable
    for name, values in kept.items():
        np.testing.assert_array_equal(records[name], values)


@pytest.mark.parametrize(
    "arrays",
    [
        [np.arange(3, dtype=np.uint8), np.arange(6.0).reshape(2, 3), np.array([True, False])],
        [np.zeros((0, 4), np.float32), np.array(2, np.int64), np.zeros((2, 0), bool)],
        [],
    ],
    ids=["dtypes", "sizes", "none"],
)
def test_transfers_keep_what_is_sent(gpus, arrays):
    there = sent([torch.from_numpy(array) for array in arrays], "cuda:1")
    assert {str(tensor.device) for tensor in there} <= {"cuda:1"}
    fetch = Fetch(there)
    for tensor in there:
        tensor.zero_()
    for back, array in zip(fetch.arrays(), arrays, strict=True):
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back, array)


def test_an_input_is_moved_once_however_many_need_it(gpus):
    class Twice(Component):
        @rlgraph_api
        def call(self, x):
            return self._double(x), self._triple(x)

        @graph_fn
        def _double(self, ops, x):
            return x * 2.0

        @graph_fn
        def _triple(self, ops, x):
            return x * 3.0

    spec = {"device": "cuda:0"}
    made = GraphExecutor(Twice(), {"x": SPACES["states"]}, backend="torch", execution_spec=spec)
    double, triple = made.execute("call", np.ones((2, 4), "float32"))
    assert (double == 2.0).all() and (triple == 3.0).all()
    assert gpus.moves.count("cuda:0") == 1


class Noise(Component):
    """Draws of every kind, and tensors made from nothing."""

    @rlgraph_api
    def draw(self, x):
        return loop(2, lambda i, value: self._draw(value), x)

    @graph_fn
    def _draw(self, ops, x):
        shape = ops.shape(x)
        drawn = ops.random_uniform(shape) + ops.random_normal(shape) + ops.random_truncated_normal(shape)
        picked = ops.random_integers(shape, 0, 5) + ops.expand_dims(ops.random_categorical(x), 1)
        chosen = ops.random_bernoulli(ops.sigmoid(x))
        made = ops.zeros(shape) + ops.ones(shape) + ops.full(shape, 2.0) + ops.linspace(0.0, 1.0, 4)
        line = ops.astype(ops.arange(4), "float") + ops.sum(ops.eye(4), axis=0)
        return x + drawn + ops.astype(picked, "float") + ops.where(chosen, x, 1.0) + made + line


def test_draws_are_those_of_the_cpu(gpus):
    x = np.zeros((3, 4), "float32")
    found = [
        GraphExecutor(Noise(), {"x": SPACES["states"]}, backend="torch", execution_spec={"seed": 1, **spec})
        for spec in ({}, {"device": "cuda:1"})
    ]
    for _ in range(2):
        np.testing.assert_array_equal(*(made.execute("draw", x) for made in found))


@pytest.mark.parametrize(
    "spec", [{}, {"device": "cpu"}, {"device": "cpu:0", "device_map": {"policy": "cpu"}}]
)
def test_on_the_cpu_nothing_is_wrapped_or_moved(spec):
    made = executor(**spec)
    plan = made.plan("get_q_values")
    program = made.backend.lower(plan, plan.segments[0], made.storage)
    assert program.__source__ == executor().backend.lower(plan, plan.segments[0], made.storage).__source__
    assert ".to(" not in program.__source__ and ".cpu()" not in program.__source__
    assert not devices.is_placed(plan)


def test_devices_that_are_not_there():
    message = (
        "learner: its variables are to be on device 'cuda:99', which the torch backend does not have here."
    )
    with pytest.raises(BuildError, match=message):
        executor(device="cuda:99")
    with pytest.warns(UserWarning, match="learner: its variables were to be on device 'cuda:99'") as caught:
        made = executor(device="cuda:99", soft_placement=True)
    assert len(caught) == 1
    assert {group.device for group in made.built.layout.groups.values()} == {""}


@pytest.mark.slow
def test_the_conformance_suite_on_a_simulated_gpu(gpus):
    # Kernels make tensors themselves; single sources by operations, of which some components show enough.
    some = [f"components/{name}" for name in list(CASES)[::6]]
    sections = ["random", "kernels", "graphs", "gradients/network_with_adam", "draws", "budget", *some]
    outcomes = run_conformance("torch", only=sections, device="cuda:0")
    assert [outcome.message for outcome in outcomes if outcome.status == "failed"] == []
    assert {outcome.status for outcome in outcomes if outcome.check.section == "budget"} == {"gated"}


class Counting(Component):
    """A layer that counts its calls, as one that keeps statistics of what it saw."""

    def create_variables(self, input_spaces, action_space=None):
        self.weight = self.get_variable("weight", FloatBox(shape=(2,)), initializer=[1.0, 2.0])
        self.calls = self.get_variable("calls", float, trainable=False)

    @graph_fn
    def _loss(self, ops, x):
        ops.assign_add(self.calls, 1.0)
        return ops.mean(ops.square(x * self.weight))

    @graph_fn
    def _flat(self, ops, derivatives):
        return ops.concat(derivatives)

    @rlgraph_api
    def derive(self, x):
        return self._flat(gradients(self._loss(x), self.variables(trainable_only=True)))


def test_derivatives_of_what_also_writes_reach_variables_elsewhere(gpus):
    spaces = {"x": FloatBox(shape=(2,), add_batch_rank=True)}
    made = GraphExecutor(
        Counting(scope="layer"), spaces, backend="torch", execution_spec={"device": {"ops": "cuda:0"}}
    )
    x = np.array([[1.0, 3.0], [2.0, 1.0]], np.float32)
    # d/dw of the mean of x^2 w^2 over four numbers: w sum x^2 / 2.
    np.testing.assert_allclose(made.execute("derive", x), [1 * 5 / 2, 2 * 10 / 2], rtol=1e-6)
    assert made.get_weights()["layer/calls"] == 1.0


class Actor(Component):
    def __init__(self, device=None):
        self.policy = Policy([{"type": "dense", "units": 8}], IntBox(5), device=device)
        super().__init__(self.policy, scope="actor")

    @rlgraph_api
    def act(self, states):
        return self.policy.get_stochastic_action(states)["action"]


def test_draws_of_acting_are_brought_to_where_they_are_needed(gpus):
    spaces, spec = {"states": SPACES["states"]}, {"seed": 3, "acting_methods": ["act"], "act_on": "backend"}
    placed = GraphExecutor(Actor("cuda:1"), spaces, backend="torch", execution_spec=spec)
    plain = GraphExecutor(Actor(), spaces, backend="numpy", execution_spec=spec)
    x = np.random.default_rng(0).normal(size=(50, 4)).astype("float32")
    for _ in range(3):
        np.testing.assert_array_equal(placed.execute("act", x), plain.execute("act", x))
    assert "cuda:1" in gpus.moves
