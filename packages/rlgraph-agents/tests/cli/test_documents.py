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


def test_validate(rlgraph, document):
    outcome = rlgraph("config", "validate", document)
    assert (outcome.code, outcome.out) == (0, "small.yaml is valid: dqn in deterministic, 12 steps\n")
    wrong = [
        "--set",
        "steps=-1",
        "--set",
        "discount=high",
        "--set",
        "worker.num_env=2",
        "--set",
        "backend=nmpy",
    ]
    outcome = rlgraph("config", "validate", document, *wrong)
    assert (outcome.code, outcome.out) == (2, "")
    for said in (
        "steps: expected an integer >= 0, given -1",
        "agent.discount: expected a number, given 'high'",
        "worker.num_env: there is no such key. Did you mean 'num_envs'?",
        "backend: unknown backend 'nmpy'. Did you mean 'numpy'?",
    ):
        assert said in outcome.err
    outcome = rlgraph("config", "validate", document, *wrong, "--json")
    data = json.loads(outcome.out)
    assert (outcome.code, data["valid"]) == (2, False)
    paths = {"steps", "agent.discount", "worker.num_env", "backend"}
    assert {fault["path"] for fault in data["faults"]} == paths
    assert rlgraph("config", "validate", "nowhere.yaml").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nowhere.yaml"], "does not exist"),
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
    wrong = ["--set", "steps=-1", "--set", "worker.num_envs=0", "--set", "agent.discount=high"]
    outcome = rlgraph("train", document, *wrong)
    assert outcome.code == 2
    for place in ("steps", "worker.num_envs", "agent.discount"):
        assert f"{place}: expected" in outcome.err


def test_the_agents_keys_and_the_runs_on_the_command_line(rlgraph, document, undrawn, tmp_path):
    values = ["--set", "optimizer_spec.learning_rate=1e-3", "--set", "steps=9"]
    outcome = rlgraph("train", document, *values, "--folder", "run")
    assert outcome.code == 0, outcome.err
    run = config_of(tmp_path / "run")
    assert (run["agent"]["optimizer_spec"]["learning_rate"], run["steps"]) == (0.001, 9)


def test_an_agent_from_yaml(rlgraph, undrawn, tmp_path):
    (tmp_path / "my.yaml").write_text(
        "type: dqn\ndiscount: 0.5\nnetwork_spec: [{type: dense, units: 4}]\nupdate_spec: {do_updates: false}\n"
    )
    options = ["--env", "deterministic", "--backend", "numpy", "--steps", 6, "--folder", "run"]
    outcome = rlgraph("train", "--agent", "my.yaml", *options, "--set", "evaluation.final_episodes=1")
    assert outcome.code == 0, outcome.err
    agent = config_of(tmp_path / "run")["agent"]
    assert (agent["discount"], agent["network_spec"][0]["units"]) == (0.5, 4)


def test_init_writes_a_document_that_trains(rlgraph, undrawn, tmp_path):
    outcome = rlgraph("config", "init", "--env", "grid_world", "--steps", 40, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out) == {"document": "run.yaml", "schema": "run.schema.json"}
    values = [
        "--set",
        "evaluation.final_episodes=1",
        "--backend",
        "numpy",
        "--set",
        "update_spec.do_updates=false",
    ]
    outcome = rlgraph("train", "run.yaml", *values, "--set", "worker.max_timesteps_per_episode=9")
    assert outcome.code == 0, outcome.err
    schema = json.loads((tmp_path / "run.schema.json").read_text())
    assert yaml.safe_load((tmp_path / "run.yaml").read_text()).keys() < schema["properties"].keys()


def test_init_replaces_nothing_unasked(rlgraph, refused, tmp_path):
    (tmp_path / "run.yaml").write_text("mine")
    refused("run.yaml exists already", "config", "init")
    assert (tmp_path / "run.yaml").read_text() == "mine" and not (tmp_path / "run.schema.json").exists()
    assert rlgraph("config", "init", "--force").code == 0
    assert "CartPole-v1" in (tmp_path / "run.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run.json"], "expected the name of a .yaml"),
        (["--agent", "dqm"], "Did you mean 'dqn'?"),
        (["--env", "CartPol-v1"], "CartPole"),
        (["--steps", "0"], "steps: expected an integer >= 1 without a data set, given 0"),
    ],
)
def test_mistakes_of_init(refused, tmp_path, arguments, said):
    refused(said, "config", "init", *arguments)
    assert not list(tmp_path.iterdir())


def test_schema(rlgraph, tmp_path):
    run = json.loads(rlgraph("config", "schema").out)
    assert run["$schema"].endswith("2020-12/schema") and "steps" in run["properties"]
    assert json.loads(rlgraph("config", "schema", "--json").out) == run
    assert rlgraph("config", "schema", "--file", "my.json").code == 0
    assert json.loads((tmp_path / "my.json").read_text()) == run
    assert json.loads(rlgraph("config", "schema", "--agent").out)["$ref"] == "#/$defs/agent"


def test_a_place_is_said_as_it_was_written(refused, document, tmp_path):
    (tmp_path / "my.json").write_text('{"type": "dqn", "seed": "x", "backend": "nmpy"}')
    outcome = refused("agent.seed: expected an integer >= 0, given 'x'", "train", "--agent", "my.json")
    assert "agent.backend: unknown backend 'nmpy'. Did you mean 'numpy'?" in outcome.err
    assert "\nseed" not in outcome.err and "\nbackend" not in outcome.err


@pytest.mark.parametrize("key", ["[draw]", "worker.[bold]", "worker.x[/]", "worker.[draw]x"])
def test_brackets_in_keys_are_no_markup(refused, document, key):
    refused(f"{key}: there is no", "config", "show", document, "--set", f"{key}=1")


def test_a_contradiction_on_a_resolved_document(rlgraph, refused, document, tmp_path):
    (tmp_path / "whole.yaml").write_text(rlgraph("config", "show", document).out)
    said = "agent.dueling_q: false contradicts policy_spec.type"
    refused(said, "config", "show", "whole.yaml", "--set", "dueling_q=false")
    values = ["--set", "dueling_q=false", "--set", "policy_spec=null"]
    shown = yaml.safe_load(rlgraph("config", "show", "whole.yaml", *values).out)
    assert shown["agent"]["policy_spec"]["type"] == "q_policy"


def test_brackets_in_the_name_of_a_folder_are_no_markup(rlgraph, document, undrawn):
    outcome = rlgraph("train", document, "--folder", "[draw]")
    assert outcome.code == 0, outcome.err
    assert "In [draw]:" in outcome.out


def test_an_option_of_a_part_that_is_no_mapping(refused, tmp_path):
    (tmp_path / "wrong.yaml").write_text(DOCUMENT + "worker: 3\n")
    refused("worker: expected", "train", "wrong.yaml", "--num-envs", "2")
