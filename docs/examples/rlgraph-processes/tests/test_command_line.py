"""The installed engine and executor by the command line: their entry points are found."""

import json
import subprocess
import sys


def test_plugins_and_a_run(tmp_path):
    def rlgraph(*arguments):
        command = [sys.executable, "-m", "rlgraph.cli", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(rlgraph("plugins", "--json"))
    found = {
        (entry["kind"], entry["name"])
        for entry in listed
        if entry["distribution"] == "rlgraph-processes"
    }
    assert found == {("engine", "processes"), ("executor", "backup")}
    executor = json.dumps({"type": "backup", "engine": "processes", "actors": 3})
    train = [
        "train",
        "--agent",
        "ppo",
        "--env",
        "CartPole-v1",
        "--backend",
        "torch",
        "--executor",
        executor,
    ]
    short = [
        "--num-envs",
        2,
        "--steps",
        128,
        "--set",
        "agent.rollout_length=16",
        "--quiet",
    ]
    short += ["--set", "evaluation.final_episodes=2"]
    rlgraph(*train, *short, "--folder", "runs/one")
    run = json.loads((tmp_path / "runs/one/config.json").read_text())["run"]
    assert run["executor_spec"] == json.loads(executor)
