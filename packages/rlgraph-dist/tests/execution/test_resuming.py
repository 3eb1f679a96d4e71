"""Runs whose actors are elsewhere, resumed with others."""

import json
import shutil

import pytest

from rlgraph.core import SpecError
from rlgraph.runs import resume, train

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
PPO = {"type": "ppo", "network_spec": LAYERS, "rollout_length": 8, "num_epochs": 1, "num_minibatches": 1}
DQN = {
    "type": "dqn",
    "network_spec": LAYERS,
    "n_step": 3,
    "memory_spec": {"capacity": 200},
    "update_spec": {"steps_before_update": 16, "update_interval": 4, "batch_size": 8},
}


def document(agent, **options):
    return {
        "agent": agent,
        "environment": "CartPole-v1",
        "backend": "torch",
        "steps": 256,
        "worker": {"num_envs": 4},
        "executor_spec": {"engine": "in_process", "actors": 2},
        "evaluation": {"interval": None, "final_episodes": 1},
        "checkpoints": {"interval": 128},
        "logging": {"report_interval": 64, "tensorboard": False},
        **options,
    }


@pytest.mark.parametrize("agent", [PPO, DQN], ids=["ppo", "dqn"])
@pytest.mark.parametrize("actors", [1, 3])
def test_a_run_is_resumed_with_another_number_of_actors(tmp_path, agent, actors):
    folder = tmp_path / "run"
    train(document(agent), folder)
    per_round = actors * 4 * (8 if agent is PPO else 16)
    summary = resume(folder, steps=512, overrides=[f"executor_spec.actors={actors}"])
    assert 512 <= summary.training.timesteps < 512 + per_round
    assert f"step 256: executor_spec.actors: 2 in the run, {actors} given" in summary.departures
    assert json.loads((folder / "config.json").read_text())["run"]["executor_spec"]["actors"] == actors
    # Killed before its first checkpoint, it resumes from one that was written with the other actors.
    for newer in (folder / "checkpoints").glob("*"):
        if newer.name not in ("step-000000256", "best"):
            shutil.rmtree(newer)
    summary = resume(folder, steps=600)
    assert summary.training.timesteps >= 600
    assert not any("step 256: executor_spec" in departure for departure in summary.departures)


def test_other_options_stay_as_they_are(tmp_path):
    train(document(PPO), tmp_path)
    with pytest.raises(
        SpecError, match=r"(?s)keeps its options; fork .*agent.discount: 0.99 in the run, 0.5 given"
    ):
        resume(tmp_path, steps=512, overrides=["agent.discount=0.5"])
    with pytest.raises(SpecError, match=r"executor_spec: .* in the run, None given"):
        resume(tmp_path, steps=512, overrides=["executor_spec=null"])
    with pytest.raises(SpecError, match=r"executor_spec.actors: expected an integer >= 1, given 0"):
        resume(tmp_path, steps=512, overrides=["executor_spec.actors=0"])
