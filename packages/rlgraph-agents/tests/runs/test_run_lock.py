"""One process at a time trains in a run folder."""

import os
import subprocess
import sys

import pytest

from rlgraph.runs import RunFolderError, StorageError, resume, train
from rlgraph.runs import run_lock as module
from rlgraph.runs.run_lock import LOCK, run_lock
from rlgraph.workers import Callback

pytest.importorskip("fcntl")


class During(Callback):
    """Does something while the training goes on."""

    def __init__(self, action):
        self.action, self.errors = action, []

    def on_report(self, worker, metrics):
        with pytest.raises(RunFolderError) as caught:
            self.action()
        self.errors.append(str(caught.value))


@pytest.mark.parametrize("second", ["train", "resume"])
def test_a_second_process_is_told_which_one_trains(acting_run, tmp_path, undrawn, second):
    folder = tmp_path / "run"
    during = During(lambda: train(acting_run(), folder) if second == "train" else resume(folder))
    train(acting_run(steps=10), folder, [during])
    assert during.errors == [
        f"{folder} is in use: the process {os.getpid()} trains there. Wait for its end, stop it, or give another folder"
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_lock_goes_with_the_process(tmp_path):
    script = (
        f"import fcntl, os, sys; file = open({str(tmp_path / LOCK)!r}, 'w'); fcntl.flock(file, fcntl.LOCK_EX); "
        "print(os.getpid(), file=file, flush=True); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(RunFolderError, match=f"the process {process.pid} trains there"),
            run_lock(tmp_path),
        ):
            pass
    finally:
        process.kill()
        process.communicate()
    with run_lock(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_it_is_released_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), run_lock(tmp_path):
            raise ZeroDivisionError


def test_without_fcntl_nothing_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fcntl", None)
    with run_lock(tmp_path), run_lock(tmp_path):
        assert not (tmp_path / LOCK).exists()


def test_what_is_no_lock_file(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises(StorageError, match="to be a regular file or absent"), run_lock(tmp_path):
        pass
    (tmp_path / LOCK).unlink()
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError), run_lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()
