"""Reads hostile documents and run folders in a process of its own, under a hook that sees what Python does.

``hostile_data.py FOLDER``: prints a list of what happened outside of the run folders, and how many were read.
"""

import copy
import json
import os
import random
import shutil
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from rlgraph.agents import Agent
from rlgraph.runs import fork, resume, train
from rlgraph.runs.config_file import read_config, write_config
from rlgraph.runs.configuration import apply_overrides, check, read_document
from rlgraph.runs.loading import load_agent
from rlgraph.runs.recorded_run import read_run

DOCUMENTS, FOLDERS = 240, 60
CONNECTS = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile")
CHANGES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.symlink",
    "os.link",
    "os.truncate",
    "os.chmod",
)
ADDRESS = "127.0.0.1:9"
RANDOM = {"type": "random"}
DQN = {"type": "dqn", "network_spec": [{"type": "dense", "units": 4}], "update_spec": {"do_updates": False}}


def document(agent):
    return {
        "agent": copy.deepcopy(agent),
        "environment": "deterministic",
        "backend": "numpy",
        "steps": 4,
        "seed": 1,
        "worker": {"num_envs": 1},
        "evaluation": {"final_episodes": 1},
        "logging": {"tensorboard": False},
    }


def hostile_values(place):
    """What stands where something else is expected."""
    file = str(place / "touched")
    return [
        "canary_module:run",
        {"type": "canary_module:Layer"},
        {"type": "os:mkdir", "path": file},
        {"type": "subprocess.run", "args": ["touch", file]},
        "subprocess:run",
        ADDRESS,
        f"ray://{ADDRESS}",
        {"type": "ray", "address": ADDRESS},
        {"type": "ray", "address": "auto"},
        {"type": "distributed_tf", "cluster": {"learner": [ADDRESS], "actor": ["127.0.0.1:10"]}},
        {"type": "distributed_tf", "cluster": str(place / "cluster.json"), "allow_network": True},
        {"engine": {"type": "ray", "address": ADDRESS}, "actors": 1},
        {"type": "sync_batch", "engine": {"type": "distributed_tf", "allow_network": True}},
        {"learners": 2, "collective": {"type": "tensorflow", "allow_network": True}},
        {"learners": 2, "collective": {"type": "gloo", "address": ADDRESS}},
        {"wandb": {"project": "stolen", "entity": "somebody"}},
        {"mode": "online"},
        f"file://{file}",
        f"http://{ADDRESS}/",
        str(place / "pipe.json"),
        str(place / "pickle.npz"),
        "../../../touched",
        "/etc/passwd",
        "$(touch touched)",
        "{{7*7}}",
        10**30,
        float("nan"),
        [],
        {},
        None,
        [[[["canary_module:run"]]]],
    ]


def places_of(node, path=()):
    """All places in a document where a value stands, and where one can be added."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from places_of(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield (*path, i)
            yield from places_of(value, (*path, i))


#: Keys that documents may have, where the values above do harm if anything does.
ADDED = (
    ("executor_spec",),
    ("data", "file"),
    ("logging", "wandb"),
    ("environment",),
    ("agent", "execution_spec"),
    ("agent", "execution_spec", "collective"),
    ("agent", "execution_spec", "launcher"),
    ("agent", "memory_spec"),
    ("agent", "preprocessing_spec"),
    ("agent", "optimizer_spec"),
    ("agent", "type"),
    ("executor_spec", "engine"),
    ("worker", "vectorization"),
)


def put(node, path, value):
    for key in path[:-1]:
        inner = node[key] if isinstance(node, list) else node.get(key)
        if not isinstance(inner, dict | list):
            inner = node[key] = {}
        node = inner
    if isinstance(node, dict) or (
        isinstance(node, list) and isinstance(path[-1], int) and path[-1] < len(node)
    ):
        node[path[-1]] = value


#: Those that what only reads a run does not use.
UNUSED = (("executor_spec",), ("executor_spec", "engine"), ("logging", "wandb"), ("data", "file"))


def changed(draws, original, place, keys=None):
    """A document with one or two hostile values, at any place or at one of `keys`."""
    result = copy.deepcopy(original)
    for _ in range(draws.randint(1, 2)):
        path = draws.choice(keys or [*places_of(result), *ADDED, *ADDED])
        with suppress(KeyError, IndexError, TypeError, AttributeError):
            put(result, path, copy.deepcopy(draws.choice(hostile_values(place))))
    return result


class Watch:
    """Notes connections, processes, imports of the canary, and changes of files outside of a folder."""

    def __init__(self):
        self.allowed, self.seen = None, []
        sys.addaudithook(self._hear)

    def _hear(self, event, arguments):
        if self.allowed is None:
            return
        if event == "socket.bind" and arguments[1][:2] == ("::1", 0):  # urllib3 asks whether there is IPv6
            return
        if event == "subprocess.Popen" and arguments[0] == "git":  # which commit runs
            return
        if event in CONNECTS or event in STARTS:
            self._note(event, arguments)
        elif event == "import" and str(arguments[0]).startswith("canary_module"):
            self._note(event, arguments[:1])
        elif event in CHANGES:
            folder = next(
                (f"/proc/self/fd/{each}" for each in arguments if type(each) is int and each > 2), ""
            )
            self._check(
                event,
                *(
                    os.path.join(folder, os.fsdecode(each))
                    for each in arguments
                    if isinstance(each, str | bytes)
                ),
            )
        elif event == "open":
            file, mode, flags = arguments
            writes = any(sign in (mode or "") for sign in "wax+") or (flags or 0) & (os.O_WRONLY | os.O_RDWR)
            if writes and isinstance(file, str | bytes):
                self._check(event, file)

    def _check(self, event, *files):
        for file in files:
            place = os.path.realpath(os.fsdecode(file))
            if not place.startswith(str(self.allowed)) and not place.startswith("/dev/"):
                self._note(event, (place,))

    def _note(self, event, arguments):
        allowed, self.allowed = self.allowed, None  # what this does itself is not seen
        self.seen.append((event, repr(arguments)[:300]))
        self.allowed = allowed


def main(place):
    warnings.simplefilter("ignore")
    draws, outcomes = random.Random(20), {"accepted": 0, "refused": 0}
    runs = place / "runs"
    runs.mkdir()
    originals = []
    for number, agent in enumerate((RANDOM, DQN)):  # also imports all that a run needs, and fills caches
        originals.append(runs / f"original-{number}")
        train(document(agent), originals[-1])
        resume(originals[-1], steps=6)
        fork(originals[-1], runs / f"fork-{number}", steps=8)
        read_run(originals[-1])
    watch = Watch()

    def tries(call):
        watch.allowed = runs
        try:
            call()
            outcomes["accepted"] += 1
        except Exception:
            outcomes["refused"] += 1
        finally:
            watch.allowed = None

    for number in range(DOCUMENTS):
        given = changed(draws, document(draws.choice((RANDOM, DQN))), place)
        file = runs / f"document-{number}.json"
        file.write_text(json.dumps(given))
        for call in (
            lambda file=file: check(apply_overrides(read_document(file), ["steps=5"])),
            lambda file=file, number=number: train(read_document(file), runs / f"run-{number}"),
        ):
            tries(call)
    for number in range(FOLDERS):
        folder = runs / f"planted-{number}"
        shutil.copytree(draws.choice(originals), folder)
        config = {name: value for name, value in read_config(folder).items() if name != "checksum"}
        config["run"] = changed(draws, config["run"], place, UNUSED if number % 2 else None)
        with suppress(Exception):
            write_config(folder, config)
        for call in (
            lambda folder=folder: Agent.load(folder),
            lambda folder=folder: load_agent(folder, checkpoint="last"),
            lambda folder=folder: read_run(folder),
            lambda folder=folder: resume(folder, steps=12),
            lambda folder=folder, number=number: fork(folder, runs / f"new-{number}", steps=12),
        ):
            tries(call)
    print(json.dumps({"seen": watch.seen, **outcomes}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
