"""The command `benchmark`."""

import json

import pytest

from rlgraph.cli.exit_codes import ExitCode


def test_benchmark(rlgraph, tmp_path, monkeypatch):
    document = {
        "agent": {"type": "random"},
        "environment": {"type": "deterministic", "steps_to_terminal": 7},
        "steps": 60,
        "evaluation": {"interval": 30, "episodes": 1, "final_episodes": 2, "policy": "last"},
    }
    (tmp_path / "tiny.json").write_text(json.dumps(document))
    suite = {"description": "Small.", "runs": ["tiny.json"], "seeds": 1, "backends": ["numpy"]}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    listed = rlgraph("benchmark", "suite.json", "--list")
    assert "0 of 1 seeds have results.\nNo result yet: tiny on numpy, seed 1." in listed.out
    done = rlgraph("benchmark", "suite.json", "--json")
    assert done.code == 0 and "tiny on numpy, seed 1:" in done.err
    result = json.loads(done.out)
    assert (result["missing"], result["page"]) == ([], "benchmarks/suite.md")
    assert result["results"][0]["last"]["steps"] == 60
    assert "| tiny | NumPy" in (tmp_path / "benchmarks" / "suite.md").read_text()


def test_an_unknown_suite(rlgraph):
    done = rlgraph("benchmark", "classic")
    assert done.code == 2 and "there is no suite 'classic'" in done.err


@pytest.mark.parametrize("options", [[], ["--report"]])
def test_a_root_is_no_folder_of_results(options, rlgraph):
    done = rlgraph("benchmark", "classic_control", "--folder", "/", *options)
    assert done.code == ExitCode.BAD_INPUT and "expected a folder for the run alone, given /" in done.err
