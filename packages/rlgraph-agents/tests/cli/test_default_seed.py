"""One seed where none is given: in Python, in documents and on the command line."""

import inspect
import json

import pytest

from rlgraph.agents import ActorSpec, Agent
from rlgraph.cli import training
from rlgraph.core.execution_spec import DEFAULT_SEED, ExecutionSpec
from rlgraph.environments import check_environment
from rlgraph.runs import RunSpec
from rlgraph.runs.configuration import check, read_document, resolve
from rlgraph.runs.template import config_template
from rlgraph.runs.training import complete
from rlgraph.workers import record_data_set

DOCUMENT = {"agent": {"type": "random"}, "environment": "deterministic", "backend": "numpy", "steps": 1}


def test_python_and_documents(tmp_path):
    assert Agent.from_spec("random", env="deterministic", backend="numpy").seed == DEFAULT_SEED
    assert ExecutionSpec().seed == ActorSpec.__dataclass_fields__["seed"].default == DEFAULT_SEED
    assert RunSpec.model_fields["seed"].default == DEFAULT_SEED
    assert complete(DOCUMENT).seed == resolve(DOCUMENT)["seed"] == DEFAULT_SEED
    (tmp_path / "run.yaml").write_text(config_template("dqn", "CartPole-v1"))
    assert check(read_document(tmp_path / "run.yaml")).seed == DEFAULT_SEED
    for function in (check_environment, record_data_set):
        assert inspect.signature(function).parameters["seed"].default == DEFAULT_SEED


def test_the_command_line(rlgraph, tmp_path, monkeypatch):
    given = []

    def stop(spec, *_):
        given.append(complete(spec).seed)
        raise ZeroDivisionError

    monkeypatch.setattr(training, "_train", stop)
    (tmp_path / "run.json").write_text(json.dumps(DOCUMENT))
    for arguments in (
        ["train", "run.json"],
        ["train", "--backend", "numpy"],
        ["quickstart", "--backend", "numpy"],
    ):
        with pytest.raises(ZeroDivisionError):
            rlgraph(*arguments)
    assert given == [DEFAULT_SEED] * 3
    for command in ("train", "quickstart"):
        assert f"else {DEFAULT_SEED}" in " ".join(rlgraph(command, "--help").out.split())
