"""Every number that an update returns is in all files of a run, as the mean since the last row."""

import csv
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from doubles import killed_at, told
from tensorboard.compat.proto.event_pb2 import Event

from rlgraph.agents import Agent
from rlgraph.algorithms.intrinsic_rewards import IntrinsicRewards
from rlgraph.algorithms.ppo import PPO
from rlgraph.core import InputError
from rlgraph.learning.learner import Learner
from rlgraph.runs import RunFolderError, resume, train
from rlgraph.runs.records import Records, read_metrics
from rlgraph.runs.run_files import parse
from rlgraph.runs.run_state import ReportState
from rlgraph.workers import SingleThreadedWorker, record_data_set

LAYERS = [{"type": "dense", "units": 4}]
OFTEN = {"update_interval": 2, "batch_size": 4, "steps_before_update": 4}
CLIPPED = {"learning_rate": [1e-3, 0.0], "clip_grad_norm": 0.5}
ROLLOUTS = {"network_spec": LAYERS, "rollout_length": 4, "optimizer_spec": CLIPPED}
REPLAY = {
    "network_spec": LAYERS,
    "update_spec": OFTEN,
    "memory_spec": {"capacity": 50},
    "optimizer_spec": CLIPPED,
}
#: Registered name -> options.
AGENTS = {
    "ppo": {**ROLLOUTS, "num_epochs": 2, "num_minibatches": 2},
    "a2c": ROLLOUTS,
    "impala": ROLLOUTS,
    "dqn": REPLAY,
    "c51": REPLAY,
    "qr_dqn": REPLAY,
    "rainbow": {**REPLAY, "memory_spec": {"type": "prioritized_replay", "capacity": 50}},
    "apex": {**REPLAY, "memory_spec": {"type": "prioritized_replay", "capacity": 50}},
    "sac": REPLAY,
    "td3": REPLAY,
}
CONTINUOUS = ("sac", "td3")


class StandIn:
    """A module of W&B that writes down its rows."""

    def __init__(self):
        self.rows = []

    def init(self, **arguments):
        return SimpleNamespace(
            log=lambda scalars, step: self.rows.append((step, scalars)), finish=lambda: None
        )


@pytest.fixture
def wandb(monkeypatch):
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "wandb", stand_in)
    return stand_in


@pytest.fixture
def updates(monkeypatch):
    """What each update returned, as the program gave it."""
    found, whole = [], Learner._learned

    def updated(self, results):
        found.append({name: float(value) for name, value in results.items()})
        return whole(self, results)

    monkeypatch.setattr(Learner, "_learned", updated)
    return found


def document(agent, backend, **more):
    return {
        "agent": {"type": agent, **AGENTS[agent]},
        "environment": "Pendulum-v1" if agent in CONTINUOUS else "CartPole-v1",
        "backend": backend,
        "steps": 32,
        "seed": 3,
        "logging": {"report_interval": 12, "wandb": {"mode": "offline"}},
        "evaluation": {"interval": None, "final_episodes": 1, "policy": "last"},
        **more,
    }


def csv_rows(folder):
    with (folder / "metrics.csv").open(newline="") as file:
        return [{name: float(x) for name, x in row.items() if x} for row in csv.DictReader(file)]


def event_rows(folder):
    rows = []
    for file in sorted((folder / "tensorboard").iterdir()):
        content = file.read_bytes()
        while content:
            size = int.from_bytes(content[:8], "little")
            event = Event.FromString(content[12 : 12 + size])
            if event.summary.value:
                values = {value.tag: value.simple_value for value in event.summary.value}
                rows.append({"timesteps": event.step, **values})
            content = content[16 + size :]
    return rows


def algorithm_of(agent):
    return Agent.of(agent).algorithm_class


@pytest.mark.parametrize("agent", AGENTS)
def test_every_number_is_in_all_files(agent, backend, tmp_path, undrawn, wandb, updates):
    train(document(agent, backend), tmp_path)
    rows = read_metrics(tmp_path)
    assert updates[0].keys() == {"loss", *algorithm_of(agent).metrics}
    assert [row["timesteps"] for row in rows] == [12, 24, 32]
    done = 0
    for row in rows:
        mine, done = updates[done : int(row["updates"])], int(row["updates"])
        assert mine and {"loss", *mine[0]} <= row.keys()
        for name in mine[0]:
            assert row[name] == pytest.approx(np.mean([each[name] for each in mine]), rel=1e-6), name
        last = row["timesteps"] - 1
        assert row["learning_rate"] == pytest.approx(1e-3 * (1.0 - last / 32))
        assert row["updates_per_second"] > 0
        if "memory_spec" in AGENTS[agent]:
            assert 1 <= row["replay_size"] <= row["timesteps"]
    assert done == len(updates)
    assert csv_rows(tmp_path) == rows
    assert event_rows(tmp_path) == [pytest.approx(row, rel=1e-6) for row in rows]
    assert [{"timesteps": step, **scalars} for step, scalars in wandb.rows] == rows


@pytest.mark.parametrize("agent", ["bc", "dqfd", "iql"])
def test_updates_on_a_data_set_have_rows_too(agent, backend, tmp_path, undrawn, wandb, updates):
    """Every `report_interval` of them, and for the last ones; the files that draw rows count updates."""
    environment = "Pendulum-v1" if agent == "iql" else "CartPole-v1"
    action = (lambda state: [0.1]) if agent == "iql" else lambda state: int(state[2] > 0.0)
    data = record_data_set(action, environment, 1, tmp_path / "shown.npz", seed=1)
    options = {
        "type": agent,
        "network_spec": LAYERS,
        "update_spec": {"batch_size": 4},
        "optimizer_spec": CLIPPED,
    }
    content = document("dqn", backend, environment=environment, steps=0)
    train({**content, "agent": options, "data": {"file": str(data), "updates": 30}}, tmp_path / "run")
    rows = read_metrics(tmp_path / "run")
    assert updates[0].keys() == {"loss", *algorithm_of(agent).metrics}
    assert [(row["timesteps"], row["updates"]) for row in rows] == [(0, 12), (0, 24), (0, 30)]
    for row, mine in zip(rows, (updates[:12], updates[12:24], updates[24:]), strict=True):
        assert {name: row[name] for name in mine[0]} == {
            name: pytest.approx(np.mean([each[name] for each in mine])) for name in mine[0]
        }
        assert row["learning_rate"] == pytest.approx(1e-3 * (1.0 - (row["updates"] - 1) / 30))
        assert row["replay_size"] > 0 and row["updates_per_second"] > 0
    assert csv_rows(tmp_path / "run") == rows
    assert [step for step, _ in wandb.rows] == [12, 24, 30]
    assert [row["timesteps"] for row in event_rows(tmp_path / "run")] == [12, 24, 30]


def test_rewards_for_exploration_are_declared_where_they_are(one_backend, tmp_path, undrawn, wandb, updates):
    content = document("ppo", one_backend)
    train({**content, "agent": {**content["agent"], "intrinsic_reward": "rnd"}}, tmp_path)
    assert updates[0].keys() == {"loss", *algorithm_of("ppo").metrics, *IntrinsicRewards.metrics}
    assert updates[0].keys() <= read_metrics(tmp_path)[0].keys()


def undeclared(after):
    """A callback that has the updates return one more number, which nobody declared, after some steps."""

    def on_step(worker, step):
        learner, whole = worker.agent.learner, worker.agent.learner._learned
        if worker.timesteps_of_run == after:
            learner._learned = lambda results: whole({**results, "temper": 2.0 * learner.version})

    return told(on_step=on_step)


def test_what_no_algorithm_declares_gets_a_column(one_backend, tmp_path, undrawn, wandb):
    train(document("dqn", one_backend), tmp_path, [undeclared(13)])
    first, second, last = csv_rows(tmp_path)
    assert "temper" not in first and (second["temper"], last["temper"]) == (15.0, 25.0)
    assert (
        [first, second, last]
        == read_metrics(tmp_path)
        == [{"timesteps": step, **scalars} for step, scalars in wandb.rows]
    )


def test_an_update_cannot_return_the_metric_of_a_worker(one_backend, tmp_path, undrawn, wandb, monkeypatch):
    whole = Learner._learned
    monkeypatch.setattr(Learner, "_learned", lambda self, results: whole(self, {**results, "episodes": 1.0}))
    with pytest.raises(InputError, match="update of DQNAgent returns 'episodes'.*rename it"):
        train(document("dqn", one_backend), tmp_path)


#: The columns of version 0.2.
OLD = ["timesteps", "episodes", "updates", "mean_return", "mean_length", "loss", "epsilon", "noise_scale"]
OLD += ["learning_rate", "evaluation_return", "evaluation_return_std", "evaluation_length", "restarts"]
OLD += ["dropped_steps", "learner_wait", "slowest_learner", "steps_per_second", "seconds"]


def test_a_run_with_an_older_header_resumes_without_loss(one_backend, tmp_path, undrawn, wandb, monkeypatch):
    """Old rows and columns stay; and a run that is killed after it got columns resumes from the checkpoint before."""
    content = document("ppo", one_backend, steps=48, checkpoints={"interval": 24})
    add = Records.add_metrics
    with monkeypatch.context() as version_0_2:
        version_0_2.setattr("rlgraph.runs.records.METRICS", dict.fromkeys(OLD))
        version_0_2.setattr(PPO, "metrics", {})
        version_0_2.setattr(
            Records,
            "add_metrics",
            lambda self, row: add(self, {name: row[name] for name in OLD if name in row}),
        )
        with pytest.raises(RuntimeError, match="killed"):
            train(content, tmp_path, [killed_at(36)])
    old = [row for row in csv_rows(tmp_path) if row["timesteps"] <= 24]
    assert len(old) == 2 and not any("kl" in row for row in old)
    assert (tmp_path / "metrics.csv").read_text().splitlines()[0].split(",") == OLD
    (tmp_path / "checkpoints" / "last").rename(tmp_path / "last")
    with pytest.raises(RuntimeError, match="killed"):
        resume(tmp_path, callbacks=[killed_at(36)])
    assert "kl" in csv_rows(tmp_path)[-1]
    (tmp_path / "checkpoints" / "last").rename(tmp_path / "last too")
    resume(tmp_path)
    rows = csv_rows(tmp_path)
    assert rows[:2] == old and rows == read_metrics(tmp_path)
    assert [row["timesteps"] for row in rows] == [12, 24, 36, 48]
    assert all({*OLD[:6], "kl", "entropy", "updates_per_second"} <= row.keys() for row in rows[2:])
    header = (tmp_path / "metrics.csv").read_text().splitlines()[0].split(",")
    assert header[: len(OLD)] == OLD and len(set(header)) == len(header)


@pytest.mark.parametrize("change", [lambda text: text.replace("1", "2", 1), lambda text: text[:-9]])
def test_a_table_with_more_columns_that_was_changed_is_refused(tmp_path, change):
    records = Records(tmp_path)
    records.add_metrics({"timesteps": 1.0})
    prefixes = records.sync()
    records.add_metrics({"timesteps": 2.0, "temper": 0.1})
    records.close()
    table = tmp_path / "metrics.csv"
    text = table.read_bytes().decode()
    first, *_ = text.splitlines(keepends=True)[1:]
    table.write_bytes(text.replace(first, change(first)).encode())
    with pytest.raises(RunFolderError, match=r"metrics\.csv was changed since the run wrote it"):
        Records(tmp_path, prefixes)
    table.write_bytes(text.encode())
    again = Records(tmp_path, prefixes)
    again.add_metrics({"timesteps": 3.0, "temper": 0.3})
    again.close()
    assert csv_rows(tmp_path) == [{"timesteps": 1.0}, {"timesteps": 3.0, "temper": 0.3}]


def test_sums_in_a_checkpoint_of_version_0_2(one_backend, undrawn):
    agent = Agent.from_spec({"type": "dqn", **AGENTS["dqn"]}, env="CartPole-v1", backend=one_backend)
    report = SingleThreadedWorker(agent, "CartPole-v1")._schedule.report
    state = parse(ReportState, {"loss": 6.0, "updates": 3, "reported": 12}, "report").model_dump()
    report.set_state(state)
    assert report.get_state() == {"numbers": {"loss": [6.0, 3]}, "reported": 12}
    new = {"numbers": {"loss": [2.0, 1], "alpha": [0.5, 1]}, "reported": 24}
    report.set_state(parse(ReportState, new, "report").model_dump())
    assert report.get_state() == new
