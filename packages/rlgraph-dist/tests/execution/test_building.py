"""Building Horovod: what is missing is said; a wheel is built once for each set of versions."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlgraph.execution.horovod import build


@pytest.fixture
def no_command(monkeypatch, tmp_path):
    """The commands that would run; a wheel lies where they are told to write it."""
    commands = []

    def run(command, settings=None, seconds=None):
        commands.append((command, settings))
        if "-w" in command:
            folder = Path(command[-1])
            folder.mkdir()
            (folder / f"horovod-{build.VERSION}-cp311-cp311-linux_x86_64.whl").write_text("wheel")

    monkeypatch.setattr(build, "_run", run)
    monkeypatch.setenv("RLGRAPH_CACHE", str(tmp_path))
    return commands


def test_the_wheel_is_built_once_and_kept(no_command):
    wheel = build.wheel_for(sys.executable, 60.0)
    assert wheel.read_text() == "wheel" and "torch-" in wheel.parent.name
    tools, built = no_command
    assert "--target" in tools[0] and built[0][-3:-1] == [f"horovod=={build.VERSION}", "-w"]
    settings = built[1]
    assert settings["HOROVOD_WITH_PYTORCH"] == settings["HOROVOD_WITHOUT_MXNET"] == "1"
    assert settings["HOROVOD_WITH_GLOO"] == "1"
    assert build.wheel_for(sys.executable, 60.0) == wheel and len(no_command) == 2


def test_a_missing_compiler_is_said_with_what_installs_it(no_command, monkeypatch, capsys):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert build.main(["--only-build"]) == build.NOT_POSSIBLE
    assert "found no 'no-such-compiler': install one (apt-get install g++)" in capsys.readouterr().err
    assert not no_command


def test_an_environment_without_a_framework_is_refused(no_command, monkeypatch):
    monkeypatch.setattr(build, "FRAMEWORKS", ("no-framework",))
    with pytest.raises(build.NotPossible, match="install rlgraph-torch or rlgraph-tf first"):
        build.wheel_for(sys.executable, 60.0)


def test_what_takes_too_long_and_what_fails_are_told_apart():
    with pytest.raises(build.NotPossible, match="not built within 0.1 s: give it more --minutes"):
        build._run([sys.executable, "-c", "import time; time.sleep(5)"], seconds=0.1)
    with pytest.raises(build.BuildFailure, match="no such header") as failure:
        build._run([sys.executable, "-c", "raise SystemExit('no such header')"])
    assert not isinstance(failure.value, build.NotPossible)


@pytest.mark.skipif(find_spec("horovod") is not None, reason="Horovod is installed")
def test_a_missing_horovod_is_said_with_what_builds_it():
    from rlgraph.core import CollectiveError, PluginError
    from rlgraph.core.collectives.place import Place, make_collective
    from rlgraph.execution.horovod.collective import HorovodCollective

    with pytest.raises(
        CollectiveError, match=r"No module named 'horovod'.*python -m rlgraph.execution.horovod.build"
    ):
        HorovodCollective(0, 2, "127.0.0.1:1", 1.0)
    with pytest.raises(PluginError, match=r"collective: collective 'horovod' needs horovod.*horovod.build"):
        make_collective("horovod", Place(0, 2, "127.0.0.1:1"))
