"""What fails is started again; what is lost is a fragment."""

import sys
from functools import partial
from importlib.metadata import distribution, version
from types import SimpleNamespace

import pytest
from doubles import raising

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.core.registry import Plugin
from rlgraph.execution import InProcessEngine, SyncBatchExecutor, TooManyRestarts
from rlgraph.execution.engine import ActorDied, ActorFailed, ActorMisconfigured
from rlgraph.execution.remote import host
from rlgraph.execution.remote.host import Host, packed
from rlgraph.execution.remote.sampling import SamplerSpec

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
}


class Unreliable(InProcessEngine):
    """Calls fail, hang or return garbage, by the number of the call.

    Args:
        faults: number of a call -> what happens to it.
    """

    def __init__(self, faults):
        super().__init__()
        self.faults, self.calls, self.started = faults, 0, 0

    def start(self, make, name, is_light=False):
        self.started += 1
        return super().start(make, name, is_light)

    def call(self, actor, method, *arguments):
        self.calls += 1
        call = super().call(actor, method, *arguments)
        call.kind = self.faults.get(self.calls - 1)
        if call.kind == "dies":
            call.fault = ActorDied("killed")
        elif call.kind == "fails":
            call.fault = ActorFailed("bad luck", "Traceback")
        elif call.kind == "garbage":
            call.body = call.body[:-40]
        return call

    def wait(self, calls, timeout):
        return [call for call in calls if call.kind != "hangs"]


def make(faults, limit=10):
    agent = Agent.from_spec(PPO, env="CartPole-v1", backend="torch", execution_spec={"threads": 1}, seed=1)
    engine = Unreliable(faults)
    timeouts = {"start_timeout": 0.01, "sample_timeout": 0.01}
    return engine, SyncBatchExecutor(
        agent, "CartPole-v1", engine=engine, actors=2, num_envs=4, max_actor_restarts=limit, **timeouts
    )


@pytest.mark.parametrize("kind", ["dies", "garbage", "hangs"])
def test_a_fault_costs_its_fragment(kind):
    engine, executor = make({3: kind})
    result = executor.execute_timesteps(2 * 4 * 8 * 4)
    assert (result.timesteps, result.updates) == (256, 4)
    assert engine.calls == 2 * 4 + 1
    assert engine.started == 3
    assert (executor.actor_restarts, executor.lost_fragments) == (1, 1)
    assert executor._actors.incarnations == [0, 1]


def test_an_engine_forgets_what_is_killed():
    engine, executor = make({0: "dies", 3: "garbage"})
    executor.execute_timesteps(256)
    assert (engine.started, len(engine._actors)) == (4, 2)
    executor.terminate()
    assert not engine._actors


def test_too_many_restarts_name_all_causes():
    _, executor = make({1: "dies", 2: "garbage", 3: "dies"}, limit=2)
    with pytest.raises(
        TooManyRestarts,
        match=r"(?s)actor 1 failed 3 times.*max_actor_restarts is 2.*1\. killed\n2\. actor 1: expected the message",
    ):
        executor.execute_timesteps(1000)


def test_each_actor_may_be_started_again_as_often():
    """A node with many actors that leaves costs each of them one restart."""
    _, executor = make({0: "dies", 1: "dies", 2: "dies", 3: "dies"}, limit=2)
    assert executor.execute_timesteps(256).updates == 4
    assert executor._actors.incarnations == [2, 2]
    assert executor.actor_restarts == 4


def test_what_another_process_would_fail_at_again_stops_the_run_at_once(monkeypatch):
    monkeypatch.setattr(SamplerSpec, "__call__", raising(SpecError("no such game")))
    executor = SyncBatchExecutor("random", "CartPole-v1", backend="numpy", actors=2)
    with pytest.raises(
        ActorMisconfigured,
        match=r"actor 0 \(incarnation 0\): SpecError: no such game\nAnother process would fail as well",
    ):
        executor.execute(steps=100)
    assert executor.actor_restarts == 0


def test_other_versions_in_the_process_of_an_actor_are_refused(monkeypatch):
    monkeypatch.setattr(host, "version_of", lambda name: None if name == "rlgraph-core" else version(name))
    core = version("rlgraph-core")
    executor = SyncBatchExecutor("random", "CartPole-v1", backend="numpy")
    with pytest.raises(
        ActorMisconfigured,
        match=rf"program that trains, rlgraph-core {core}, given none in .*: pip install rlgraph-core=={core} on every",
    ):
        executor.execute(steps=100)


@pytest.mark.parametrize("named", ["corridor", "corridor_package.algorithm"])
def test_versions_of_plug_ins_that_are_used_are_compared(monkeypatch, named):
    plugin = Plugin("corridor", "corridor_package:Corridor", distribution("pytest"))
    monkeypatch.setattr(host, "registry", lambda group: SimpleNamespace(plugins=lambda: [plugin]))
    assert host._versions(["dense"]).keys() == set(host._OWN)
    assert host._versions([named]).keys() == {*host._OWN, "pytest"}


def test_logs_of_actors_that_failed(tmp_path):
    """With a folder they are there, of each incarnation; without one they are in the message."""
    failing = {1: "fails", 2: "fails"}
    _, executor = make(failing, limit=1)
    executor.folder = tmp_path
    with pytest.raises(TooManyRestarts) as caught:
        executor.execute_timesteps(1000)
    assert str(caught.value).splitlines()[1:] == ["1. bad luck", "2. bad luck"]
    logs = {file.name: file.read_text() for file in (tmp_path / "actors").iterdir()}
    assert logs.keys() == {"actor-1.0.log", "actor-1.1.log"}
    assert all(log.endswith(" bad luck\nTraceback\n") for log in logs.values())
    _, executor = make(failing, limit=1)
    with pytest.raises(TooManyRestarts, match=r"1\. bad luck\nTraceback\n2\. bad luck\nTraceback"):
        executor.execute_timesteps(1000)


def test_what_no_other_process_can_make_is_refused(monkeypatch):
    with pytest.raises(
        SpecError, match=r"engine\.there: cannot be sent to another process .* instead of lambdas"
    ):
        packed(lambda: None, "engine.there")
    corridor = type("Corridor", (), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Corridor", corridor, raising=False)
    for make in (corridor, partial(dict, env=corridor), partial(dict, envs=[corridor()])):
        with pytest.raises(
            SpecError, match=r"engine\.there: expected .* given Corridor of the program itself"
        ):
            packed(make, "engine.there")
    assert Host(packed(partial(dict, env=float), "engine.there")).call("get", "env") is float
