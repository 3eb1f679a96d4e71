"""The document of a run: read, overridden, checked as a whole, written out with its defaults."""

import json

import numpy as np
import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.algorithms.presets import find_preset
from rlgraph.core import SpecError, allow_imports
from rlgraph.runs import train
from rlgraph.runs.configuration import apply_overrides, check, read_document, resolve
from rlgraph.runs.template import config_template
from rlgraph.runs.training import complete
from rlgraph.spaces import FloatBox, IntBox

SMALL = {
    "agent": {"type": "dqn", "network_spec": [{"type": "dense", "units": 8}], "optimizer_spec": "adam"},
    "environment": "CartPole-v1",
    "steps": 100,
}


def refusal(document):
    with pytest.raises(SpecError) as caught:
        check(document)
    return str(caught.value).splitlines()


# Files.


def test_the_same_run_in_three_languages(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(SMALL))
    (tmp_path / "run.yaml").write_text(
        "# yaml-language-server: $schema=run.schema.json\n"
        "agent: {type: dqn, network_spec: [{type: dense, units: 8}], optimizer_spec: adam}\n"
        "environment: CartPole-v1\nsteps: 100\n"
    )
    (tmp_path / "run.toml").write_text(
        'environment = "CartPole-v1"\nsteps = 100\n[agent]\ntype = "dqn"\noptimizer_spec = "adam"\n'
        '[[agent.network_spec]]\ntype = "dense"\nunits = 8\n'
    )
    for name in ("run.json", "run.yaml", "run.toml"):
        assert read_document(tmp_path / name) == SMALL


def test_numbers_and_texts_of_yaml(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("steps: 100\nenvironment: no\nagent: {type: dqn, discount: 1e-3, double_q: yes}\n")
    document = read_document(file)
    assert document["environment"] == "no"
    assert document["agent"] == {"type": "dqn", "discount": 0.001, "double_q": "yes"}


def test_names_in_any_language(tmp_path):
    """Written and read as UTF-8, whatever the locale."""
    folder = tmp_path / "läufe 走る"
    folder.mkdir()
    text = "agent: 代理.yaml\nenvironment: CartPole-v1\nsteps: 100\nlogging: {wandb: {name: größer ✓, mode: offline}}\n"
    (folder / "ünî.yaml").write_text(text, encoding="utf-8")
    (folder / "代理.yaml").write_text(
        "{type: dqn, network_spec: [{type: dense, units: 8}]}", encoding="utf-8"
    )
    run = check(read_document(folder / "ünî.yaml"))
    assert run.logging.wandb.name == "größer ✓"
    with pytest.raises(SpecError, match="schlüssel_ä: there is no such key"):
        check({**SMALL, "schlüssel_ä": 1})
    (folder / "latin.yaml").write_bytes("steps: ä\n".encode("latin-1"))
    with pytest.raises(SpecError, match=r"latin\.yaml' cannot be read: 'utf-8' codec"):
        read_document(folder / "latin.yaml")


def test_numbers_of_numpy_are_numbers():
    plain = {
        "agent": {
            "type": "dqn",
            "discount": 0.5,
            "memory_spec": {"capacity": 100},
            "network_spec": [{"type": "dense", "units": 8}],
            "update_spec": {"batch_size": 8},
            "exploration_spec": {"epsilon_spec": [1.0, 0.25]},
        },
        "environment": "CartPole-v1",
        "steps": 100,
        "seed": 4,
        "worker": {"num_envs": 2},
    }

    def with_numpy(value):
        if isinstance(value, dict):
            return {key: with_numpy(item) for key, item in value.items()}
        if isinstance(value, list):
            return [with_numpy(item) for item in value]
        return {int: np.int32, float: np.float32}.get(type(value), lambda same: same)(value)

    resolved = resolve(with_numpy(plain))
    assert resolved == resolve(plain)
    assert json.loads(json.dumps(resolved)) == resolved
    spaces = {"state_space": FloatBox(shape=(2,)), "action_space": IntBox(2), "backend": "numpy"}
    agent = DQNAgent(
        **spaces, discount=np.float32(0.5), n_step=np.int64(2), update_spec={"batch_size": np.int64(3)}
    )
    made = agent.learner.experience
    assert (made.discount, made.n_step, made.updates.batch_size) == (0.5, 2, 3)
    with pytest.raises(SpecError, match="steps: expected an integer >= 0, given 0.5"):
        check({**plain, "steps": np.float32(0.5)})


def test_files_are_relative_to_the_file_that_names_them(tmp_path):
    (tmp_path / "parts" / "layers").mkdir(parents=True)
    (tmp_path / "run.yaml").write_text("agent: parts/agent.json\nenvironment: CartPole-v1\nsteps: 100\n")
    (tmp_path / "parts" / "agent.json").write_text(
        '{"type": "dqn", "optimizer_spec": "adam", "network_spec": ["layers/first.yaml"]}'
    )
    (tmp_path / "parts" / "layers" / "first.yaml").write_text("{type: dense, units: 8}\n")
    assert read_document(tmp_path / "run.yaml") == SMALL


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run.json", '{"steps": 1,}', "line 1 column 13"),
        ("run.yaml", "steps: 1\nagent: [dqn\n", "line 3 column 1"),
        ("run.toml", "steps = \n", "line 1, column 9"),
        ("run.json", '{"steps": 1, "steps": 2}', "the key 'steps' occurs twice"),
        ("run.yaml", "steps: 1\nsteps: 2\n", "the key 'steps' occurs twice: line 2 column 1"),
        ("run.toml", "steps = 1\nsteps = 2\n", "line 2"),
        ("run.yaml", "agent: run.yaml\n", "names itself"),
        ("run.yaml", "agent: dqn.yaml\n", "agent: file "),
        ("run.yaml", "[1]\n", "expected a mapping, given list [1]"),
    ],
)
def test_files_that_are_wrong(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / name)
    assert said in str(caught.value)


# Overrides.


def test_overrides():
    changed = apply_overrides(
        SMALL,
        [
            "steps=20000",
            "agent.network_spec.0.units=128",
            "network_spec[0].activation=relu",
            "optimizer_spec.learning_rate=1e-3",
            "exploration_spec.epsilon_spec=[1.0, 0.1]",
            "worker.num_envs=4",
        ],
    )
    assert changed == {
        "agent": {
            "type": "dqn",
            "network_spec": [{"type": "dense", "units": 128, "activation": "relu"}],
            "optimizer_spec": {"type": "adam", "learning_rate": 0.001},
            "exploration_spec": {"epsilon_spec": [1.0, 0.1]},
        },
        "environment": "CartPole-v1",
        "steps": 20000,
        "worker": {"num_envs": 4},
    }
    assert SMALL["agent"]["network_spec"] == [{"type": "dense", "units": 8}]


def test_an_override_of_the_second_default_layer():
    run = apply_overrides({**SMALL, "agent": {"type": "dqn"}}, ["network_spec.1.units=7"])
    assert [layer["units"] for layer in run["agent"]["network_spec"]] == [64, 7]


@pytest.mark.parametrize(
    ("name", "override", "expected"),
    [
        (
            "CartPole-v1",
            "environment.max_episode_steps=9",
            {"type": "openai_gym", "gym_env": "CartPole-v1", "max_episode_steps": 9},
        ),
        ("grid_world", "environment.world=2x2", {"type": "grid_world", "world": "2x2"}),
        ("CartPole-v1", "environment.type=grid_world", {"type": "grid_world"}),
        ("CartPole-v1", "environment=grid_world", "grid_world"),
    ],
)
def test_overrides_below_the_name_of_an_environment(name, override, expected):
    changed = apply_overrides({**SMALL, "environment": name}, [override])
    assert changed["environment"] == expected
    check(changed)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("stepz=3", "stepz: there is no 'stepz'. Did you mean 'steps'?"),
        ("optimizr_spec.x=3", "there is no 'optimizr_spec'. Did you mean 'optimizer_spec'?"),
        ("network_spec.7.units=3", "agent.network_spec.7: expected a number below 1, given '7'"),
        ("steps", "steps: expected path=value"),
        ("....=1", "....: expected names and numbers with single dots"),
        ("agent..=1", "with single dots between"),
        (f"{'agent.' * 40}x=1", "at most 32"),
        (f"{'.' * 20_000}=1", "(20,000 characters)"),
        ("network_spec.²=1", "agent.network_spec.²: expected a number below 1, given '²'"),
        ("steps=[1", "steps: the value '[1' is not valid YAML"),
        ("steps.x=1", "steps: 100 has no 'x'"),
        ("env=grid_world", "there is no 'env'. It is 'environment' here."),
    ],
)
def test_wrong_overrides(override, said):
    with pytest.raises(SpecError) as caught:
        apply_overrides(SMALL, [override])
    assert said in str(caught.value)


# Mistakes.


def test_all_mistakes_at_once():
    document = {
        "agent": {"type": "dqn", "double_q": "yes", "seed": 3},
        "environment": {"type": "grid_world", "save_mod": True},
        "steps": -1,
        "worker": {"num_env": 3},
        "evaluation": 5,
        "backend": "nmpy",
    }
    assert refusal(document) == [
        "steps: expected an integer >= 0, given -1",
        "worker.num_env: there is no such key. Did you mean 'num_envs'?",
        "evaluation: expected a mapping, given 5",
        "environment.save_mod: GridWorld has no such key. Did you mean 'save_mode'?",
        "agent.seed: say it once, as seed",
        "agent.double_q: expected true or false, given 'yes'",
        "backend: unknown backend 'nmpy'. Did you mean 'numpy'?",
    ]


def test_all_mistakes_of_overrides_at_once():
    given = ["optimizer_spec.learning_rate=-1", "gamma=0.5", "steps=-1", "worker.num_env=2", "noise"]
    with pytest.raises(SpecError) as caught:
        apply_overrides(SMALL, given)
    assert str(caught.value).splitlines() == [
        "gamma: there is no 'gamma'. It is 'discount' here.",
        "noise: expected path=value, such as optimizer_spec.learning_rate=1e-3",
        "steps: expected an integer >= 0, given -1",
        "worker.num_env: there is no such key. Did you mean 'num_envs'?",
        "agent.optimizer_spec.learning_rate: expected a number >= 0, given -1",
    ]


def test_a_right_document_is_a_run():
    assert check(SMALL).steps == 100


# Defaults.


@pytest.mark.parametrize(
    "document", [SMALL, {**SMALL, "agent": "dqn", "environment": {"type": "grid_world"}}]
)
def test_resolving_again_changes_nothing(document):
    resolved = resolve(document)
    assert resolve(json.loads(json.dumps(resolved))) == resolved


def test_defaults_are_written_out_in_all_parts():
    resolved = resolve(SMALL)
    agent = resolved["agent"]
    assert resolved["worker"]["num_envs"] == 1
    assert agent["discount"] == 0.99
    assert agent["memory_spec"]["capacity"] == 10_000
    assert agent["optimizer_spec"]["beta2"] == 0.999
    assert agent["update_spec"]["batch_size"] == 64
    assert agent["execution_spec"]["dtype"] == "float32"
    assert agent["network_spec"][0]["weights_spec"] == "glorot_uniform"


def threads_of(execution):
    return resolve({**SMALL, "agent": {"type": "dqn", **execution}})["agent"]["execution_spec"]["threads"]


def test_threads_of_a_run():
    """One rule, whoever begins the run: one thread, unless the document says otherwise."""
    assert threads_of({}) == threads_of({"execution_spec": None}) == 1
    assert threads_of({"execution_spec": {"dtype": "float64"}}) == 1
    assert threads_of({"execution_spec": {"threads": 3}}) == 3
    assert threads_of({"execution_spec": {"threads": None}}) is None
    run = check(SMALL)
    assert complete(run) == complete(SMALL)
    assert complete(run).agent["execution_spec"]["threads"] == 1


def test_the_resolved_document_is_the_same_run():
    plain, resolved = (
        Agent.from_spec(document["agent"], env=document["environment"], backend="numpy", seed=5)
        for document in (SMALL, resolve(SMALL))
    )
    expected = plain.get_weights()
    found = resolved.get_weights()
    assert list(found) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def test_the_template_is_the_preset_s_run(tmp_path):
    (tmp_path / "run.yaml").write_text(config_template("dqn", "CartPole-v1", steps=7))
    document = read_document(tmp_path / "run.yaml")
    assert check(document) == check({**find_preset("dqn", "CartPole-v1").document, "steps": 7})


# What documents may import.

IMPORTED = {**SMALL, "environment": "rlgraph.environments.worlds.deterministic_env:DeterministicEnv"}


@pytest.mark.parametrize(
    "use",
    [
        check,
        resolve,
        lambda document: train(document, "run"),
        lambda document: apply_overrides(document, ["agent.type=rlgraph.agents:DQNAgent", "discount=0.5"]),
        lambda document: config_template("dqn", document["environment"]),
    ],
)
def test_documents_are_data_in_python_too(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=r"rlgraph.core.allow_imports\('rlgraph\.") as caught:
        use(IMPORTED)
    assert "--allow-imports rlgraph." in str(caught.value)
    with allow_imports("rlgraph.environments"):
        assert check(IMPORTED).environment == IMPORTED["environment"]
