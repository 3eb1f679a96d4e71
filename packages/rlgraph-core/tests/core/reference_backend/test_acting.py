"""Programs that act on NumPy: their kernels compute what the single source does."""

import numpy as np
import pytest

from rlgraph.components import Dense, QPolicy
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

INPUTS = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
GIVEN = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("biases", [0.5, False])
@pytest.mark.parametrize("activation", [None, "relu", "tanh"])
def test_dense(activation, biases):
    executor = GraphExecutor(Dense(5, activation, biases_spec=biases), INPUTS, backend="numpy")
    weights = executor.get_weights()
    outputs = GIVEN @ weights["dense/weights"] + (0.5 if biases else 0.0)
    expected = {None: lambda x: x, "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[activation](outputs)
    act = executor.numpy_program("call")
    np.testing.assert_allclose(act(GIVEN), expected, atol=1e-6)
    np.testing.assert_array_equal(act(GIVEN), executor.execute("call", GIVEN))


def test_best_actions():
    actions = Dict({"whole": IntBox(5), "small": IntBox(3, dtype="uint8"), "truth": BoolBox()})
    policy = QPolicy([{"type": "dense", "units": 6, "activation": "tanh"}], actions)
    spaces = {"observations": INPUTS["inputs"]}
    executor = GraphExecutor(policy, spaces, action_space=actions, backend="numpy")
    values = executor.execute("get_q_values", GIVEN)["q_values"]
    best = executor.numpy_program("get_deterministic_action")(GIVEN)["action"]
    for key, dtype in {"whole": "int64", "small": "uint8", "truth": "bool"}.items():
        assert best[key].dtype == dtype
        np.testing.assert_array_equal(
            best[key], [max(range(len(row)), key=list(row).__getitem__) for row in values[key]]
        )


class Host(Component):
    """Hands out an array of its own, or new ones."""

    def __init__(self):
        self.buffer = np.zeros(2, np.float32)
        super().__init__(scope="host")

    @rlgraph_api
    @graph_fn(host=True, spaces=FloatBox(shape=(2,)))
    def own(self):
        return self.buffer

    @rlgraph_api
    @graph_fn(host=True, spaces=FloatBox(shape=(2,)), shares=())
    def new(self):
        self.made = self.buffer + 1.0
        return self.made


def test_only_what_is_the_hosts_own_is_copied():
    host = Host()
    executor = GraphExecutor(host, {}, backend="numpy")
    own, new = executor.execute("own"), executor.execute("new")
    assert own is not host.buffer
    np.testing.assert_array_equal(own, host.buffer)
    np.testing.assert_array_equal(new, [1.0, 1.0])
    assert "copy_array" not in executor.program("new").__code__.co_names
    assert "copy_array" in executor.program("own").__code__.co_names
