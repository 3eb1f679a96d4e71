"""A process that dies while it saves leaves the old state or the new one, whichever system call it was at."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    program = Path(__file__).with_name("killed_saves.py")
    command = [sys.executable, str(program), str(tmp_path_factory.mktemp("killed"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_every_boundary_is_tried(killed):
    calls = killed["calls"]
    assert calls.count("fsync") == 5  # three files, their folder, the folder above
    assert calls.count("rename") == 3
    assert {"mkdir", "open", "write", "flush", "close", "unlink", "rmdir"} <= set(calls)
    assert len(killed["outcomes"]) >= len(calls) > 30


def test_the_old_state_or_the_new_one_is_loaded(killed):
    after = [outcome[0] for outcome in killed["outcomes"]]
    assert set(after) == {1.0, 2.0}
    assert after == sorted(after)  # once it is the new one it stays the new one
    assert killed["complete"] == 2.0


def test_so_it_is_on_top_of_what_an_earlier_death_has_left(killed):
    for first, second, *_ in killed["outcomes"]:
        assert second in (first, 3.0)


def test_a_later_save_cleans_up(killed):
    for *_, last, names in killed["outcomes"]:
        assert (last, names) == (4.0, ["model"])


def test_the_first_save_leaves_nothing_or_all(killed):
    assert set(killed["firsts"]) == {None, 1.0}
