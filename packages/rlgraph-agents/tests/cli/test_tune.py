"""The command `tune`."""

import json


def test_tune(rlgraph, tmp_path, one_backend):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"num_epochs": [1, 2]}))
    options = ["--agent", "ppo", "--backend", one_backend, "--steps", "64", "--trials", "1"]
    small = ["--set", "rollout_length=16", "--set", "evaluation.final_episodes=1"]
    done = rlgraph("tune", *options, *small, "--space", str(space), "--folder", str(tmp_path / "t"), "--json")
    result = json.loads(done.out)
    assert result["score"] > 0 and result["trials"][0]["state"] == "complete"
