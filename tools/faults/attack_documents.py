#!/usr/bin/env python3
"""Reads hostile and damaged documents with ``rlgraph config show``, and counts what must not happen.

Each document is a valid one, changed at random: values of other types and impossible sizes, import paths, deep
nesting, aliases, tags, paths of environments, broken text. It may be refused or shown; it may not give a traceback, run
code that it names, leave any other file, or take longer than ``--seconds``.

    python3 tools/faults/attack_documents.py --documents 1000 --seed 0
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from harness import TimeLimit, command_line, parser_of, places_of, time_limit

CANARY = "executed"
#: What this script puts into its folder.
OWN = {CANARY, "canary_module.py", "__pycache__", "pipe.json", "link.yaml", "document.json", "document.yaml"}
SIZES = (0, -1, 10**9, 10**12, 2**63 - 1, 10**400, 1e308, -1e-300, float("inf"), float("nan"))
NAMES = (
    "dqn",
    "dense",
    "adam",
    "CartPole-v1",
    "grid_world",
    "numpy",
    "",
    "..",
    "x" * 9000,
    "é\u202e",
    "a\nb",
)
#: What may be right somewhere, so that a document gets further.
MILD = (
    *(0, 1, 2, 64, 0.5, 1e-3, True, False, None, [0.5, 0.1], [], {}),
    *("relu", "replay_memory", "4x4", "adam", "conv2d"),
)
PATHS = ("os:mkdir", "canary_module:run", "canary_module.run", "builtins:exec", "subprocess:check_output")
TEXTS = ("", "\0", "!!python/object/apply:os.mkdir [executed]", "[" * 5000, "&a [*a]", "{" * 999, "%TAG ! x")


def main() -> int:
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0, help="after which a document counts as a hang")
    options = parser.parse_args()
    draws, seeds, times = random.Random(options.seed), valid_documents(), [0.0]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("canary_module.py").write_text(
            f"open({CANARY!r}, 'w')\ndef run(**kwargs): open({CANARY!r}, 'w')\n"
        )
        sys.path.append(folder)
        found = Counter(attacks(draws, seeds, options, times))
    print(", ".join(f"{found[what]} {what}" for what in ("shown", "refused", *FAILURES)), end="; ")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"slowest {max(times):.1f} s, peak memory {memory / 1024:.0f} MiB")
    return 1 if any(found[what] for what in FAILURES) else 0


FAILURES = ("tracebacks", "executions", "hangs", "effects")
#: Names of arguments and wrappers of environments that read or write files.
FILES = ("RecordVideo", "video_folder", "xml_file", "name_prefix", "model_path", "log_dir")


def attacks(
    draws: random.Random, seeds: list[Any], options: argparse.Namespace, times: list[float]
) -> Iterator[str]:
    """The outcome of each document, whose seconds go into `times`; what fails is printed."""
    for number in range(options.documents):
        file = write(draws, hostile(draws, draws.choice(seeds)))
        begin = time.monotonic()
        outcome, words = outcome_of(["config", "show", file.name], options.seconds)
        times.append(time.monotonic() - begin)
        if times[-1] > options.seconds:  # also where what was called took the alarm for an error of its own
            outcome = "hangs"
        if left := set(os.listdir()) - OWN:
            outcome = "effects"
            for name in left:
                shutil.rmtree(name, ignore_errors=True)
        if outcome in FAILURES:
            print(f"document {number}: {outcome}\n{file.read_bytes()[:2000]!r}\n{words[-3000:]}", flush=True)
        yield outcome


def valid_documents() -> list[Any]:
    """Runs with every preset, and the document of a template written out."""
    from rlgraph.runs.configuration import read_document, resolve

    shipped = Path(str(files("rlgraph.algorithms.presets"))).glob("*/*.yaml")
    runs = [{**read_document(file), "environment": "CartPole-v1", "steps": 100} for file in shipped]
    small = {"type": "dqn", "network_spec": [{"type": "dense", "units": 8}]}
    worlds = [
        {"type": "grid_world", "world": "4x4"},
        {"type": "gym", "gym_env": "CartPole-v1", "wrappers": []},
        {
            "type": "gym",
            "gym_env": "CartPole-v1",
            "wrappers": [{"type": "TimeLimit", "max_episode_steps": 9}],
        },
    ]
    return [*runs, *(resolve({"agent": small, "environment": world, "steps": 100}) for world in worlds)]


def hostile(draws: random.Random, document: Any) -> Any:
    """A copy of a document with one or two values changed."""
    document = json.loads(json.dumps(document))
    for _ in range(draws.randint(1, 2)):
        holder, key, _ = draws.choice(list(places_of(document)))
        holder[key] = draws.choice(CHANGES)(draws, holder[key])
        if isinstance(holder, dict) and draws.random() < 0.2:
            holder[draws.choice(NAMES)] = draws.choice(SIZES)
    return document


def deep(draws: random.Random, value: Any) -> Any:
    for _ in range(draws.choice((3, 20, 60, 400))):
        value = draws.choice(([value], {"type": value}, {"layers": [value]}, {"network_spec": value}))
    return value


CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda draws, value: draws.choice(SIZES),
    lambda draws, value: draws.choice(NAMES),
    lambda draws, value: draws.choice(PATHS),
    lambda draws, value: {"type": draws.choice(PATHS), "path": CANARY},
    lambda draws, value: draws.choice((None, True, [], {}, [None], {"": None}, [[[]]], "null")),
    *[lambda draws, value: draws.choice(MILD)] * 6,
    lambda draws, value: {**(value if isinstance(value, dict) else {}), draws.choice(FILES): "films"},
    lambda draws, value: {
        "type": "RecordVideo",
        "video_folder": draws.choice(("films", "../films", "/films")),
    },
    lambda draws, value: [value] * draws.choice((2, 50, 30_000)),
    lambda draws, value: draws.choice(("pipe.json", "/dev/zero", "link.yaml", "document.json", "no.toml")),
    deep,
)


def write(draws: random.Random, document: Any) -> Path:
    """A file with the document, in a third of all cases damaged as a text."""
    if not Path("pipe.json").exists():
        os.mkfifo("pipe.json")
        Path("link.yaml").symlink_to("/dev/zero")
    file = Path(draws.choice(("document.json", "document.yaml")))
    try:
        content = json.dumps(document).encode()
    except (RecursionError, ValueError):  # more digits than Python writes
        content = b"[" * 5000
    at = draws.randrange(len(content))
    if draws.random() < 1 / 3:
        inserted = draws.choice((b"", b"\xff\xfe", *(text.encode() for text in TEXTS)))
        content = content[:at] + inserted + content[at + draws.choice((0, 1, 40, len(content))) :]
    file.write_bytes(content)
    return file


def outcome_of(arguments: list[str], seconds: float) -> tuple[str, str]:
    """What a command does: ``shown``, ``refused`` or one of `FAILURES`; and what it wrote."""
    try:
        with time_limit(seconds):
            code, words = command_line(*arguments)
    except TimeLimit:
        return "hangs", traceback.format_exc()
    except BaseException:
        return "tracebacks", traceback.format_exc()
    if Path(CANARY).exists():
        Path(CANARY).rmdir() if Path(CANARY).is_dir() else Path(CANARY).unlink()
        return "executions", words
    return ("shown" if code == 0 else "refused"), words


if __name__ == "__main__":
    sys.exit(main())
