"""Writing a checkpoint: what it holds, what takes its place and what never does."""

from __future__ import annotations

import errno
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint import MANIFEST, Checkpoint, Manifest, read_manifest, write_checkpoint
from rlgraph.core.ops.contract import CONTRACT_VERSION


def values(number: float) -> dict[str, dict[str, np.ndarray]]:
    return {"variables": {"a": np.full((2, 3), number), "b": np.array(number)}}


def write(directory: Path, value: float = 1.0, **facts: object) -> Path:
    return write_checkpoint(directory, values(value), Manifest(facts=facts))


def number_in(directory: Path) -> float:
    with Checkpoint(directory) as checkpoint:
        checkpoint.verify()
        return float(checkpoint.file("variables").read("b"))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "one", 1.5, number=1, nested={"a": [1, None, True]})
    with Checkpoint(tmp_path / "one") as checkpoint:
        assert checkpoint.manifest.facts == {"number": 1, "nested": {"a": [1, None, True]}}
        np.testing.assert_array_equal(checkpoint.file("variables").read("a"), np.full((2, 3), 1.5))
        assert checkpoint.file("variables").read("b").shape == ()
    assert names_in(tmp_path) == ["one"]
    assert names_in(tmp_path / "one") == [MANIFEST, "variables.safetensors"]


def test_the_manifest_says_by_what_it_was_written(make, tmp_path: Path) -> None:
    executor = make(past=7)
    executor.backend.choices["compile:call"] = "eager"
    executor.save(tmp_path / "one", facts={"steps": 3})
    manifest = read_manifest(tmp_path / "one")
    assert (manifest.backend, manifest.dtype, manifest.seed) == ("numpy", "float32", 7)
    assert manifest.contract == CONTRACT_VERSION
    assert manifest.rlgraph_core == version("rlgraph-core")
    assert (manifest.facts, manifest.choices) == ({"steps": 3}, {"compile:call": "eager"})
    assert json.loads((tmp_path / "one" / MANIFEST).read_text())["version"] == 2


def test_keys_and_tuples_of_facts_become_those_of_json(tmp_path: Path) -> None:
    given = {"by number": {10: "a", 9: "b"}, "pair": (1, 2)}
    write_checkpoint(tmp_path / "one", {}, Manifest(facts=given))
    assert read_manifest(tmp_path / "one").facts == {"by number": {"10": "a", "9": "b"}, "pair": [1, 2]}


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (float("nan"), "not JSON compliant"),
        (float("-inf"), "not JSON compliant"),
        (np.float32(1), "float32 is not JSON serializable"),
        ({1: 1, "a": 2}, "not supported between"),
        ("x" * (1 << 24), "bytes of JSON, at most 16,777,216 are read"),
    ],
)
def test_facts_that_could_not_be_read_again_are_refused(tmp_path: Path, fact: object, said: str) -> None:
    write(tmp_path / "one")
    with pytest.raises(CheckpointError, match=said):
        write(tmp_path / "one", 2.0, fact=fact)
    assert number_in(tmp_path / "one") == 1.0
    assert names_in(tmp_path) == ["one"]


def test_facts_that_contain_themselves_are_refused(tmp_path: Path) -> None:
    fact: list[object] = []
    fact.append(fact)
    with pytest.raises(CheckpointError, match="cannot be written as JSON: Circular reference"):
        write(tmp_path / "one", fact=fact)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("moment", [1, 2])
def test_an_interruption_between_the_renames_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    write(tmp_path / "one")
    rename, calls = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == moment:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "one", 2.0)
    assert number_in(tmp_path / "one") == 1.0
    assert names_in(tmp_path) == ["one"]


def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(CheckpointError, match="mine exists and is not a checkpoint: give another directory"):
        write(tmp_path / "mine")
    with pytest.raises(CheckpointError, match="thesis.txt exists and is not a checkpoint"):
        write(tmp_path / "mine" / "thesis.txt")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    assert number_in(write(tmp_path / "empty")) == 1.0


def test_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="loop could not be written: "):
        write(tmp_path / "loop")
    with pytest.raises(CheckpointError, match="file/one could not be written: .*Not a directory"):
        write(tmp_path / "file" / "one")
    with pytest.raises(CheckpointError, match="/ exists and is not a checkpoint"):
        write(Path("/"))
    with pytest.raises(CheckpointError, match="x{300} could not be written: .*File name too long"):
        write(tmp_path / ("x" * 300))


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    write(tmp_path / "one")
    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(CheckpointError, match="one could not be written: .*Permission denied"):
        write(tmp_path / "one")
    monkeypatch.undo()
    assert number_in(tmp_path / "one") == 1.0


def test_of_a_link_the_checkpoint_is_replaced_that_it_points_to(tmp_path: Path) -> None:
    write(tmp_path / "step-1")
    (tmp_path / "latest").symlink_to("step-1")
    assert write(tmp_path / "latest", 2.0) == tmp_path / "step-1"
    assert number_in(tmp_path / "latest") == number_in(tmp_path / "step-1") == 2.0
    assert (tmp_path / "latest").is_symlink()
    assert names_in(tmp_path) == ["latest", "step-1"]


# Disks that are full or broken.


def system_calls() -> frozenset[str]:
    return frozenset({"mkdir", "open", "write", "flush", "fsync", "rename"})


def fail_at(moment: int, error: int) -> list[str]:
    """Let the system call `moment` of what follows fail, once; gives the names of those that were made."""
    made: list[str] = []

    def watch(_frame: object, event: str, function: object) -> None:
        name = getattr(function, "__name__", "")
        if event == "c_call" and name in system_calls():
            made.append(name)
            if len(made) == moment:
                sys.setprofile(None)
                raise OSError(error, os.strerror(error))

    sys.setprofile(watch)
    return made


@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk_leaves_the_old_one(tmp_path: Path, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever system call meets it, the old checkpoint stays, and nothing of the new one is left."""
    monkeypatch.setattr(
        "rlgraph.core.checkpoint.writing.version", lambda name: "1.0"
    )  # it reads files as well
    target = tmp_path / "runs" / "one"
    if old:
        write(target)
    for moment in range(1, 100):
        made = fail_at(moment, errno.ENOSPC)
        try:
            write(target, 2.0)
        except CheckpointError as error:
            assert "one could not be written: [Errno 28] No space left" in str(error)
            assert "it needs 0.0 MB in addition to the old one). An earlier checkpoint is unchanged" in str(
                error
            )
        else:
            break
        finally:
            sys.setprofile(None)
        if old:
            assert number_in(target) == 1.0, made
        assert not target.parent.exists() or names_in(target.parent) == (["one"] if old else []), made
    assert number_in(target) == 2.0
    # The last one is the first that may fail: moving the old one out of the way to be removed.
    end = ["rename", "rename", "open", "fsync", "rename"] if old else ["rename", "open", "fsync"]
    assert made[-len(end) :] == end
    assert moment == len(made) if old else moment > len(made)


def test_other_errors_do_not_speak_of_space(tmp_path: Path) -> None:
    fail_at(4, errno.EIO)
    try:
        with pytest.raises(CheckpointError, match=r"Input/output error. An earlier checkpoint is unchanged$"):
            write(tmp_path / "one")
    finally:
        sys.setprofile(None)


def test_everything_is_on_disk_before_it_is_renamed(tmp_path: Path) -> None:
    """After a power failure only what was synced is there: files before their folder, all of that before renames."""
    write(tmp_path / "one")
    events: list[str] = []

    def watch(_frame: object, event: str, function: object) -> None:
        name = getattr(function, "__name__", "")
        if event == "c_call" and name in ("flush", "fsync", "rename", "rmdir"):
            events.append(name)

    sys.setprofile(watch)
    try:
        write(tmp_path / "one", 2.0)
    finally:
        sys.setprofile(None)
    file = ["flush", "fsync"]
    folder = ["fsync"]
    assert events == [*file, *file, *folder, "rename", "rename", *folder, "rename", "rmdir"]
