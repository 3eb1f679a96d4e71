"""The files a run appends to, and cuts back."""

import errno
import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

from rlgraph.runs import RunFolderError, StorageError
from rlgraph.runs.records import RecordFile, Records, read_episodes, read_evaluations, read_metrics
from rlgraph.runs.run_state import RecordPrefix, RecordPrefixes
from rlgraph.runs.state_json import from_json, to_json
from rlgraph.workers import Evaluation

FIRST, SECOND = {"timesteps": 1.0, "loss": 0.1}, {"timesteps": 2.0}


def fill(records, metrics, number):
    records.add_metrics(metrics)
    records.add_episode(number, number / 3, number)
    records.add_evaluation(Evaluation((number / 7,), (number,), number))


def test_rows_behind_a_checkpoint_are_cut_off(tmp_path):
    records = Records(tmp_path)
    fill(records, FIRST, 1)
    prefixes = records.sync()
    before = contents(tmp_path)
    fill(records, SECOND, 2)
    records.close()
    Records(tmp_path, prefixes).close()
    assert contents(tmp_path) == before
    again = Records(tmp_path, prefixes)
    fill(again, SECOND, 3)
    again.close()
    assert read_metrics(tmp_path) == [FIRST, SECOND]
    assert read_episodes(tmp_path) == ([1 / 3, 1.0], [1, 3])
    assert read_evaluations(tmp_path) == [Evaluation((n / 7,), (n,), n) for n in (1, 3)]


@pytest.mark.parametrize("name", ["metrics.csv", "metrics.jsonl", "episodes.csv", "evaluations.jsonl"])
def test_a_prefix_that_was_changed(tmp_path, name):
    records = Records(tmp_path)
    fill(records, FIRST, 1)
    prefixes = records.sync()
    fill(records, SECOND, 2)
    records.close()
    file = tmp_path / name
    content = file.read_bytes()
    file.write_bytes(content.replace(b"1", b"2", 1))
    with pytest.raises(RunFolderError, match=f"{name} was changed.*first [0-9]+ bytes differ.*Restore it"):
        Records(tmp_path, prefixes)
    file.write_bytes(content[:20])
    with pytest.raises(RunFolderError, match=f"{name} was changed.*it has 20 bytes, it had [0-9]+"):
        Records(tmp_path, prefixes)
    file.write_bytes(content)
    Records(tmp_path, prefixes).close()


def test_the_digest_is_that_of_the_file_after_a_resume_too(tmp_path):
    records = Records(tmp_path)
    fill(records, FIRST, 1)
    prefixes = records.sync()
    records.close()
    again = Records(tmp_path, prefixes)
    fill(again, SECOND, 2)
    found = again.sync()
    again.close()
    for name, content in contents(tmp_path).items():
        prefix = getattr(found, name.replace(".", "_"))
        assert (prefix.size, prefix.sha256) == (len(content), hashlib.sha256(content).hexdigest())


def test_files_of_version_0_1_are_read_without_digests(tmp_path):
    records = Records(tmp_path)
    fill(records, FIRST, 1)
    sizes = {name: {"size": len(content), "sha256": None} for name, content in contents(tmp_path).items()}
    records.close()
    prefixes = RecordPrefixes(
        **{name.replace(".", "_"): RecordPrefix(**prefix) for name, prefix in sizes.items()}
    )
    Records(tmp_path, prefixes).close()


def test_a_row_that_does_not_fit_leaves_nothing(tmp_path, monkeypatch):
    """The disk takes half of a row and then no more."""
    file = RecordFile(tmp_path / "records", 0, hashlib.sha256())
    file.write("first\n")

    class Full:
        def __init__(self, handle):
            self.handle, self.room = handle, 3

        def __getattr__(self, name):
            return getattr(self.handle, name)

        def write(self, content):
            if not self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            written, self.room = self.handle.write(content[: self.room]), 0
            return written

    whole, file._handle = file._handle, Full(file._handle)
    with pytest.raises(StorageError, match="records cannot be written: No space left on device"):
        file.write("second\n")
    assert (tmp_path / "records").read_text() == "first\n"
    file._handle = whole
    file.write("third\n")
    prefix = file.sync()
    file.close()
    assert (tmp_path / "records").read_text() == "first\nthird\n"
    assert prefix.sha256 == hashlib.sha256(b"first\nthird\n").hexdigest()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("/dev/null")])
def test_what_is_no_file(tmp_path, make):
    make(tmp_path / "metrics.jsonl")
    with pytest.raises(StorageError, match=r"metrics\.jsonl"):
        Records(tmp_path)
    with pytest.raises(RunFolderError, match=r"metrics\.jsonl"):
        read_metrics(tmp_path)


COLUMNS, EVALUATIONS = "timesteps,return,length", "evaluations.jsonl"


@pytest.mark.parametrize(
    ("read", "name", "content", "said"),
    [
        (read_metrics, "metrics.jsonl", '{"timesteps": 1}\n{]\n', "line 2: "),
        (read_metrics, "metrics.jsonl", "[1]\n", "line 1: expected a mapping of numbers"),
        (read_metrics, "metrics.jsonl", '{"timesteps": "1"}\n', "line 1: expected a mapping of numbers"),
        (read_metrics, "metrics.jsonl", f'{{"timesteps": 1{400 * "0"}}}\n', "line 1: int too large"),
        (read_metrics, "metrics.jsonl", "[" * 100_000 + "\n", "line 1: maximum recursion"),
        (read_metrics, "metrics.jsonl", "\xff\n", "line 1: "),
        (read_evaluations, EVALUATIONS, '{"returns": [1.0]}\n', "line 1: an evaluation: lengths: missing"),
        (
            read_evaluations,
            EVALUATIONS,
            '{"returns": [NaN], "lengths": [1], "timesteps": 1}\n',
            "an evaluation: returns",
        ),
        (read_episodes, "episodes.csv", "timesteps,return\n", None),
        (read_episodes, "episodes.csv", "timesteps,return\n1,2\n", "line 2: expected the columns"),
        (read_episodes, "episodes.csv", f"{COLUMNS}\n1,2,3\n1,2\n", "line 3: expected 3 columns"),
        (read_episodes, "episodes.csv", f"{COLUMNS}\n1,inf,3\n", "line 2: expected a finite return"),
        (read_episodes, "episodes.csv", f"{COLUMNS}\n1,2,3.5\n", "line 2: invalid literal"),
    ],
)
def test_damaged_rows_are_named(tmp_path, read, name, content, said):
    (tmp_path / name).write_text(content, encoding="latin-1")
    if said is None:
        assert read(tmp_path) == ([], [])
        return
    with pytest.raises(RunFolderError, match=f"{name} cannot be read: .*{re.escape(said)}"):
        read(tmp_path)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"timesteps": 1.0}\n{"timest')
    assert read_metrics(tmp_path) == [{"timesteps": 1.0}]


@pytest.mark.parametrize(("read", "name"), [(read_metrics, "metrics.jsonl"), (read_episodes, "episodes.csv")])
def test_a_file_that_is_one_endless_line(tmp_path, read, name):
    (tmp_path / name).touch()
    os.truncate(tmp_path / name, 1 << 40)  # there is not a byte of it on the disk
    with pytest.raises(RunFolderError, match="expected a line of fewer than 16,777,216 characters"):
        read(tmp_path)


def test_states_of_environments_in_json():
    state = {
        "array": np.arange(6, dtype=np.uint8).reshape(2, 3)[:, ::-1],
        "empty": np.zeros((0, 2), np.float32),
        "number": np.float64(0.1),
        "list": [1, 2.5, "text", None, True, {"inner": np.array(2**63, np.uint64)}],
    }
    found = from_json(to_json(state))
    np.testing.assert_equal(found, state)
    assert found["array"].dtype == np.uint8
    assert found["empty"].dtype == np.float32
