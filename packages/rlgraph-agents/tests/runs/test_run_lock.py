"""One process at a time trains in a run folder."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
from doubles import raising, told

from rlgraph.runs import RunFolderError, StorageError, resume, run_folder, train
from rlgraph.runs import run_lock as module
from rlgraph.runs.run_lock import LOCK, run_lock

pytest.importorskip("fcntl")


@pytest.mark.parametrize("second", ["train", "resume"])
def test_a_second_process_is_told_which_one_trains(acting_run, tmp_path, undrawn, second):
    folder, errors = tmp_path / "run", []

    def begin_another(worker, metrics):
        with pytest.raises(RunFolderError) as caught:
            train(acting_run(), folder) if second == "train" else resume(folder)
        errors.append(str(caught.value))

    train(acting_run(steps=10), folder, [told(on_report=begin_another)])
    said = f"the process {os.getpid()} trains there. Wait for its end, stop it, or give another folder"
    assert errors == [f"{folder} is in use: {said}"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.fixture
def start_between(monkeypatch):
    """Makes `begin` happen in the next `new_run_in` between its look at the folder and its lock."""

    def prepare(begin):
        def lock(folder):
            if not (folder / "config.json").exists():  # not that of an earlier run
                monkeypatch.undo()
                begin(folder)
            return run_lock(folder)

        monkeypatch.setattr(run_folder, "run_lock", lock)

    return prepare


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("has_ended", [True, False])
def test_of_two_starts_at_once_the_loser_leaves_the_run_of_the_winner(
    tmp_path, start_between, before, has_ended
):
    run = tmp_path / "run"
    if before:
        run.mkdir()
        (run / "config.json").write_text("before")
    with ExitStack() as winner:

        def begin(folder):
            winner.enter_context(run_folder.new_run_in(folder))
            (folder / "metrics.csv").touch()
            if has_ended:
                (folder / "config.json").touch()
                winner.close()

        start_between(begin)
        said = "has a new run of another process" if has_ended else "is in use"
        with pytest.raises(RunFolderError, match=said), run_folder.new_run_in(run):
            raise AssertionError("both have begun")
        assert (run / "metrics.csv").exists()
        (run / "config.json").touch()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run", *["run.1"] * before]


def test_an_earlier_run_comes_back_where_there_is_no_lock(tmp_path, start_between):
    """As on a full disk; the folder of the new run is empty and goes."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text("before")

    start_between(raising(StorageError("no space")))
    with pytest.raises(StorageError, match="no space"), run_folder.new_run_in(run):
        raise AssertionError("it has begun")
    assert (run / "config.json").read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["run"]


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
