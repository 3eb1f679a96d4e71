"""The example scripts of the documentation, with small budgets."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "docs" / "examples" / "agents"
#: Arguments that make a script short; the others take a number of steps.
SHORT = {
    "bc_cartpole": {"episodes": 2, "updates": 5},
    "dqfd_mountain_car": {"steps": 20, "updates": 5},
    "iql_pendulum": {"steps": 1200, "episodes": 2, "updates": 5},
}

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="outside of the repository")


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_script(name, monkeypatch, tmp_path, capsys, backends):
    if "torch" not in backends:
        pytest.skip("the scripts use PyTorch")
    monkeypatch.chdir(tmp_path)
    main = runpy.run_path(str(SCRIPTS / f"{name}.py"))["main"]
    main(**SHORT.get(name, {"steps": 1100}))
    assert re.search(r"mean return -?\d+\.\d$", capsys.readouterr().out)
