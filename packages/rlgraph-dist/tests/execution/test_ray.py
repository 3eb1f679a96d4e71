"""Actors as processes of Ray: the same results as in this process, and processes that are killed or stopped."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("ray")

import psutil

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.execution import ApexExecutor, SyncBatchExecutor
from rlgraph.execution.engine import Demand
from rlgraph.execution.ray.engine import RayEngine
from rlgraph.workers import Callback

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
}


def hosts():
    """The processes of this program's actors."""
    started = psutil.Process().children(recursive=True)
    return sorted(process.pid for process in started if command_of(process).startswith("ray::_RayHost"))


def command_of(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it ended meanwhile
        return ""


def all_ended():
    """Whether no actor is left, after at most 20 seconds: Ray ends them in its own time."""
    until = time.monotonic() + 20.0
    while hosts() and time.monotonic() < until:
        time.sleep(0.1)
    return not hosts()


@pytest.fixture(scope="module")
def engine():
    engine = RayEngine(num_cpus=2)
    yield engine
    engine.close()
    assert all_ended()


def make(engine, **options):
    agent = Agent.from_spec(PPO, env="CartPole-v1", backend="torch", execution_spec={"threads": 1}, seed=1)
    return SyncBatchExecutor(agent, "CartPole-v1", engine=engine, actors=2, num_envs=4, **options)


def test_ray_does_what_this_process_does(engine):
    weights = []
    for where in (engine, "in_process"):
        executor = make(where)
        executor.execute(steps=320)
        weights.append(executor.local_agent.get_weights())
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name], err_msg=name)


def test_too_little_room_is_told_before_anything_starts(engine):
    ppo = {**PPO, "execution_spec": {"threads": 1}}
    executor = SyncBatchExecutor(ppo, "CartPole-v1", engine=engine, actors=3, backend="torch")
    with pytest.raises(
        SpecError,
        match=r"executor_spec.actors: expected 3 CPUs, 3 for 3 actors; the cluster has 2, of which [\d.]+ are free",
    ):
        executor.execute(steps=100)
    assert all_ended()
    second = RayEngine(gpus_per_actor=0.5)
    with pytest.raises(SpecError, match=r"expected 1 GPUs, 1 for 2 actors; the cluster has 0, of which 0"):
        second.check_room(Demand(2, 0))
    second.close()
    with pytest.raises(
        SpecError, match=r"need 1,000,000 MB, and Ray's object store has [\d,]+ MB: .*=10{12}\)"
    ):
        engine.check_room(Demand(2, 10**12))


class _Signals(Callback):
    """Sends a signal to one process after the second update."""

    def __init__(self, number):
        self.number, self.updates = number, 0

    def on_update(self, worker, results):
        self.updates += 1
        if self.updates == 2:
            os.kill(hosts()[0], self.number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_is_replaced(engine, number):
    executor = make(engine, sample_timeout=4.0)
    result = executor.execute(steps=320, callbacks=_Signals(number))
    assert (result.timesteps, result.updates) == (320, 5)
    assert executor.actor_restarts == 1
    assert all_ended()


def test_actors_and_shards_that_are_killed_are_replaced(engine):
    """Two actors and two shards on two CPUs; whichever is killed, every update that is due is done."""
    apex = {
        "type": "apex",
        "network_spec": PPO["network_spec"],
        "memory_spec": {"capacity": 200},
        "update_spec": {"steps_before_update": 64, "update_interval": 8, "batch_size": 8},
        "execution_spec": {"threads": 1},
    }
    executor = ApexExecutor(
        apex, "CartPole-v1", engine=engine, actors=2, num_envs=4, backend="torch", seed=1, sample_timeout=10.0
    )
    result = executor.execute(steps=640, callbacks=_Signals(signal.SIGKILL))
    assert (result.timesteps, result.updates) == (640, (640 - 64) // 8 + 1)
    assert executor.actor_restarts + executor.shard_restarts == 1
    assert all_ended()


def test_learners_of_a_group_are_actors_too(engine):
    execution = {"threads": 1, "learners": 2, "collective": "gloo", "launcher": "ray"}
    agent = Agent.from_spec({**PPO, "execution_spec": execution}, env="CartPole-v1", backend="torch", seed=3)
    assert agent.learn(64, num_envs=4).updates == 2
