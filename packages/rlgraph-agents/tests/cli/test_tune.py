"""The command `tune`."""

import json
from types import SimpleNamespace

import yaml

from rlgraph.cli.exit_codes import ExitCode
from rlgraph.runs import tuning


def test_tune(rlgraph, tmp_path, one_backend):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"num_epochs": [1, 2]}))
    options = ["--agent", "ppo", "--backend", one_backend, "--steps", "64", "--trials", "1"]
    small = ["--set", "rollout_length=16", "--set", "evaluation.final_episodes=1"]
    done = rlgraph("tune", *options, *small, "--space", str(space), "--folder", str(tmp_path / "t"), "--json")
    result = json.loads(done.out)
    best = yaml.safe_load((tmp_path / "t" / "best.yaml").read_text())
    assert best["steps"] > 64  # of the preset: the option is about trials
    assert result["score"] > 0 and result["trials"][0]["state"] == "complete"


def test_ctrl_c_before_a_trial_has_ended(rlgraph, tmp_path, monkeypatch):
    interrupted = SimpleNamespace(training=SimpleNamespace(interrupted=True), evaluation=None)
    monkeypatch.setattr(tuning, "train", lambda *_: interrupted)
    options = ["--agent", "ppo", "--backend", "numpy", "--steps", "64", "--trials", "2"]
    done = rlgraph("tune", *options, "--folder", str(tmp_path / "t"))
    assert done.code == ExitCode.INTERRUPTED and "Traceback" not in done.err
