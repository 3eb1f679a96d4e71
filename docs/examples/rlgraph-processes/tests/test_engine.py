"""Actors in processes: the same results as in one process, and processes that are killed, stopped or raise errors."""

import os
import signal
from functools import partial

import numpy as np
import pytest

from rlgraph.execution import ActorDied, ActorFailed, SyncBatchExecutor, packed
from rlgraph.workers import Callback
from rlgraph_processes import ProcessEngine

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
    "execution_spec": {"threads": 1},
}


@pytest.fixture
def engine():
    engine = ProcessEngine()
    yield engine
    engine.close()


def make(engine, **options):
    options = {"backend": "torch", "seed": 1, "actors": 2, "num_envs": 4, **options}
    return SyncBatchExecutor(PPO, "CartPole-v1", engine=engine, **options)


def test_processes_do_what_one_process_does():
    weights = []
    for engine in ("processes", "in_process"):
        executor = make(engine)
        executor.execute(steps=320)
        weights.append(executor.local_agent.get_weights())
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name], err_msg=name)


class Signals(Callback):
    """Sends a signal to the first process after the second update."""

    def __init__(self, engine, number):
        self.engine, self.number, self.processes = engine, number, []

    def on_update(self, worker, results):
        self.processes.append(self.engine._actors[0].process)
        if len(self.processes) == 2:
            os.kill(self.processes[0].pid, self.number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_is_replaced(engine, number):
    executor, signals = make(engine, sample_timeout=4.0), Signals(engine, number)
    result = executor.execute(steps=320, callbacks=signals)
    assert (result.timesteps, result.updates) == (320, 5)
    assert executor.actor_restarts == 1
    assert signals.processes[0].poll() == -signal.SIGKILL
    engine.close()
    assert all(actor.poll() is not None for actor in signals.processes)


def test_errors_bring_their_traceback(engine):
    actor = engine.start(packed(dict, "test"), "actor 0")
    call = engine.call(actor, "no_such_method")
    assert engine.wait([call], 60.0) == [call]
    with pytest.raises(
        ActorFailed,
        match=r"actor 0: AttributeError: .*has no attribute 'no_such_method'",
    ) as caught:
        engine.result(call)
    assert caught.value.log.startswith("Traceback")


def test_a_process_that_ends_at_once_is_an_actor_that_died(engine, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    actor = engine.start(packed(partial(bytes, 10**7), "test"), "actor 0")
    actor.process.wait()
    call = engine.call(actor, "hex")
    assert engine.wait([call], 60.0) == [call]
    with pytest.raises(ActorDied, match="actor 0: exit status 1"):
        engine.result(call)
    engine.kill(actor)
    engine.kill(actor)
    assert engine._actors == []
