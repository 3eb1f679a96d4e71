"""Executors in virtual time, against times worked out by hand."""

import json
import re
import sys
from dataclasses import asdict
from math import inf

import pytest

from rlgraph.core import SpecError
from rlgraph.execution import ActorDied, InProcessEngine
from rlgraph.execution.simulation import Costs, VirtualClock, measure, simulate
from rlgraph.execution.simulation.__main__ import main

IMPALA = {"type": "impala", "network_spec": [4], "rollout_length": 20}
PPO = {"type": "ppo", "network_spec": [4], "rollout_length": 20}
APEX = {
    "type": "apex",
    "network_spec": [4],
    "memory_spec": {"capacity": 1000},
    "update_spec": {"steps_before_update": 200, "update_interval": 16, "batch_size": 8},
}
#: Nothing costs anything.
FREE = Costs(**{name: 0 for name in Costs.__dataclass_fields__ if not name.startswith("b")}, bandwidth=inf)
#: A fragment of 20 steps of 8 environments takes 20 ms, an update of two fragments 3 ms.
BUSY = FREE.with_cost("acting", 6e-4).with_cost("stepping", 4e-4).with_cost("update", 1e-3)
BUSY = BUSY.with_cost("update_fragment", 1e-3)


def speed(agent, costs, actors, **options):
    return simulate(agent, "CartPole-v1", costs, actors, **options)


def test_work_shares_cores_and_delays_do_not():
    clock, done = VirtualClock(cores=2), []
    for seconds in (1.0, 1.0, 2.0):
        clock.work(seconds, lambda seconds=seconds: done.append((seconds, clock.time)))
    clock.after(0.5, lambda: done.append(("delay", clock.time)))
    clock.run(lambda: len(done) == 4)
    # Three share two cores until 1.5; what is left of the third has a core of its own.
    assert [name for name, _ in done] == ["delay", 1.0, 1.0, 2.0]
    assert [time for _, time in done] == pytest.approx([0.5, 1.5, 1.5, 2.5])
    clock.after(1.0, done.clear)
    clock.run(lambda: not done, until=3.0)
    assert clock.time == 3.0 and done
    with pytest.raises(RuntimeError, match="nothing is left to happen"):
        VirtualClock().run(lambda: False)


@pytest.mark.parametrize("actors", [1, 4])
def test_a_few_actors_are_the_limit_of_impala(actors):
    result = speed(IMPALA, BUSY, actors)
    assert result.steps_per_second == pytest.approx(actors * 160 / 0.02, rel=0.02)
    assert result.limit == "actors" and result.idle["learner"] == pytest.approx(
        1 - actors / 2 * 3e-3 / 0.02, abs=0.02
    )


def test_the_update_is_the_limit_of_many():
    result = speed(IMPALA, BUSY, 64)
    assert result.steps_per_second == pytest.approx(2 * 160 / 3e-3, rel=0.02)
    assert (result.limit, result.updates_per_second) == ("learner", pytest.approx(1 / 3e-3, rel=0.02))
    assert result.spent["updates"] == pytest.approx(1.0)
    # All fragments but those of two updates wait: 64 x 2 are under way.
    assert result.metrics["weights_age"] == pytest.approx(64, rel=0.1)


def test_rounds_of_synchronous_batches():
    """All act, then the update learns from all."""
    result = speed(PPO, BUSY, 8)
    assert result.steps_per_second == pytest.approx(8 * 160 / (0.02 + 1e-3 + 8e-3), rel=0.02)
    assert result.metrics["weights_age"] == 0
    assert result.idle["actors"] == pytest.approx(9 / 29, abs=0.02)


def test_latency_is_hidden_by_a_second_request():
    costs = BUSY.with_cost("latency", 5e-3)
    assert speed(IMPALA, costs, 1).steps_per_second == pytest.approx(8000, rel=0.02)
    assert speed(IMPALA, costs, 1, requests_per_actor=1).steps_per_second == pytest.approx(
        160 / 0.03 / (1 + 1.5e-3 / 0.03), rel=0.06
    )


def test_updates_of_apex_limit_its_actors():
    """An update for every 16 steps."""
    costs = BUSY.with_cost("draw", 5e-4).with_cost("insert", 1e-4)
    result = speed(APEX, costs, 16)
    assert result.steps_per_second == pytest.approx(16 / 1e-3, rel=0.02)
    assert result.metrics["replay_ratio"] == pytest.approx(0.5, rel=0.02)
    assert result.limit == "learner" and 0 < result.idle["replay shards"] < 1


def test_an_agent_that_learns_from_a_local_memory_is_refused():
    with pytest.raises(SpecError, match="agent: expected an agent that learns from fragments"):
        speed({"type": "dqn", "network_spec": [4]}, FREE, 1)


def test_costs_are_measured_and_used_by_the_command(tmp_path, capsys):
    agent = json.dumps({**IMPALA, "execution_spec": {"threads": 1}})
    file, task = tmp_path / "costs.json", ["--agent", agent, "--num-envs", "2"]
    main(["measure", str(file), *task, "--engine", "in_process"])
    costs = Costs.load(file)
    assert costs.acting > 0 and costs.stepping > 0 and costs.update + costs.update_fragment > 0
    assert costs.fragment_bytes > 20 * 2 * 4 * 4 and costs.weights_bytes > 0
    capsys.readouterr()
    main(["run", str(file), *task, "--actors", "1", "2", "--set", "update=0.1", "--sensitivity"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1::2]] == ["1", "2"]
    assert "learner; idle" in lines[1] and "update +" in lines[2]


@pytest.mark.parametrize(
    ("costs", "arguments", "message"),
    [
        (None, [], "SpecError: costs: .*costs.json"),
        ("{", [], "SpecError: costs: .* not valid JSON"),
        ("[1]", [], "costs.json: expected a mapping, as 'measure' writes it"),
        ({"acting": "a"}, [], "costs.json.acting: expected a number >= 0, given 'a'"),
        ({"more": 1}, [], "costs.json.more: Costs has no such key"),
        ({}, ["--set", "update"], "--set: expected COST=NUMBER, given 'update'"),
        ({}, ["--set", "updte=1"], "updte: Costs has no such key. Did you mean 'update'"),
        ({}, ["--set", "update=-1"], "update: expected a number >= 0, given -1.0"),
        ({}, ["--env", "Nowhere-v0"], "no environment 'Nowhere-v0'"),
        ({}, ["--agent", "{"], "SpecError: agent: .* not valid JSON"),
        ({}, ["--agent", "dqn"], "SpecError: agent: expected an agent that learns from fragments"),
        ({}, ["--executor", "sync"], "SpecError: unknown executor 'sync'"),
    ],
)
def test_mistakes_of_the_command(tmp_path, capsys, costs, arguments, message):
    file = tmp_path / "costs.json"
    if costs is not None:
        file.write_text(costs if isinstance(costs, str) else json.dumps({**asdict(FREE), **costs}))
    assert main(["run", str(file), *arguments]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_costs_are_written_into_a_folder_that_exists(tmp_path, capsys):
    assert main(["measure", str(tmp_path / "none" / "costs.json")]) == 2
    assert "expected a file in a folder that exists" in capsys.readouterr().err


class Hanging(InProcessEngine):
    """No call is ever done."""

    def wait(self, calls, timeout):
        return []


def test_an_actor_that_hangs_ends_the_measurement(monkeypatch):
    monkeypatch.setattr(sys.modules[measure.__module__], "SECONDS", 0.01)
    with pytest.raises(ActorDied, match=r"did not answer within 0\.01 s"):
        measure(IMPALA, "CartPole-v1", backend="numpy", engine=Hanging())


def test_costs_of_replay_shards():
    apex = {**APEX, "execution_spec": {"threads": 1}}
    costs = measure(apex, "CartPole-v1", backend="torch", engine="in_process", num_envs=2)
    assert costs.insert > 0 and costs.draw > 0 and costs.set_priorities > 0 and costs.batch_bytes > 8 * 4 * 4
