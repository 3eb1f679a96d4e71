"""Programs as a whole."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense, DQNLoss, DuelingPolicy, Synchronizer
from rlgraph.core import Component, GraphExecutor, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest
from rlgraph.tf.backend import let_memory_grow


class Learner(Component):
    """A dueling double DQN."""

    def __init__(self):
        layers = [{"type": "dense", "units": 8, "activation": "relu"}]
        self.policy = DuelingPolicy(layers, IntBox(3))
        self.target = self.policy.copy(scope="target", trainable=False)
        self.loss, self.optimizer, self.synchronizer = DQNLoss(), Adam(clip_grad_norm=1.0), Synchronizer()
        super().__init__(
            self.policy, self.target, self.loss, self.optimizer, self.synchronizer, scope="learner"
        )

    @rlgraph_api
    def get_q_values(self, states):
        return self.policy.get_q_values(states)["q_values"]

    @rlgraph_api
    def update(self, states, actions, rewards, terminals, next_states):
        losses = self.loss.loss(
            self.policy.get_q_values(states)["q_values"],
            actions,
            rewards,
            terminals,
            self.policy.get_q_values(next_states)["q_values"],
            self.target.get_q_values(next_states)["q_values"],
        )
        self.optimizer.step(self.policy.variables(), losses["loss"])
        return {"loss": losses["loss"], "per_item": losses["loss_per_item"]}

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.policy.variables(), self.target.variables())


SPACES = {
    "states": FloatBox(shape=(4,), add_batch_rank=True),
    "next_states": FloatBox(shape=(4,), add_batch_rank=True),
    "actions": IntBox(3, add_batch_rank=True),
    "rewards": FloatBox(add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
}


def batch(rng, size, dtype):
    return {
        "states": rng.standard_normal((size, 4)).astype(dtype),
        "actions": rng.integers(0, 3, size),
        "rewards": rng.standard_normal(size).astype(dtype),
        "terminals": rng.random(size) < 0.3,
        "next_states": rng.standard_normal((size, 4)).astype(dtype),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_seed_and_forward_as_numpy(dtype):
    ours, numpy = (
        GraphExecutor(Learner(), SPACES, backend=backend, execution_spec={"dtype": dtype, "seed": 5})
        for backend in ("tf", "numpy")
    )
    weights = ours.get_weights()
    for name, value in numpy.get_weights().items():
        assert weights[name].dtype == value.dtype
        np.testing.assert_array_equal(weights[name], value)
    for size in (1, 7, 0):
        states = np.random.default_rng(1).standard_normal((size, 4)).astype(dtype)
        given = ours.execute("get_q_values", states)
        assert given.dtype == dtype
        np.testing.assert_allclose(given, numpy.execute("get_q_values", states), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.numpy_program("get_q_values")(states), given, rtol=1e-5, atol=1e-6)


def test_training_and_synchronising():
    executor = GraphExecutor(Learner(), SPACES, backend="tf")
    same = batch(np.random.default_rng(2), 16, "float32")
    losses = []
    for _ in range(100):
        outputs = executor.execute("update", **same)
        np.testing.assert_allclose(outputs["per_item"].mean(), outputs["loss"], rtol=1e-5)
        losses.append(float(outputs["loss"]))
    assert losses[-1] < 0.5 * losses[0]
    online = {n: v for n, v in executor.get_weights().items() if n.startswith("policy/")}
    target = {n: executor.storage.read(n.replace("policy/", "target/", 1)) for n in online}
    assert any((target[name] != value).any() for name, value in online.items())
    assert executor.execute("sync") is None
    executor.execute("update", **same)
    # What was copied stays, though the original moves on.
    for name, value in online.items():
        np.testing.assert_array_equal(executor.storage.read(name.replace("policy/", "target/", 1)), value)
        assert (executor.storage.read(name) != value).any()


def test_same_run_twice():
    def run():
        executor = GraphExecutor(Learner(), SPACES, backend="tf", execution_spec={"seed": 1})
        rng = np.random.default_rng(0)
        return [executor.execute("update", **batch(rng, 8, "float32"))["loss"].item() for _ in range(5)]

    assert run() == run()


class HostInTheMiddle(Component):
    def __init__(self):
        self.before, self.after = (
            Dense(2, scope="before", weights_spec=1.0),
            Dense(1, scope="after", weights_spec=2.0),
        )
        super().__init__(self.before, self.after, scope="host-in-the-middle")

    def create_variables(self, input_spaces, action_space=None):
        self.calls = self.get_variable("calls", IntBox(), host=True)
        self.buffer = self.get_variable("buffer", FloatBox(shape=(3, 2)), host=True)

    @rlgraph_api
    def run(self, x):
        y = self._on_host(self.before.call(x))
        return y, self.after.call(y)

    @graph_fn(host=True, spaces=FloatBox(shape=(2,), add_batch_rank=True))
    def _on_host(self, y):
        assert type(y) is np.ndarray and y.dtype == np.float32
        self.calls += 1
        self.buffer[: len(y)] = y * self.calls
        return self.buffer[: len(y)]


def test_host_function_in_the_middle():
    test = ComponentTest(HostInTheMiddle(), {"x": FloatBox(shape=(2,), add_batch_rank=True)}, backend="tf")
    first = test.test(("run", [[[1.0, 2.0]]]), expected_outputs=([[3.0, 3.0]], [[12.0]]))
    test.test(("run", [[[1.0, 2.0]]]), expected_outputs=([[6.0, 6.0]], [[24.0]]))
    np.testing.assert_array_equal(first[0], [[3.0, 3.0]])


def test_one_trace_serves_all_sizes():
    executor = GraphExecutor(Learner(), SPACES, backend="tf")
    plan = executor.plan("update")
    traced = executor.backend.trace(plan, plan.steps[0], executor.storage)
    assert [s.shape.as_list() for s in traced.inputs[:3]] == [[None, 4], [None, 4], [None]]


def test_the_message_of_a_failing_function_names_its_place():
    class Fails(Component):
        @rlgraph_api
        def run(self, x):
            return self._run(x)

        @graph_fn
        def _run(self, ops, x):
            return ops.exp(x)

        @_run.kernel("tf")
        def _(self, ops, x):
            return tf.reshape(x, [-1, 3])

    test = ComponentTest(Fails(scope="fails"), {"x": FloatBox(add_batch_rank=True)}, backend="tf")
    with pytest.raises(tf.errors.InvalidArgumentError, match="<rlgraph plan run__segment_0"):
        test.test(("run", [[1.0, 2.0]]))


def test_threads_come_too_late():
    tf.zeros(1).numpy()
    inter = tf.config.threading.get_inter_op_parallelism_threads()
    with pytest.raises(SpecError, match=r"execution_spec.threads: TensorFlow is running"):
        GraphExecutor(Learner(), SPACES, backend="tf", execution_spec={"threads": 7})
    GraphExecutor(Learner(), SPACES, backend="tf")
    assert tf.config.threading.get_inter_op_parallelism_threads() == inter


def test_gpu_memory(monkeypatch):
    asked = []

    def grow(gpu, value):
        asked.append((gpu, value))
        if gpu == "running already":
            raise RuntimeError("Physical devices cannot be modified after being initialized")

    monkeypatch.setattr(tf.config.experimental, "set_memory_growth", grow)
    let_memory_grow(["first", "second"])
    assert asked == [("first", True), ("second", True)]
    let_memory_grow(["running already", "third"])
    assert asked[2:] == [("running already", True)]


THREADS = """
import numpy as np
from rlgraph.components import Dense
from rlgraph.core import GraphExecutor
from rlgraph.spaces import FloatBox
layers = [Dense(1, weights_spec=1.0) for _ in range(2)]
spaces = {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}
for layer in layers:  # the second one finds what it wants
    executor = GraphExecutor(layer, spaces, backend="tf", execution_spec={"threads": 1})
    assert executor.execute("call", np.ones((3, 2), np.float32)).tolist() == [[2.0]] * 3
import tensorflow as tf
assert tf.config.threading.get_inter_op_parallelism_threads() == 1
assert tf.config.threading.get_intra_op_parallelism_threads() == 1
assert executor.backend.single_threaded or tf.config.list_physical_devices("GPU")
"""


@pytest.mark.slow
def test_threads():
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
