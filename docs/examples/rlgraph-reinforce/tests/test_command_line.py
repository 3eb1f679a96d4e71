"""The installed agent by the command line: its entry point is found, and its runs are ordinary runs."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def rlgraph(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "rlgraph.cli", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_train_resume_evaluate_compare_and_export(rlgraph, tmp_path):
    assert "rollout_length" in rlgraph("agents", "reinforce")
    short = [
        "--steps",
        400,
        "--set",
        "agent.rollout_length=16",
        "--set",
        "evaluation.interval=200",
    ]
    short += ["--set", "evaluation.final_episodes=2", "--quiet"]
    for seed in (1, 2):
        train = [
            "train",
            "--agent",
            "reinforce",
            "--env",
            "CartPole-v1",
            "--backend",
            "torch",
        ]
        rlgraph(*train, "--seed", seed, "--folder", f"runs/{seed}", *short)
    run = json.loads((tmp_path / "runs/1/config.json").read_text())["run"]
    assert run["worker"]["num_envs"] == 8  # the preset's
    rlgraph("resume", "runs/1", "--steps", 600, "--quiet")
    assert "over 3 episodes" in rlgraph(
        "evaluate", "runs/1", "--episodes", 3, "--backend", "numpy"
    )
    assert "reinforce" in rlgraph("compare", "runs")
    rlgraph("export", "runs/1", "--to", "exported")
    assert (tmp_path / "exported" / "get_greedy_actions.pt2").is_file()
