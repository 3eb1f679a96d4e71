"""What updates return is in the rows of runs whose actors are elsewhere, as in those of one process."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.learning.learner import Learner
from rlgraph.runs import train
from rlgraph.runs.records import read_metrics

LAYERS = [{"type": "dense", "units": 4}]
CLIPPED = {"learning_rate": [1e-3, 0.0], "clip_grad_norm": 0.5}
UPDATES = {"update_interval": 8, "batch_size": 4, "steps_before_update": 8}
AGENTS = {
    "ppo": {"rollout_length": 4, "num_epochs": 2, "num_minibatches": 2},
    "impala": {"rollout_length": 4},
    "dqn": {"update_spec": UPDATES},
    "apex": {"update_spec": UPDATES, "memory_spec": {"type": "prioritized_replay", "capacity": 32}},
}


@pytest.mark.parametrize("agent", AGENTS)
def test_rows_have_the_means_of_what_updates_return(agent, tmp_path, monkeypatch):
    updates, whole = [], Learner._learned

    def updated(self, results):
        updates.append({name: float(value) for name, value in results.items()})
        return whole(self, results)

    monkeypatch.setattr(Learner, "_learned", updated)
    monkeypatch.setattr("rlgraph.runs.run_folder.RunFolder.draw_graph", lambda self: None)
    document = {
        "agent": {"type": agent, "network_spec": LAYERS, "optimizer_spec": CLIPPED, **AGENTS[agent]},
        "environment": "CartPole-v1",
        "executor_spec": {"engine": "in_process", "actors": 2},
        "backend": "torch",
        "steps": 96,
        "logging": {"report_interval": 32, "tensorboard": False},
        "evaluation": {"interval": None, "final_episodes": 1, "policy": "last"},
    }
    train(document, tmp_path)
    rows, done = read_metrics(tmp_path), 0
    assert len(rows) >= 3
    for row in rows:
        mine, done = updates[done : int(row["updates"])], int(row["updates"])
        assert mine and row["updates_per_second"] > 0
        for name in mine[0]:
            assert row[name] == pytest.approx(np.mean([each[name] for each in mine])), name
        assert 0.0 < row["learning_rate"] <= 1e-3
    assert done == len(updates)
    declared = Agent.of(agent).algorithm_class.metrics
    assert updates[0].keys() == {"loss", *declared}
    sizes = [row.get("replay_size") for row in rows]
    if agent in ("dqn", "apex"):
        assert 0 < sizes[0] <= sizes[-1] <= (32 if agent == "apex" else 96)
        assert agent == "dqn" or sizes[-1] == 32
    else:
        assert sizes == [None] * len(rows)
