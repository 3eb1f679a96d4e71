"""A disk that is full while a run is written: one message, and everything that was saved before is right."""

import errno
import json
import warnings
from contextlib import contextmanager

import pytest
from doubles import raising, told

from rlgraph.cli.exit_codes import ExitCode, code_of
from rlgraph.runs import RunFolderWarning, StorageError, resume, run_differences, train

pytestmark = pytest.mark.usefixtures("undrawn")


def refuse(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


class Full:
    """A file on a full disk."""

    def __init__(self, handle):
        self._handle = handle

    def __getattr__(self, name):
        return getattr(self._handle, name)

    write = refuse


def fill_disk(fill):
    """A callback that makes writing one kind of file fail after the report of 30 steps."""
    return told(on_report=lambda worker, row: fill(worker.callbacks[0]) if row["timesteps"] == 30 else None)


@contextmanager
def one_message(said):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RunFolderWarning)
        with pytest.raises(StorageError) as caught:
            yield
    assert said in str(caught.value) and "No space left on device" in str(caught.value)
    (note,) = caught.value.__notes__
    assert "Free some space, then resume the run" in note
    assert code_of(caught.value) is ExitCode.RUN_FAILED


@pytest.mark.parametrize("name", ["metrics.csv", "metrics.jsonl", "episodes.csv", "evaluations.jsonl"])
def test_records(acting_run, tmp_path, name):
    train(acting_run(), tmp_path / "one")

    def fill(folder):
        file = folder._records._files[name]
        file._handle = Full(file._handle)

    with one_message(f"{name} cannot be written"):
        train(acting_run(), tmp_path / "other", [fill_disk(fill)])
    assert json.loads((tmp_path / "other" / "result.json").read_text())["outcome"] == "failed"
    # There was room for a last checkpoint: the records fit it.
    assert resume(tmp_path / "other").training.timesteps == 60


def test_checkpoints(acting_run, tmp_path, monkeypatch):
    """The ones before are intact, and the run that is resumed equals the one that was never left."""
    train(acting_run(), tmp_path / "one")
    with pytest.MonkeyPatch.context() as patch:

        def fill(folder):
            patch.setattr("rlgraph.core.checkpoint.writing.write_tensors", refuse)

        with one_message("step-000000040 could not be written"):
            train(acting_run(), tmp_path / "other", [fill_disk(fill)])
    names = sorted(path.name for path in (tmp_path / "other" / "checkpoints").iterdir())
    assert names == ["best", "step-000000020"]
    assert resume(tmp_path / "other").departures == ()
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_tensorboard_events(acting_run, tmp_path, monkeypatch):
    def fill(folder):
        monkeypatch.setattr("rlgraph.runs.event_file.RecordWriter.write", refuse)

    spec = acting_run(logging={"report_interval": 10, "tensorboard": True})
    with one_message("rlgraph cannot be written"):
        train(spec, tmp_path, [fill_disk(fill)])
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["best", "last", "step-000000020"]


def test_learning_that_is_complete_is_not_lost(acting_run, tmp_path):
    train(acting_run(), tmp_path / "one")
    with pytest.MonkeyPatch.context() as patch:
        error = StorageError("result.json cannot be written: No space left on device")
        patch.setattr("rlgraph.runs.result_file.replace_json", raising(error))
        with one_message("result.json cannot be written"):
            train(acting_run(), tmp_path / "other")
    assert resume(tmp_path / "other").departures == ()
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_what_only_shows_a_run_is_left_out(acting_run, tmp_path, monkeypatch):
    monkeypatch.setattr("rlgraph.runs.curve.draw_curve", refuse)
    with pytest.warns(RunFolderWarning, match=r"curve\.png cannot be written: No space left on device"):
        train(acting_run(), tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "finished"


def test_the_error_that_ended_the_training_is_the_one_that_is_raised(acting_run, tmp_path, monkeypatch):
    """Nothing can be kept of it; that is said too."""

    def fail(worker, metrics):
        monkeypatch.setattr("rlgraph.core.checkpoint.writing.write_tensors", refuse)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        train(acting_run(), tmp_path, [told(on_report=fail)])
    (note,) = caught.value.__notes__
    assert "last could not be written" in note
