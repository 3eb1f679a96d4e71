"""Actors on distributed TensorFlow. Workers are threads here, with sessions on the learner's server as elsewhere."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from rlgraph.core import SpecError
from rlgraph.core.addresses import answers, free_address
from rlgraph.execution import ActorDied, ActorFailed, ActorMisconfigured, SyncBatchExecutor
from rlgraph.execution.distributed_tf import ImpalaExecutor, serve, server_queues, worker, worker_addresses
from rlgraph.execution.distributed_tf.cluster import listen
from rlgraph.execution.distributed_tf.engine import DistributedTFEngine
from rlgraph.execution.engine import Demand

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
PPO = {"type": "ppo", "network_spec": LAYERS, "rollout_length": 8, "num_epochs": 1, "num_minibatches": 1}
IMPALA = {"type": "impala", "network_spec": LAYERS, "rollout_length": 8}


@pytest.fixture(scope="module")
def cluster():
    """The document of a cluster. All engines of this module use its learner's server, which cannot be stopped."""
    return {"learner": [free_address()], "actor": [free_address(), free_address()]}


@contextmanager
def working(*tasks):
    """Calls in threads, which end with the engine."""
    threads = [threading.Thread(target=task, daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(20.0)
        assert not thread.is_alive()


@pytest.fixture
def engine(cluster):
    with working(*(lambda i=i: serve(cluster, i) for i in range(2))):
        engine = DistributedTFEngine(cluster=cluster, allow_network=True)
        yield engine
        engine.close()
        # The server of a learner ends with its process: nobody would be told any more.
        assert not any(answers(address, 1.0) for address in cluster["actor"])


class Echo:
    """In place of a `Host`: answers with what it is given, or does what it is told."""

    goes_on = threading.Event()

    def __init__(self, make):
        self.made = make

    def call(self, method, *arguments):
        if method == "wait":
            assert self.goes_on.wait(20.0)
        elif method == "fail":
            raise ValueError("bad luck")
        elif method == "refuse":
            raise SpecError("wrong", path="here")
        return self.made, b"|".join(map(bytes, arguments))

    def terminate(self):
        self.made = b"terminated"


@pytest.fixture
def echo(monkeypatch):
    monkeypatch.setattr(worker, "Host", Echo)
    Echo.goes_on.clear()


def answer(engine, call):
    assert engine.wait([call], 20.0) == [call]
    facts, body = engine.result(call)
    return facts, bytes(engine.fetch(body))


def test_calls_return_facts_and_body(engine, echo):
    first, second = engine.start(b"first", "actor 0"), engine.start(b"second", "actor 1")
    calls = [engine.call(actor, "echo", b"%d" % i, b"!") for i in range(3) for actor in (first, second)]
    found = [answer(engine, call) for call in calls]
    assert found == [(made, b"%d|!" % i) for i in range(3) for made in (b"first", b"second")]
    assert engine.wait([engine.call(first, "wait")], 0.05) == []
    Echo.goes_on.set()


def test_a_call_gets_what_was_shared_last(engine, echo):
    actor = engine.start(b"", "actor 0")
    shared = engine.share(b"old")
    assert answer(engine, engine.call(actor, "echo", b"given", shared)) == (b"", b"given|old")
    waiting = engine.call(actor, "wait")
    call = engine.call(actor, "echo", engine.share(b"new"), b"given")
    engine.share(b"newest")
    Echo.goes_on.set()
    assert answer(engine, call) == (b"", b"newest|given")
    assert engine.wait([waiting], 0.0) == [waiting]


def test_errors_come_with_their_traceback(engine, echo, monkeypatch):
    actor = engine.start(b"", "actor 0")
    with pytest.raises(ActorFailed, match="actor 0: ValueError: bad luck") as caught:
        answer(engine, engine.call(actor, "fail"))
    assert caught.value.log.startswith("Traceback")
    with pytest.raises(ActorMisconfigured, match="actor 0: SpecError: here: wrong"):
        answer(engine, engine.call(actor, "refuse"))
    monkeypatch.setattr(server_queues, "VERSION", "1.15.0")
    expected = (
        rf"expected TensorFlow {server_queues.tf.__version__}, .* given 1.15.0 .*: pip install tensorflow==2"
    )
    with pytest.raises(ActorMisconfigured, match=expected):
        answer(engine, engine.call(actor, "echo"))


def test_a_worker_whose_object_is_given_up_becomes_the_next_one(engine, echo):
    """What it still answers is not taken for an answer of the next one."""
    actor, other = engine.start(b"old", "actor 0"), engine.start(b"other", "actor 1")
    assert answer(engine, engine.call(actor, "echo", b"1")) == (b"old", b"1")
    late = engine.call(actor, "wait")
    engine.kill(actor)
    with pytest.raises(ActorDied, match="actor 0 was killed"):
        engine.result(late)
    with pytest.raises(ActorDied, match="actor 0 was killed"):
        engine.result(engine.call(actor, "echo"))
    actor = engine.start(b"new", "actor 0 (incarnation 1)")
    call = engine.call(actor, "echo", b"2")
    assert engine.wait([call], 0.05) == []
    Echo.goes_on.set()
    assert answer(engine, call) == (b"new", b"2")
    assert answer(engine, engine.call(other, "echo", b"3")) == (b"other", b"3")


def test_a_worker_waits_longer_than_an_operation(cluster, echo, monkeypatch):
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    with working(lambda: serve(cluster, 0)):
        engine = DistributedTFEngine(cluster=cluster, allow_network=True)
        actor = engine.start(b"", "actor 0")
        for text in (b"1", b"2"):
            time.sleep(0.5)
            assert answer(engine, engine.call(actor, "echo", text)) == (b"", text)
        assert engine.wait([engine.call(actor, "wait")], 0.0) == []
        Echo.goes_on.set()
        engine.close()


def test_a_worker_that_is_gone_is_named(cluster, monkeypatch):
    """Its address says so: nothing listens there any more."""
    monkeypatch.setattr(worker_addresses, "_INTERVAL", 0.05)
    engine = DistributedTFEngine(cluster=cluster, allow_network=True)
    with listen(cluster["actor"][0], "test"):
        call = engine.call(engine.start(b"", "actor 0"), "echo")
        assert engine.wait([call], 1.0) == []
    assert engine.wait([call], 10.0) == [call]
    with pytest.raises(ActorDied, match=f"actor 0: nothing answers at {cluster['actor'][0]} any more"):
        engine.result(call)
    engine.close()


def test_workers_that_never_come_are_named(cluster):
    engine = DistributedTFEngine(cluster=cluster, connect_timeout=0.2, allow_network=True)
    with (
        listen(cluster["actor"][0], "test"),
        pytest.raises(
            SpecError, match=rf"within 0.2 s, nobody came to actor 1 \({cluster['actor'][1]}\): start"
        ),
    ):
        engine.check_room(Demand(2, 0))
    with pytest.raises(SpecError, match="expected at least 3 workers, 2 for actors and 1 for replay"):
        engine.check_room(Demand(2, 0, shards=1))
    engine.close()


def test_addresses_in_use(cluster):
    with listen("127.0.0.1:0", "test") as used:
        address = f"127.0.0.1:{used.getsockname()[1]}"
        wrong = {"learner": [address], "actor": cluster["actor"]}
        with pytest.raises(SpecError, match=rf"cluster.learner\[0\]: expected a free address .* {address} "):
            DistributedTFEngine(cluster=wrong, allow_network=True)
        with pytest.raises(SpecError, match=rf"cluster.actor\[0\]: expected a free address .* {address} "):
            serve({"learner": cluster["learner"], "actor": [address]}, 0)


def test_the_same_results_as_in_this_process(engine):
    """Agents that need the newest weights run in lock-step."""
    weights = []
    for where in (engine, "in_process"):
        executor = SyncBatchExecutor(PPO, "CartPole-v1", engine=where, backend="tf", seed=1, num_envs=4)
        result = executor.execute(steps=320)
        weights.append(executor.local_agent.get_weights())
        assert (result.timesteps, result.updates, executor.actor_restarts) == (320, 5, 0)
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name], err_msg=name)


def test_the_same_program_on_every_machine(cluster):
    """As in RLgraph 0.5: the task is in the agent's execution_spec."""

    def execute(job, index):
        task = {"job": job, "task_index": index, "cluster_spec": cluster}
        execution = {"mode": "distributed", "distributed_spec": task}
        executor = ImpalaExecutor(
            agent_config={**IMPALA, "execution_spec": execution},
            environment_spec="CartPole-v1",
            backend="tf",
            num_envs=4,
            allow_network=job == "learner",
        )
        return executor.execute(steps=640), executor

    workers = []
    with working(*(lambda i=i: workers.append(execute("actor", i)[0]) for i in range(2))):
        result, learner = execute("learner", 0)
    assert (result.timesteps, result.updates, learner.actor_restarts) == (640, 10, 0)
    assert [each.timesteps for each in workers] == [0, 0]


def test_a_learner_that_is_lost_while_a_worker_connects(monkeypatch, caplog):
    """Something answers at the address, but no server of TensorFlow; then nothing does any more."""
    monkeypatch.setattr(worker, "PATIENCE", 0.5)
    address = free_address()
    thread = threading.Thread(target=worker.work, args=(address, 3, 5.0), daemon=True)
    with worker._listening(address, "here"):
        thread.start()
        time.sleep(1.0)
        assert thread.is_alive()
    thread.join(5.0)
    assert not thread.is_alive() and f"worker 3: the learner at {address} is gone" in caplog.text
