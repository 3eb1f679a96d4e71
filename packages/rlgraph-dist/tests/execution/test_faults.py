"""What fails is started again; what is lost is a fragment."""

import pickle
import sys
from functools import partial

import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.execution import InProcessEngine, SyncBatchExecutor, TooManyRestarts
from rlgraph.execution.engine import ActorDied, packed

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
    assert executor.actor_restarts == 1
    assert executor._actors.incarnations == [0, 1]


def test_too_many_restarts_name_all_causes():
    _, executor = make({1: "dies", 2: "garbage", 3: "dies"}, limit=2)
    with pytest.raises(
        TooManyRestarts,
        match=r"(?s)failed 3 times.*max_actor_restarts is 2.*1\. killed\n2\. actor 1: expected the message",
    ):
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
    assert pickle.loads(packed(partial(dict, env=float), "engine.there"))() == {"env": float}
