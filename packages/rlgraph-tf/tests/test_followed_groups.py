"""A NumPy program of a small policy sees every write, whichever way the new values reach it."""

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.tf import storage

INPUTS = np.ones((1, 3), np.float32)


class Learner(Component):
    """A layer that an optimizer steps, and that is doubled by a program of its own."""

    def __init__(self):
        self.layer, self.optimizer = Dense(2, scope="layer"), Adam(learning_rate=0.1)
        super().__init__(self.layer, self.optimizer, scope="learner")

    @rlgraph_api
    def act(self, inputs):
        return self.layer.call(inputs)

    @rlgraph_api
    def update(self, inputs):
        self.optimizer.step(self.layer.variables(), self._loss(self.layer.call(inputs)))

    @rlgraph_api
    def double(self):
        return self._double(self.layer.variables())

    @graph_fn
    def _loss(self, ops, outputs):
        return ops.mean(ops.square(outputs))

    @graph_fn(returns=0)
    def _double(self, ops, variables):
        for variable in variables:
            ops.assign(variable, variable * 2.0)


@pytest.fixture(params=[False, True], ids=["graph", "xla"])
def executor(request):
    inputs = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
    return GraphExecutor(
        Learner(), inputs, backend="tf", execution_spec={"compile": request.param, "seed": 3}
    )


def by_hand(executor):
    weights = executor.get_weights()
    return INPUTS @ weights["layer/weights"] + weights["layer/biases"]


def test_every_kind_of_write(executor, tmp_path):
    act = executor.numpy_program("act")
    start = act(INPUTS)
    executor.execute("update", INPUTS)
    after_update = act(INPUTS)
    assert not np.allclose(after_update, start)
    np.testing.assert_allclose(after_update, by_hand(executor), atol=1e-6)
    executor.execute("double")
    np.testing.assert_allclose(act(INPUTS), 2 * after_update, atol=1e-6)
    executor.save(tmp_path / "saved")
    executor.set_weights({"layer/biases": np.array([5.0, 6.0], np.float32)})
    np.testing.assert_allclose(act(INPUTS), by_hand(executor), atol=1e-6)
    executor.load(tmp_path / "saved")
    np.testing.assert_allclose(act(INPUTS), 2 * after_update, atol=1e-6)


def test_update_hands_out_what_is_followed(executor):
    executor.numpy_program("act")
    executor.execute("update", INPUTS)
    (handed_out,) = executor.storage.handed_out.values()
    assert handed_out.shape == (8,)  # weights and biases of the layer


def test_a_program_made_before_anybody_followed_writes_in_silence(executor):
    executor.execute("double")
    act = executor.numpy_program("act")
    executor.execute("update", INPUTS)
    np.testing.assert_allclose(act(INPUTS), by_hand(executor), atol=1e-6)
    before = act(INPUTS)
    executor.execute("double")
    np.testing.assert_allclose(act(INPUTS), 2 * before, atol=1e-6)
    assert not executor.storage.handed_out


def test_large_groups_stay_where_they_are(monkeypatch):
    monkeypatch.setattr(storage, "FOLLOWED", 7)
    executor = GraphExecutor(Learner(), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend="tf")
    act = executor.numpy_program("act")
    executor.execute("update", INPUTS)
    np.testing.assert_allclose(act(INPUTS), by_hand(executor), atol=1e-6)
    assert not executor.storage.handed_out
