"""The same seed gives the same run to the last bit, in another process and whatever ran there before."""

import json
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).with_name("determinism_run.py"))


def test_two_processes(backend, python):
    """This process, in which much has run already, and a fresh one; the seeds in different order."""
    train = runpy.run_path(PROGRAM)["run"]
    here = json.loads(json.dumps({seed: train(backend, seed) for seed in (5, 4)}))
    there = json.loads(python(PROGRAM, backend, "4", "5").splitlines()[-1])
    assert here == there
    run, other = here["4"], here["5"]
    assert run["updates"] == other["updates"] == 138
    assert sum(run["returns"]) <= 600
    assert len(run["returns"]) > 10
    assert len(run["losses"]) == 12
    assert [len(returns) for returns in run["evaluations"]] == [10, 10]
    for part in ("returns", "losses", "weights", "evaluations"):
        assert run[part] != other[part]
    assert all(
        run["weights"][name] != other["weights"][name]
        for name in run["weights"]
        if name != "dqn/optimizer/steps"
    )
