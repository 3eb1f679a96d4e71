"""Environments of data get no files and folders that the user has not allowed."""

import gymnasium
import pytest

from rlgraph.core import SpecError, allow_paths, data_specs
from rlgraph.environments import make_environment, make_vector_env
from rlgraph.environments.data_paths import paths_of
from rlgraph.runs import train
from rlgraph.runs.loading import load_agent


class Writing(gymnasium.Wrapper):
    """Makes a folder, as RecordVideo does."""

    def __init__(self, env, video_folder="films", prefix="a"):
        super().__init__(env)
        import os

        os.makedirs(video_folder, exist_ok=True)


FILM = {"type": "Writing", "video_folder": "videos"}
RECORDED = {"type": "gym", "gym_env": "CartPole-v1", "wrappers": [FILM]}


@pytest.fixture(autouse=True)
def shipped(monkeypatch, tmp_path):
    """The wrapper is one of Gymnasium's; the working directory is empty but for a file."""
    monkeypatch.setattr(gymnasium.wrappers, "Writing", Writing, raising=False)
    monkeypatch.setattr(gymnasium.wrappers, "__all__", [*gymnasium.wrappers.__all__, "Writing"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").touch()


@pytest.mark.parametrize(
    "arguments",
    [
        {"xml_file": "ant"},
        {"model_path": "ant"},
        {"log_dir": "logs"},
        {"files": {"first": ["ant"]}},
        {"anything": "/etc/passwd"},
        {"anything": ["../there"]},
        {"anything": {"deep": "a\\b"}},
        {"anything": "~root"},
        {"anything": "notes.txt"},
        {"anything": "a/b"},
        {"env_id": "../a"},
        {"env_id": "/a-v1"},
        {"wrappers": [{"type": "RecordVideo", "video_folder": "videos"}]},
        {"wrappers": [{"type": "Writing", "name_prefix": "../../a"}]},
    ],
)
def test_a_path_in_data_is_refused(arguments):
    spec = {"type": "gym", "gym_env": "CartPole-v1", **arguments}
    for make in (make_environment, lambda spec: make_vector_env(spec, 2)):
        with data_specs(), pytest.raises(SpecError, match=r"expected no path .*given .*--allow-path"):
            make(spec)
    with allow_paths(*(text for _, text in paths_of(spec))), data_specs():
        try:
            make_environment(spec).terminate()
        except Exception as error:
            assert "--allow-path" not in str(error)


@pytest.mark.parametrize(
    "spec",
    [
        "ALE/Pong-v5",
        {"type": "gym", "gym_env": "ale_py:ALE/Pong-v5", "render_mode": "rgb_array"},
        {
            "type": "anything",
            "env": "rlgraph/CartPole-v1",
            "desc": ["SF", "HG"],
            "wind_dir": 0.5,
            "path": None,
        },
        {"type": "grid_world", "world": "4x4"},
        {"type": "envpool", "task_id": "Pong-v5"},
    ],
)
def test_names_are_no_paths(spec):
    assert list(paths_of(spec)) == []


def test_the_place_is_named():
    with data_specs(), pytest.raises(SpecError) as raised:
        make_environment(RECORDED)
    (fault,) = raised.value.faults
    assert fault.path == "environment.wrappers[0].video_folder" and "'videos'" in fault.text


def test_only_what_is_allowed_is_given(tmp_path):
    with data_specs(), allow_paths("other"), pytest.raises(SpecError):
        make_environment(RECORDED)
    with data_specs(), allow_paths("videos"):
        make_environment(RECORDED)
    assert (tmp_path / "videos").exists()


def test_a_program_gives_any_path(tmp_path):
    make_environment(RECORDED).terminate()
    assert (tmp_path / "videos").exists()


def test_a_run_with_a_path_needs_the_permission_again():
    document = {"agent": "random", "environment": RECORDED, "backend": "numpy", "steps": 4}
    with pytest.raises(SpecError, match="--allow-path videos"):
        train(document, "run")
    with allow_paths("videos"):
        train(document, "run")
    with data_specs(), pytest.raises(SpecError, match="--allow-path videos"):
        make_environment(load_agent("run")[1].environment)
