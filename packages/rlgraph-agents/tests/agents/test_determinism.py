"""The same seed gives the same run to the last bit, in another process and whatever ran there before."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = str(Path(__file__).with_name("determinism_run.py"))


def test_two_processes(backend, python):
    orders = (["4", "5"], ["5", "4"])
    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda seeds: python(PROGRAM, backend, *seeds), orders)
    first, second = (json.loads(output.splitlines()[-1]) for output in outputs)
    assert first == second
    run, other = first["4"], first["5"]
    assert run["updates"] == other["updates"] == 138
    assert sum(run["returns"]) <= 600
    assert len(run["returns"]) > 10
    assert len(run["losses"]) == 12
    assert [len(returns) for returns in run["evaluations"]] == [10, 10]
    for part in ("returns", "losses", "weights", "evaluations"):
        assert run[part] != other[part]
    assert all(
        run["weights"][name] != other["weights"][name] for name in run["weights"] if name != "optimizer/steps"
    )
