"""A document to begin with: it can be run as it is, and says what its keys mean."""

import numpy as np
import pytest
import yaml

from rlgraph.agents import Agent
from rlgraph.algorithms.presets import find_preset
from rlgraph.core import SpecError
from rlgraph.runs.configuration import check, read_document
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.template import config_template

PONG = {"type": "atari", "game": "Pong"}


@pytest.fixture
def written(tmp_path):
    """Writes the template for an environment; gives text and file."""

    def write(environment):
        if environment == PONG:
            pytest.importorskip("ale_py", reason="the extra `atari` is not installed")
        text = config_template("dqn", environment, steps=7)
        (tmp_path / "run.yaml").write_text(text)
        return text, tmp_path / "run.yaml"

    return write


@pytest.mark.parametrize("environment", ["CartPole-v1", PONG, "grid_world"])
def test_it_is_a_run(written, environment):
    _, file = written(environment)
    run = check(read_document(file))
    assert (run.environment, run.steps, run.agent["type"]) == (environment, 7, "dqn")
    preset = find_preset("dqn", environment)
    plain = {"agent": run.agent, "environment": environment} if preset is None else preset.document
    expected = check({**plain, "environment": environment, "steps": 7, "seed": 0})
    assert run == expected  # every other value that is written is the preset's or the default


@pytest.mark.parametrize("environment", [PONG, "grid_world"])
def test_its_agent_can_be_built_where_dense_layers_do_not_do(written, environment):
    _, file = written(environment)
    spec = {**read_document(file)["agent"], "memory_spec": {"capacity": 2}}
    agent = Agent.from_spec(spec, env=environment, backend="numpy", seed=1)
    agent.get_actions(agent.state_space.sample(rng=np.random.default_rng(1)))


def test_a_tuned_preset_is_taken(written):
    text, _ = written("CartPole-v1")
    assert yaml.safe_load(text)["agent"] == find_preset("dqn", "CartPole-v1").agent


def test_comments(written):
    lines = written("CartPole-v1")[0].splitlines()
    assert lines[0] == "# yaml-language-server: $schema=run.schema.json"
    assert "# root of all random numbers" in lines
    assert "# Logging in addition to metrics.csv and metrics.jsonl" in lines
    assert "  num_envs: 1  # environments stepped together; an integer >= 1 and <= 10000" in lines
    for name in RunSpec.model_fields:
        (place,) = [number for number, line in enumerate(lines) if line.startswith(f"{name}:")]
        assert lines[place - 1].startswith("# ") and len(lines[place - 1]) > 10


def test_an_unknown_environment():
    with pytest.raises(SpecError, match="CartPole"):
        config_template("dqn", "CartPol-v1")
