"""A run ends properly when an error of other code cannot give its text."""

import json
import sys
from pathlib import Path

import pytest

from rlgraph.core import SpecError, allow_imports
from rlgraph.core.errors import text_of
from rlgraph.environments import EnvironmentFault
from rlgraph.runs import train
from rlgraph.workers import Callback


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Processes of environments import `odd_errors`, too."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])


class Odd(Exception):
    """Its text fails."""

    def __str__(self):
        raise RuntimeError("no text")


def test_the_text_of_an_error():
    assert text_of(ValueError("a")) == "a"
    assert text_of(Odd()) == "a Odd without a readable text"


@pytest.mark.parametrize("vectorization", ["sequential", "processes"])
@pytest.mark.parametrize("method", ["step", "reset"])
def test_an_environment(acting_run, undrawn, tmp_path, method, vectorization):
    environment = {"type": "odd_errors:OddEnv", "method": method, "calls": 3}
    document = acting_run(
        environment=environment,
        worker={"num_envs": 2, "vectorization": vectorization, "max_restarts": 0, "processes": 1},
        evaluation={"interval": None},
    )
    if vectorization == "sequential":
        del document["worker"]["processes"]
    with allow_imports("odd_errors"), pytest.raises(EnvironmentFault, match="Odd"):
        train(document, tmp_path / "run")
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["outcome"] == "failed" and "Odd" in result["error"]
    assert (tmp_path / "run" / "checkpoints" / "last").exists()


def test_a_constructor(acting_run, tmp_path):
    environment = {"type": "odd_errors:OddEnv", "method": "__init__"}
    with allow_imports("odd_errors"), pytest.raises((EnvironmentFault, SpecError), match="Odd"):
        train(acting_run(environment=environment), tmp_path / "run")


def test_a_callback(acting_run, undrawn, tmp_path):
    class Failing(Callback):
        def on_report(self, worker, metrics):
            raise Odd

    with pytest.raises(Odd):
        train(acting_run(), tmp_path / "run", [Failing()])
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result == {**result, "outcome": "failed", "error": "Odd: a Odd without a readable text"}
    assert (tmp_path / "run" / "checkpoints" / "last").exists()


def test_restarts(acting_run, undrawn, tmp_path):
    environment = {"type": "odd_errors:OddEnv", "method": "step", "calls": 30}
    with allow_imports("odd_errors"), pytest.warns(RuntimeWarning, match="Odd"):
        train(acting_run(environment=environment), tmp_path / "run")
