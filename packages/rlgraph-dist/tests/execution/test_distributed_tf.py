"""Actors on distributed TensorFlow: workers are threads here, which connect to the learner's server as others do."""

import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from rlgraph.execution import SyncBatchExecutor, packed
from rlgraph.execution.distributed_tf import serve
from rlgraph.execution.distributed_tf.cluster import free_address
from rlgraph.execution.distributed_tf.engine import DistributedTFEngine

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
    "execution_spec": {"threads": 1},
}
IMPALA = {"type": "impala", "network_spec": PPO["network_spec"], "rollout_length": 8}


@pytest.fixture(scope="module")
def cluster():
    """A cluster document of this process; TensorFlow cannot stop its server."""
    return {"learner": [free_address()], "actor": [free_address(), free_address()]}


@contextmanager
def working(cluster, *indices):
    """Workers in threads; they end with the engine."""
    threads = [threading.Thread(target=serve, args=(cluster, i, 30.0), daemon=True) for i in indices]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(10.0)
        assert not thread.is_alive()


@pytest.fixture
def engine(cluster):
    with ExitStack() as stack:
        stack.enter_context(working(cluster, 0, 1))
        engine = DistributedTFEngine(cluster=cluster)
        stack.callback(engine.close)
        yield engine


def result_of(engine, call, timeout=10.0):
    assert engine.wait([call], timeout) == [call]
    facts, body = engine.result(call)
    return bytes(facts), bytes(engine.fetch(body))


class Echo:
    """Returns what it is given."""

    def echo(self, *arguments):
        return b"%d" % len(arguments), b"|".join(map(bytes, arguments))

    def nothing(self):
        return b"", b""


def echo(engine, name="actor 0"):
    from rlgraph.execution.host import pack_message

    made = packed(dict, "test")  # classes of test files cannot be imported elsewhere
    assert pack_message
    return engine.start(made, name)


def test_the_same_results_as_in_this_process(engine):
    weights = []
    for where in (engine, "in_process"):
        executor = SyncBatchExecutor(
            PPO, "CartPole-v1", engine=where, backend="torch", seed=1, actors=2, num_envs=4
        )
        result = executor.execute(steps=320)
        weights.append(executor.local_agent.get_weights())
        assert (result.timesteps, result.updates, executor.actor_restarts) == (320, 5, 0)
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name], err_msg=name)
