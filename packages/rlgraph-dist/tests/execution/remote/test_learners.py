"""Groups of learners in processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import BuildError, CollectiveError, ExecutionSpec, SpecError, memory_group, registry
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives.membership import Beat
from rlgraph.environments import make_environment
from rlgraph.execution import ImpalaExecutor, SyncBatchExecutor
from rlgraph.learning.group import LearnerGroup, signed, verified
from rlgraph.runs import resume, train
from rlgraph.runs.result_file import read_result
from rlgraph.workers import SingleThreadedWorker
from rlgraph.workers.group_training import _facts

IN_TWO = {"threads": 1, "learners": 2, "collective": {"type": "gloo", "timeout": 30.0}}
ON_TWO = {"threads": 1, "devices": ["cpu", "cpu"], "collective": IN_TWO["collective"]}
SMALL = {"network_spec": [8], "rollout_length": 16, "num_epochs": 1, "num_minibatches": 2}


def make_agent(kind="ppo", execution_spec=IN_TWO, **options):
    options = {**(SMALL if kind == "ppo" else {}), **options}
    spec = {"type": kind, "execution_spec": execution_spec, **options}
    return Agent.from_spec(spec, env="CartPole-v1", backend="torch", seed=3)


class Learners:
    """The members of a group in threads of this process, each the `LearnerGroup` of an agent."""

    def __init__(self, monkeypatch, size=2):
        members = memory_group(size, timeout=5.0)
        registry("rlgraph.collectives").register("in_memory", lambda rank, **_: members[rank])
        self.groups = []
        for rank in range(size):
            place = {"RLGRAPH_RANK": rank, "RLGRAPH_SIZE": size}
            for name, value in place.items():
                monkeypatch.setenv(name, str(value))
            monkeypatch.setenv("RLGRAPH_GROUP_ADDRESS", "memory:0")
            self.groups.append(LearnerGroup(ExecutionSpec(collective="in_memory"), object, {}))

    def do(self, *functions):
        def outcome(each):
            group, function = each
            try:
                return function(group)
            except CollectiveError as error:
                return str(error)

        with ThreadPoolExecutor(len(functions)) as pool:
            return list(pool.map(outcome, zip(self.groups, functions, strict=True)))


def test_the_first_weights_that_differ_are_named(monkeypatch):
    learners = Learners(monkeypatch)
    equal, other = {"a": np.ones(3), "b": np.zeros(2)}, {"a": np.ones(3), "b": np.array([0.0, 1e-9])}
    assert learners.do(*[lambda group: group.compare_weights(equal, "update 100")] * 2) == [None, None]
    said = learners.do(
        lambda group: group.compare_weights(equal, "update 100"),
        lambda group: group.compare_weights(other, "update 100"),
    )
    for text in said:
        assert "update 100, weights that must be equal are not" in text
        assert "the learners differ in 'b' (learner 0: " in text and "learner 1: " in text


def test_facts_that_differ_are_named_with_who_has_which(monkeypatch):
    learners = Learners(monkeypatch, 3)
    said = learners.do(
        *(
            lambda group, seed=seed: group.agree({"agent.type": "ppo", "seed": seed}, "x")
            for seed in (1, 1, 2)
        )
    )
    assert said == ["x: the learners differ in 'seed' (learner 0, 1: 1; learner 2: 2)"] * 3
    assert (
        learners.do(*(lambda group, yes=yes: group.all_are(yes) for yes in (True, True, False)))
        == [False] * 3
    )


def test_the_slowest_learner_is_the_one_that_waits_least(monkeypatch):
    group = Learners(monkeypatch, 3).groups[0]
    membership = SimpleNamespace(beats=[Beat(), Beat(), Beat()], waited=0.0)
    group._joined = SimpleNamespace(membership=membership)
    assert group.metrics() == {}
    group._measured = (time.monotonic() - 10.0, [0.0, 0.0, 0.0])
    membership.waited, membership.beats[1:] = 5.0, [Beat(waited=1.0), Beat(waited=7.0)]
    metrics = group.metrics()
    assert metrics["slowest_learner"] == 1.0
    assert metrics["learner_wait"] == pytest.approx(0.6, abs=0.01)
    assert group.metrics() == {}  # it is measured over seconds


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_agent(execution_spec={"learners": 2}), r"2 learners need a collective"),
        (
            lambda: make_agent(execution_spec={"learners": 0}),
            r"execution_spec.learners: expected an integer >= 1, given 0",
        ),
        (
            lambda: make_agent(execution_spec={"learners": 2, "collective": "glo"}),
            r"execution_spec.collective: unknown collective 'glo'. Did you mean 'gloo'",
        ),
        (
            lambda: make_agent(execution_spec={"learners": 2, "collective": "gloo", "launcher": "slurm"}),
            r"execution_spec.launcher: unknown launcher 'slurm'",
        ),
        (
            lambda: make_agent("dqn", update_spec={"batch_size": 33}),
            r"update_spec.batch_size: expected a multiple of 2, .* given 33",
        ),
        (
            lambda: make_agent("dqn").learn(updates=10),
            r"give one learner, or start this program with torchrun",
        ),
        (lambda: make_agent().learn(100, num_envs=3), r"num_envs: expected a multiple of 2, .* given 3"),
        (
            lambda: make_agent().learn(100, env=make_environment("CartPole-v1")),
            r"give a spec or a function, not one instance",
        ),
    ],
)
def test_what_a_group_cannot_do_is_refused_before_anything_starts(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_learners_of_a_launcher_have_the_devices_of_their_machine(monkeypatch):
    place = {
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "1",
    }
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    group = LearnerGroup(ExecutionSpec(devices=["cpu", "cuda:7"], collective="gloo"), object, {})
    assert (group.rank, group.size, group._device) == (3, 4, "cuda:7")
    with pytest.raises(BuildError, match="'cuda:7', which the torch backend does not have here"):
        make_agent(execution_spec={"devices": ["cpu", "cuda:7"], "collective": "gloo"})
    with pytest.raises(SpecError, match=r"execution_spec.devices: .* given 1: there is none for learner 1"):
        make_agent(execution_spec={"devices": ["cpu"], "collective": "gloo"})


def test_an_update_outside_of_learn_says_what_to_call():
    agent = make_agent("dqn", {**IN_TWO})
    with pytest.raises(CollectiveError, match=r"the other learners work during learn\(\) only"):
        agent.group.all_gather(b"")


@pytest.mark.slow
def test_a_learner_that_cannot_be_made_is_named_at_once():
    registry("rlgraph.collectives").register("here_alone", "rlgraph.torch.collective:GlooCollective")
    agent, began = (
        make_agent(execution_spec={**IN_TWO, "collective": {"type": "here_alone", "timeout": 20.0}}),
        time.monotonic(),
    )
    with pytest.raises(
        CollectiveError, match=r"learner 1 could not start: .*unknown collective 'here_alone'"
    ):
        agent.learn(64, num_envs=4)
    assert time.monotonic() - began < 60.0


def test_what_cannot_be_sent_to_other_learners_is_refused():
    document, env = (
        {"type": "ppo", "execution_spec": IN_TWO, **SMALL},
        lambda: make_environment("CartPole-v1"),
    )
    agent = Agent.from_spec(document, env=env, backend="torch", seed=3)
    with pytest.raises(SpecError, match="cannot be sent to another process"):
        agent.learn(64, num_envs=4)


@pytest.mark.slow
def test_two_learners_train_a_run_that_is_resumed_with_another_number(tmp_path):
    document = {
        "agent": {"type": "ppo", "execution_spec": ON_TWO, **SMALL},
        "environment": "CartPole-v1",
        "backend": "torch",
        "steps": 512,
        "seed": 3,
        "worker": {"num_envs": 4},
        "checkpoints": {"interval": 200},
        "evaluation": {"final_episodes": 1},
    }
    summary = train(document, tmp_path / "run")
    assert summary.training.timesteps == 512 and summary.training.updates == 8
    summary = resume(tmp_path / "run", steps=640, overrides=["agent.execution_spec.devices=[cpu]"])
    assert summary.training.timesteps == 640
    assert any("1 learners, it had 2" in departure for departure in summary.departures)
    assert read_result(tmp_path / "run").outcome == "finished"
    assert Agent.load(tmp_path / "run").executor.execution.device == "cpu"


@pytest.mark.slow
def test_learners_on_devices_train_an_agent():
    agent = make_agent(execution_spec=ON_TWO)
    result = agent.learn(64, num_envs=4)
    assert (result.timesteps, result.updates, agent.group.size) == (64, 1, 2)


@pytest.mark.slow
def test_a_killed_learner_is_named_within_seconds_and_none_is_left():
    agent, when, processes = make_agent(), [], {}

    def kill(worker, metrics):
        if not when:
            processes.update(agent.group._launched._processes)
            when.append(time.monotonic())
            os.kill(processes[1].pid, signal.SIGKILL)

    with pytest.raises(CollectiveError, match="learner 1 of 2 is lost: its process has ended") as error:
        agent.learn(100_000, num_envs=4, callbacks=kill, report_interval=200)
    assert time.monotonic() - when[0] < 10.0
    assert "learner 1 ended with status -9" in error.value.__notes__[0]
    assert processes[1].poll() is not None


KILLED = """
import os, signal
from rlgraph.agents import Agent
from rlgraph.workers import Callback

class Kill(Callback):
    def on_report(self, worker, metrics):
        os.kill(os.getpid(), signal.SIGKILL)

execution = {"threads": 1, "learners": 2, "collective": "gloo"}
agent = Agent.from_spec(
    {"type": "ppo", "execution_spec": execution, "network_spec": [8], "rollout_length": 16},
    env="CartPole-v1", backend="torch",
)
agent.learn(100_000, num_envs=4, callbacks=Kill(), report_interval=200)
"""


@pytest.mark.slow
def test_learner_0_that_is_killed_leaves_no_temporary_files(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == -signal.SIGKILL and list(tmp_path.iterdir())
    limit = time.monotonic() + 20.0
    while list(tmp_path.iterdir()):
        assert time.monotonic() < limit
        time.sleep(0.1)


PROGRAM = """
import sys
from rlgraph.agents import Agent
spec = {"type": "dqn", "execution_spec": {"threads": 1, "collective": "gloo"}, "network_spec": [8],
    "update_spec": {"batch_size": 8, "steps_before_update": 64}}
agent = Agent.from_spec(spec, env="CartPole-v1", backend="torch", seed=int(sys.argv[1]))
result = agent.learn(128, num_envs=2)
print(result.timesteps, result.updates, float(sum(abs(w).sum() for w in agent.get_weights().values())))
"""


def in_place(rank, address, *arguments):
    """A process that runs the program as ``torchrun`` would start it."""
    host, port = address.split(":")
    place = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": host, "MASTER_PORT": port}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, **place},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )


@pytest.mark.slow
def test_the_same_program_runs_in_each_process_of_a_launcher():
    address = free_address()
    first, second = (
        process.communicate(timeout=120) for process in [in_place(r, address, "3") for r in (0, 1)]
    )
    assert first[0].startswith("128 ") and first[0] == second[0], first + second


def test_seeds_that_must_be_equal_are_compared():
    workers = []
    for seed in (0, 1):
        spec = {"type": "ppo", **SMALL}
        agent = Agent.from_spec(spec, env="CartPole-v1", backend="torch", seed=seed)
        workers.append(SingleThreadedWorker(agent, "CartPole-v1"))
    first, second = (_facts(worker, 100) for worker in workers)
    assert {name for name in first if first[name] != second[name]} == {"seed"}
    for worker in workers:
        worker.terminate()


@pytest.mark.slow
def test_a_synchronous_batch_is_shared_by_the_actors_of_all_learners():
    spec = {"type": "ppo", "execution_spec": IN_TWO, **SMALL}
    executor = SyncBatchExecutor(spec, "CartPole-v1", actors=2, num_envs=2, backend="torch", seed=3)
    assert executor.actors == 1
    result = executor.execute(steps=256)
    executor.terminate()
    assert (result.timesteps, result.updates) == (256, 4)


def test_executors_that_take_steps_as_they_come_are_refused():
    spec = {"type": "impala", "execution_spec": IN_TWO, "network_spec": [8]}
    with pytest.raises(SpecError, match=r"use the executor 'sync_batch', or one learner"):
        ImpalaExecutor(spec, "CartPole-v1", engine="in_process", backend="torch", seed=3)


def test_only_what_learner_0_signed_is_read():
    assert verified(b"key", signed(b"key", b"order")) == b"order"
    for message in (signed(b"other", b"order"), signed(b"key", b"order")[:-1], b"order", b""):
        with pytest.raises(CollectiveError, match="not the process that started this learner"):
            verified(b"key", message)
