"""Runs that a document describes, with values replaced on the command line."""

import json

import pytest
import yaml

DOCUMENT = """
agent:
  type: dqn
  network_spec: [{type: dense, units: 8}]
  update_spec: {batch_size: 8, do_updates: false}
environment: deterministic
backend: numpy
steps: 12
evaluation: {final_episodes: 2}
"""


@pytest.fixture
def document(tmp_path):
    """Writes the document of a small run; gives the file's name."""
    (tmp_path / "small.yaml").write_text(DOCUMENT)
    return "small.yaml"


def config_of(folder):
    return json.loads((folder / "config.json").read_text())["run"]


def test_a_run_from_a_document(rlgraph, document, undrawn, tmp_path):
    outcome = rlgraph("train", document, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["folder"] == "runs/small-deterministic-numpy-0"
    run = config_of(tmp_path / "runs" / "small-deterministic-numpy-0")
    assert (run["steps"], run["evaluation"]["final_episodes"], run["seed"]) == (12, 2, 0)


def test_options_and_values_override_the_document(rlgraph, document, undrawn, tmp_path):
    values = ["--set", "update_spec.batch_size=4", "--set", "evaluation.final_episodes=3"]
    options = ["--steps", 8, "--seed", 7, "--num-envs", 2, "--env", '{"type": "deterministic"}']
    outcome = rlgraph("train", document, *options, *values, "--folder", "run")
    assert outcome.code == 0, outcome.err
    run = config_of(tmp_path / "run")
    assert (run["steps"], run["seed"], run["worker"]["num_envs"]) == (8, 7, 2)
    assert run["agent"]["update_spec"]["batch_size"] == 4 and run["evaluation"]["final_episodes"] == 3
    assert run["agent"]["network_spec"][0]["units"] == 8
    assert run["environment"]["type"] == "deterministic"


def test_show(rlgraph, document):
    outcome = rlgraph("config", "show", document, "--set", "discount=0.5")
    assert outcome.code == 0, outcome.err
    shown = yaml.safe_load(outcome.out)
    assert (shown["agent"]["discount"], shown["agent"]["double_q"], shown["steps"]) == (0.5, True, 12)
    assert json.loads(rlgraph("config", "show", document, "--set", "discount=0.5", "--json").out) == shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nowhere.yaml"], "there is no file"),
        (["train", "small.yaml", "--set", "dicount=0.5"], "Did you mean 'discount'?"),
        (["train", "small.yaml", "--set", "discount"], "expected path=value"),
        (["train", "small.yaml", "--set", "steps=many"], "steps: expected an integer"),
        (["config", "show", "small.yaml", "--set", "worker.num_env=2"], "num_envs"),
        (["config"], "Usage"),
    ],
)
def test_mistakes(rlgraph, document, arguments, said):
    outcome = rlgraph(*arguments)
    assert outcome.code == 2
    assert said in outcome.out + outcome.err and "Traceback" not in outcome.err


def test_all_mistakes_at_once(rlgraph, document):
    wrong = ["--set", "steps=0", "--set", "worker.num_envs=0", "--set", "agent.discount=high"]
    outcome = rlgraph("train", document, *wrong)
    assert outcome.code == 2
    for place in ("steps", "worker.num_envs", "agent.discount"):
        assert f"{place}: expected" in outcome.err
