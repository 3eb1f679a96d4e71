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
def test_reading_a_document_makes_no_environment_with_paths(rlgraph, document, command):
    outcome = rlgraph("config", command, "run.json", "--allow-path", "videos")
    assert outcome.code == 0 and "it was not made" in outcome.err
    assert not (document / "videos").exists()


def test_what_is_allowed_is_given(rlgraph, document):
    assert rlgraph("train", "run.json", "--folder", "run", "--allow-path", "videos").code == 0
    assert (document / "videos").exists()


def test_a_default_that_does_not_fit_the_environment_is_a_fault(refused):
    with open("run.json", "w") as file:
        json.dump({"agent": "dqn", "environment": "Pendulum-v1", "steps": 4}, file)
    refused("policy_spec", "config", "validate", "run.json")


def test_an_agent_without_a_type_is_a_fault(refused, document):
    run = json.loads((document / "run.json").read_text())
    for environment, options in ((run["environment"], ["--allow-path", "videos"]), ("CartPole-v1", [])):
        with open("run.json", "w") as file:
            json.dump({**run, "agent": {"discount": 0.9}, "environment": environment}, file)
        refused("agent.type", "config", "validate", "run.json", *options)
