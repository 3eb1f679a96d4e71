import json

import pytest

from rlgraph.core import SpecError, config, default_backend


class Installed:
    def __init__(self, *names):
        self._names = sorted(names)

    def names(self):
        return self._names


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Sets what is installed; nothing is configured otherwise."""
    monkeypatch.delenv("RLGRAPH_BACKEND", raising=False)
    monkeypatch.setenv("RLGRAPH_HOME", str(tmp_path))
    return lambda *names: monkeypatch.setattr(config, "registry", lambda group: Installed(*names))


def test_the_only_framework(installed):
    installed("numpy", "torch")
    assert default_backend() == "torch"


def test_none_installed(installed):
    installed("numpy")
    assert default_backend() == "numpy"


def test_several_installed(installed):
    installed("numpy", "tf", "torch")
    with pytest.raises(
        SpecError,
        match="several backends are installed: tf, torch.*backend='tf' .*--backend tf.*RLGRAPH_BACKEND",
    ):
        default_backend()


def test_file(installed, tmp_path):
    installed("numpy", "tf", "torch")
    (tmp_path / "rlgraph.json").write_text(json.dumps({"BACKEND": "tf", "DISTRIBUTED_BACKEND": "ray"}))
    assert default_backend() == "tf"


def test_a_file_without_a_backend(installed, tmp_path):
    installed("numpy", "torch")
    (tmp_path / "rlgraph.json").write_text("{}")
    assert default_backend() == "torch"


def test_environment_before_file(installed, tmp_path, monkeypatch):
    installed("numpy", "torch")
    (tmp_path / "rlgraph.json").write_text('{"BACKEND": "tf"}')
    monkeypatch.setenv("RLGRAPH_BACKEND", "numpy")
    assert default_backend() == "numpy"
    monkeypatch.setenv("RLGRAPH_BACKEND", "")
    assert default_backend() == "tf"


@pytest.mark.parametrize("content", ["{", "[1, 2]", '"tf"'])
def test_a_damaged_file(installed, tmp_path, content):
    installed("numpy")
    (tmp_path / "rlgraph.json").write_text(content)
    with pytest.raises(SpecError, match=r"rlgraph.json: expected a JSON object with 'BACKEND'"):
        default_backend()


def test_the_home_folder(installed, tmp_path, monkeypatch):
    installed("numpy", "torch")
    monkeypatch.delenv("RLGRAPH_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".rlgraph").mkdir()
    (tmp_path / ".rlgraph" / "rlgraph.json").write_text('{"BACKEND": "numpy"}')
    assert default_backend() == "numpy"


def test_nothing_is_written(installed, tmp_path):
    installed("numpy")
    default_backend()
    assert list(tmp_path.iterdir()) == []
