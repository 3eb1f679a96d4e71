"""`config show` and `config validate` have no effect; `--allow-path` gives environments of data their paths."""

import json

import gymnasium
import pytest


class Writing(gymnasium.Wrapper):
    """Makes a folder, as RecordVideo does."""

    def __init__(self, env, video_folder):
        import os

        super().__init__(env)
        os.makedirs(video_folder, exist_ok=True)


@pytest.fixture
def document(monkeypatch, tmp_path):
    monkeypatch.setattr(gymnasium.wrappers, "Writing", Writing, raising=False)
    monkeypatch.setattr(gymnasium.wrappers, "__all__", [*gymnasium.wrappers.__all__, "Writing"])
    wrapper = {"type": "Writing", "video_folder": "videos"}
    environment = {"type": "gym", "gym_env": "CartPole-v1", "wrappers": [wrapper]}
    run = {"agent": {"type": "random"}, "environment": environment, "backend": "numpy", "steps": 4}
    (tmp_path / "run.json").write_text(json.dumps(run))
    return tmp_path


@pytest.mark.parametrize("command", ["train", "config show", "config validate"])
def test_a_path_is_refused(refused, document, command):
    refused("--allow-path videos", *command.split(), "run.json")
    assert not (document / "videos").exists()


@pytest.mark.parametrize("command", ["show", "validate"])
def test_reading_a_document_makes_no_environment(rlgraph, document, command):
    outcome = rlgraph("config", command, "run.json", "--allow-path", "videos")
    assert outcome.code == 0 and "the environment was not made" in outcome.err
    assert not (document / "videos").exists()
    outcome = rlgraph("config", command, "run.json", "--allow-path", "videos", "--make-environment")
    assert outcome.code == 0 and not outcome.err
    assert (document / "videos").exists()


@pytest.mark.parametrize("command", ["show", "validate"])
@pytest.mark.parametrize("overrides", [[], ["--set", "agent.seed=1"], ["--set", "agent.memory_spec.0=1"]])
def test_no_override_makes_the_environment(rlgraph, monkeypatch, command, overrides):
    made = []
    monkeypatch.setattr(gymnasium, "make", lambda *args, **kwargs: made.append(args))
    with open("run.json", "w") as file:
        json.dump({"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 4}, file)
    rlgraph("config", command, "run.json", *overrides)
    assert not made


def test_a_default_list_that_depends_on_the_environment_is_not_changed(rlgraph, refused):
    with open("run.json", "w") as file:
        json.dump({"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 4}, file)
    override = ("--set", "network_spec.0.units=7")
    refused("agent.network_spec: the default depends on the Spaces", "config", "show", "run.json", *override)
    assert "units: 7" in rlgraph("config", "show", "run.json", *override, "--make-environment").out


@pytest.mark.parametrize(
    "environment, agent, said",
    [
        ("CartPole-v9", {}, "environment: no environment 'CartPole-v9'"),
        ({"type": "gym", "gym_env": "CartPole-v9"}, {}, "environment: no environment 'CartPole-v9'"),
        ({"type": "grid_world", "word": "4x4"}, {}, "environment.word"),
        ("atari", {}, "environment.game: missing"),
        ("Pendulum-v1", {"type": "td3", "optimizer_spec": {"learning": 1}}, "agent.optimizer_spec.learning"),
        (
            "CartPole-v1",
            {"network_spec": [{"type": "dense", "units": 4}, {"type": "dens"}]},
            "network_spec[1].type",
        ),
    ],
)
def test_what_needs_no_spaces_is_checked(refused, environment, agent, said):
    with open("run.json", "w") as file:
        json.dump({"agent": {"type": "dqn", **agent}, "environment": environment, "steps": 4}, file)
    refused(said, "config", "validate", "run.json")


@pytest.mark.parametrize(
    "environment, agent",
    [
        ("CarRacing-v3", {"type": "ppo", "preprocessing_spec": [{"type": "grayscale"}]}),
        ("bit_flip", {"type": "dqn", "hindsight_spec": {"strategy": "final"}}),
        ("legal_moves", {"type": "ppo", "action_mask": "action_mask"}),
        ("Pendulum-v1", {"type": "td3", "exploration_spec": {"type": "ornstein_uhlenbeck_noise"}}),
    ],
)
def test_what_fits_other_spaces_is_no_fault(rlgraph, environment, agent):
    with open("run.json", "w") as file:
        json.dump({"agent": agent, "environment": environment, "steps": 4}, file)
    outcome = rlgraph("config", "validate", "run.json")
    assert outcome.code == 0, outcome.err


def test_what_is_allowed_is_given(rlgraph, document):
    assert rlgraph("train", "run.json", "--folder", "run", "--allow-path", "videos").code == 0
    assert (document / "videos").exists()


def test_a_default_that_does_not_fit_the_environment_is_a_fault(refused):
    with open("run.json", "w") as file:
        json.dump({"agent": "dqn", "environment": "Pendulum-v1", "steps": 4}, file)
    refused("policy_spec", "config", "validate", "run.json", "--make-environment")


def test_an_agent_without_a_type_is_a_fault(refused, document):
    run = json.loads((document / "run.json").read_text())
    for environment, options in ((run["environment"], ["--allow-path", "videos"]), ("CartPole-v1", [])):
        with open("run.json", "w") as file:
            json.dump({**run, "agent": {"discount": 0.9}, "environment": environment}, file)
        refused("agent.type", "config", "validate", "run.json", *options)
