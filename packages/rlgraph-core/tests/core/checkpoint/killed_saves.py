"""Saves a checkpoint in processes that die in front of one system call, each at another one, and looks what is there.

Prints JSON: the system calls of a save, and for each of them what was loaded after a death in front of it. Run as a
program: a fork of a process with threads could hang.
"""

import json
import os
import shutil
import sys
import warnings
from itertools import count
from pathlib import Path

import numpy as np

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint import (
    Checkpoint,
    Manifest,
    find_checkpoint,
    last_valid_checkpoint,
    write_checkpoint,
    writing,
)

CALLS = frozenset({"mkdir", "open", "write", "flush", "close", "fsync", "rename", "unlink", "rmdir"})


def save(target, number):
    arrays = {stem: {"a": np.full((50, 7), number), "b": np.array(number)} for stem in ("variables", "host")}
    write_checkpoint(target, arrays, Manifest(facts={"number": number}))


def load(target):
    """The number of the state that is loaded; everything in it must be of that number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = find_checkpoint(target)
    try:
        with Checkpoint(found) as checkpoint:
            checkpoint.verify()
            number = checkpoint.manifest.facts["number"]
            for stem in ("variables", "host"):
                for name in ("a", "b"):
                    assert (checkpoint.file(stem).read(name) == number).all()
    except CheckpointError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert last_valid_checkpoint(target.parent) == found
    return number


def die_at(moment, made):
    def watch(_frame, event, function):
        name = getattr(function, "__name__", "")
        if event == "c_call" and name in CALLS:
            made.append(name)
            if len(made) == moment:
                os._exit(9)

    sys.setprofile(watch)


def save_and_die(target, number, moment):
    """Whether the process died."""
    child = os.fork()
    if child == 0:
        die_at(moment, [])
        save(target, number)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def main(folder):
    writing.version = lambda name: "1.0"  # it reads files as well
    target = folder / "run" / "model"
    outcomes = []
    for moment in count(1):
        shutil.rmtree(target.parent, ignore_errors=True)
        save(target, 1.0)
        died = save_and_die(target, 2.0, moment)
        after = load(target)
        if not died:
            break
        # Once more, on top of what the first death has left; then a save that ends well.
        save_and_die(target, 3.0, moment)
        again = load(target)
        save(target, 4.0)
        last = load(target)
        outcomes.append([after, again, last, sorted(path.name for path in target.parent.iterdir())])
    shutil.rmtree(target.parent)
    firsts = []
    for moment in count(1):
        shutil.rmtree(target.parent, ignore_errors=True)
        if not save_and_die(target, 1.0, moment):
            break
        firsts.append(load(target))
    made = []
    die_at(0, made)
    save(target, 5.0)
    sys.setprofile(None)
    print(json.dumps({"calls": made, "outcomes": outcomes, "firsts": firsts, "complete": after}))


main(Path(sys.argv[1]))
