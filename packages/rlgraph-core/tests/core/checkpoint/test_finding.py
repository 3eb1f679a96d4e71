"""The last valid checkpoint: where damage or a save that was cut off has taken the newest."""

import os
import warnings

import numpy as np
import pytest

from rlgraph.core import CheckpointError, CheckpointWarning, last_valid_checkpoint
from rlgraph.core.checkpoint import Manifest, find_checkpoint, write_checkpoint


@pytest.fixture
def write(tmp_path):
    """Writes a checkpoint that counts as saved at second `time`."""

    def write(name, time, folder=tmp_path):
        directory = write_checkpoint(folder / name, {"variables": {"a": np.full(3, time)}}, Manifest())
        os.utime(directory / "manifest.json", (time, time))
        return directory

    return write


def damage(directory):
    file = directory / "variables.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


# In a folder.


def test_the_newest(write, tmp_path):
    write("step-9", 300)
    write("step-10", 200)
    assert last_valid_checkpoint(str(tmp_path)) == tmp_path / "step-9"


def test_of_two_saved_at_the_same_time_the_later_name(write, tmp_path):
    write("step-2", 200)
    write("step-1", 200)
    assert last_valid_checkpoint(tmp_path) == tmp_path / "step-2"


def test_damaged_ones_are_skipped_and_named(write, tmp_path):
    write("a", 100)
    write("b", 200)
    damage(write("c", 300))
    (write("d", 400) / "variables.safetensors").unlink()
    (write("e", 500) / "manifest.json").write_text("{")
    with pytest.warns(CheckpointWarning) as caught:
        assert last_valid_checkpoint(tmp_path) == tmp_path / "b"
    said = [str(warning.message) for warning in caught]
    assert len(said) == 3
    assert "e/manifest.json cannot be read" in said[0]
    assert "d is incomplete: variables.safetensors is missing; skipped" in said[1]
    assert "c/variables.safetensors is damaged: its checksum differs from the manifest's; skipped" in said[2]
    assert {warning.filename for warning in caught} == {__file__}


def test_older_ones_are_not_looked_at(write, tmp_path):
    damage(write("a", 100))
    write("b", 200)
    assert last_valid_checkpoint(tmp_path) == tmp_path / "b"


def test_what_is_no_checkpoint(write, tmp_path):
    write("a", 100)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    assert last_valid_checkpoint(tmp_path) == tmp_path / "a"
    (tmp_path / "lost").mkdir()
    with pytest.warns(CheckpointWarning, match="lost is not a checkpoint: it has no manifest.json; skipped"):
        assert last_valid_checkpoint(tmp_path) == tmp_path / "a"


def test_none(write, tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CheckpointError, match=f"there is no valid checkpoint in {folder}$"):
            last_valid_checkpoint(folder)
    damage(write("a", 100))
    damage(write("b", 200))
    with pytest.raises(
        CheckpointError, match="(?s)no valid checkpoint in .*b/variables.* is damaged.*a/variables"
    ):
        last_valid_checkpoint(tmp_path)


def test_the_preferred_one(write, tmp_path):
    best = write("best", 100)
    write("last", 200)
    write("older", 50)
    assert last_valid_checkpoint(tmp_path, prefer="best") == best
    damage(best)
    with pytest.warns(CheckpointWarning, match="best/variables.safetensors is damaged"):
        assert last_valid_checkpoint(tmp_path, prefer="best") == tmp_path / "last"
    assert last_valid_checkpoint(tmp_path, prefer="nothing") == tmp_path / "last"


# After a save that was cut off.


def test_what_a_cut_off_save_has_left_counts_where_nothing_else_is(write, tmp_path):
    write("a", 100)
    write("last", 200).rename(tmp_path / ".last.1a2b.old")
    with pytest.warns(
        CheckpointWarning, match="last is missing because a save was cut off; using .*1a2b.old"
    ):
        assert last_valid_checkpoint(tmp_path) == tmp_path / ".last.1a2b.old"
    with pytest.warns(CheckpointWarning, match="last is missing"):
        assert last_valid_checkpoint(tmp_path, prefer="last") == tmp_path / ".last.1a2b.old"
    write("other", 150).rename(tmp_path / ".a.1a2b.new")
    with pytest.warns(CheckpointWarning, match="last is missing"):
        last_valid_checkpoint(tmp_path)


@pytest.mark.parametrize(("damaged", "taken"), [((), "c"), (("c",), "b"), (("b", "c"), "a")])
def test_loading_takes_the_newest_that_is_whole(write, tmp_path, damaged, taken):
    places = {"a": ".last.0f.old", "b": ".last.0f.new", "c": ".last.77.new"}
    for time, (name, place) in enumerate(places.items()):
        path = write(name, 100 + time)
        if name in damaged:
            damage(path)
        path.rename(tmp_path / place)
    with pytest.warns(CheckpointWarning, match="last is missing") as caught:
        assert find_checkpoint(tmp_path / "last") == tmp_path / places[taken]
    assert len(caught) == 1
    # A later save removes them all, those of other names stay.
    write("last.1", 50).rename(tmp_path / ".last.1.0f.old")
    write("last", 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".last.1.0f.old", "last"]
    assert find_checkpoint(tmp_path / "last") == tmp_path / "last"


def test_through_a_link(write, tmp_path):
    write("step-1", 100).rename(tmp_path / ".step-1.0f.old")
    (tmp_path / "latest").symlink_to("step-1")
    with pytest.warns(CheckpointWarning, match="latest is missing"):
        assert find_checkpoint(tmp_path / "latest").name == ".step-1.0f.old"


def test_an_executor_loads_it_and_says_so_once(make, state, tmp_path):
    saved, other = make(past=3), make(past=5)
    saved.save(tmp_path / "last", facts={"steps": 3})
    (tmp_path / "last").rename(tmp_path / ".last.0f.old")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert other.load(tmp_path / "last") == {"steps": 3}
    (warning,) = caught
    assert issubclass(warning.category, CheckpointWarning)
    assert warning.filename == __file__
    assert state(other) == state(saved)


def test_nothing_whole_is_left(make, write, refused, tmp_path):
    path = write("last", 100)
    damage(path)
    path.rename(tmp_path / ".last.0f.new")
    refused(make(), tmp_path / "last", "last is not a checkpoint: it has no manifest.json")
