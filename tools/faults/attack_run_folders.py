#!/usr/bin/env python3
"""Damages the folder of one small run in many ways, and holds what the commands make of it against the whole run.

A run that acts on NumPy is made once, finished and killed. Each attack damages a copy of it: bytes, types, numbers,
rows, files. Some are forgeries: their checksums are made right again. Then the run is evaluated, compared, reported and
resumed. Each of these may succeed or give one message. Counted as faults are a traceback, a hang, a command that was
executed, a file outside of the folder that changed, and, but for forgeries, a resumed run that differs from the whole
one without a word.

    python3 tools/faults/attack_run_folders.py --attacks 500
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
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from harness import TimeLimit, command_line, parser_of, places_of, time_limit, without_pictures

STEPS = 60
#: Bytes of this process at most.
MEMORY = 4 << 30
RECORDS = ("metrics.csv", "metrics.jsonl", "episodes.csv", "evaluations.jsonl")
JSON = ("config.json", "result.json")
#: What may stand in the place of any value.
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 10**400, 1e308, "", "text", "NaN", [], {}, [[]], [None] * 3, {"type": "os:system"},
)  # fmt: skip


def main() -> int:
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--only", type=int, help="one attack, with its tracebacks")
    parser.add_argument("--seconds", type=int, default=20, help="one command may take")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory(prefix="attack_run_folders.") as name:
        return attack(Path(name), options)


def attack(place: Path, options: argparse.Namespace) -> int:
    """All attacks; 1 if anything happened that must not."""
    make_runs(place)
    counts: Counter[str] = Counter()
    faults = 0
    os.environ["CANARY"] = str(place / "canary")
    (place / "outside").write_text("outside")
    for number in range(options.attacks) if options.only is None else [options.only]:
        draw = random.Random(f"{options.seed}/{number}")
        folder = place / "attacked"
        shutil.copytree(place / draw.choice(("finished", "killed")), folder)
        name = draw.choice(list(ATTACKS))
        what = f"{name}: {ATTACKS[name](folder, draw)}"
        for command in COMMANDS:
            outcome = run_command(command, folder, place, options)
            counts[f"{command}: {outcome.partition(':')[0]}"] += 1
            silent = outcome == "unequal" and "forged" not in what
            if outcome.startswith(("TRACEBACK", "HANG")) or silent:
                faults += 1
                print(f"{number:4} {what}\n     {command}: {outcome}", flush=True)
        if (place / "canary").exists() or (place / "outside").read_text() != "outside":
            faults += 1
            print(f"{number:4} {what}\n     EXECUTED, or written outside of the folder", flush=True)
            (place / "canary").unlink(missing_ok=True)
            (place / "outside").write_text("outside")
        shutil.rmtree(folder)
    print(*(f"{count:5}  {outcome}" for outcome, count in sorted(counts.items())), sep="\n")
    print(f"{faults} faults")
    return 1 if faults else 0


# The run.


def document() -> dict[str, Any]:
    """A run that acts in an environment that can tell its state, with reports, evaluations and checkpoints."""
    flatten = {"type": "reshape", "flatten": True, "flatten_categories": True}
    return {
        "agent": {
            "type": "dqn",
            "network_spec": [flatten, {"type": "dense", "units": 4}],
            "update_spec": {"do_updates": False},
            "memory_spec": {"capacity": 50},
        },
        "environment": {"type": "grid_world", "world": "4x4"},
        "backend": "numpy",
        "steps": STEPS,
        "seed": 2,
        "worker": {"num_envs": 2, "max_timesteps_per_episode": 9},
        "logging": {"report_interval": 10, "tensorboard": False},
        "evaluation": {"interval": 24, "episodes": 2, "final_episodes": 2},
        "checkpoints": {"interval": 20},
    }


def make_runs(place: Path) -> None:
    """``finished``, and ``killed``: the same run, which died after its second checkpoint."""
    from rlgraph.runs import train
    from rlgraph.workers import Callback

    class Killed(Exception):
        pass

    class Kill(Callback):
        def on_report(self, worker: Any, metrics: Any) -> None:
            if metrics["timesteps"] == 50:
                raise Killed

    without_pictures()
    train(document(), place / "finished")
    try:
        train(document(), place / "killed", [Kill()])
    except Killed:
        shutil.rmtree(place / "killed" / "checkpoints" / "last")


# Attacks: each damages a folder and says how.


def some_file(folder: Path, draw: random.Random) -> Path:
    return draw.choice(
        sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".yaml")
    )


def flip_bits(folder: Path, draw: random.Random) -> str:
    file = some_file(folder, draw)
    content = bytearray(file.read_bytes())
    for _ in range(draw.choice((1, 1, 3, 20))):
        if content:
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)
    return str(file.relative_to(folder))


def truncate(folder: Path, draw: random.Random) -> str:
    file = some_file(folder, draw)
    size = draw.randrange(file.stat().st_size + 1)
    os.truncate(file, size)
    return f"{file.relative_to(folder)} at {size}"


def remove(folder: Path, draw: random.Random) -> str:
    file = draw.choice(sorted(folder.rglob("*")))
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    return str(file.relative_to(folder))


def replace(folder: Path, draw: random.Random) -> str:
    """Something that is not a regular file in the place of a file or folder."""
    file = draw.choice(sorted(folder.rglob("*")))
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    kinds: dict[str, Callable[[], Any]] = {
        "directory": file.mkdir,
        "pipe": lambda: os.mkfifo(file),
        "link to a file": lambda: file.symlink_to(folder.parent / "outside"),
        "link to a device": lambda: file.symlink_to("/dev/zero"),
        "link to its folder": lambda: file.symlink_to(file.parent),
        "link to nothing": lambda: file.symlink_to("nowhere"),
        "empty file": lambda: file.write_bytes(b""),
        "random bytes": lambda: file.write_bytes(draw.randbytes(300)),
    }
    kind = draw.choice(list(kinds))
    kinds[kind]()
    return f"{kind} in the place of {file.relative_to(folder)}"


def edit_rows(folder: Path, draw: random.Random) -> str:
    """Rows twice, gone, in another order, or with another cell."""
    file = folder / draw.choice(RECORDS)
    lines = file.read_bytes().splitlines(keepends=True)
    at = draw.randrange(len(lines))
    kind = draw.choice(("twice", "gone", "order", "cell", "cell"))
    if kind == "twice":
        lines.insert(at, lines[at])
    elif kind == "gone":
        del lines[at]
    elif kind == "order":
        draw.shuffle(lines)
    else:
        cells = lines[at].rstrip(b"\r\n").split(b",")
        cells[draw.randrange(len(cells))] = draw.choice(
            (b"", b"nan", b"-inf", b"1e999", b"9" * 400, b"text", b"\xff", b"\0", b'"', b"{" * 2000, b"0.5")
        )
        lines[at] = b",".join(cells) + b"\n"
    file.write_bytes(b"".join(lines))
    return f"{kind} in row {at} of {file.name}"


def edit_json(folder: Path, draw: random.Random) -> str:
    """Another value somewhere in a JSON file; its checksum is made right every other time."""
    from rlgraph.runs.run_files import digest, without

    file = folder / draw.choice([name for name in JSON if (folder / name).exists()])
    content = json.loads(file.read_text())
    said = edit(content, draw)
    if forged := draw.random() < 0.5 and "checksum" in content:
        content["checksum"] = digest(without(content, "checksum"))
    file.write_text(json.dumps(content))
    return f"{'forged ' if forged else ''}{file.name}: {said}"


def edit_checkpoint(folder: Path, draw: random.Random) -> str:
    """Another value in the facts of all full checkpoints; all checksums are right."""
    from rlgraph.core.checkpoint.manifest import read_manifest, write_manifest

    said, seed = "", draw.random()
    for path in sorted((folder / "checkpoints").glob("[sl]*")):
        manifest = read_manifest(path)
        facts = manifest.facts
        again = random.Random(seed)
        target = facts["run"] if again.random() < 0.8 else facts
        said = edit(target, again)
        try:
            write_manifest(path, manifest)
        except Exception:  # what no manifest can hold
            return "nothing"
    return f"forged state of the run: {said}"


def edit_memory(folder: Path, draw: random.Random) -> str:
    """Another number in the memory of all checkpoints; all checksums are right."""
    from rlgraph.core.checkpoint.manifest import read_manifest, write_manifest
    from rlgraph.core.checkpoint.tensor_file import TensorFile, write_tensors

    said, seed = "", draw.random()
    for host in sorted((folder / "checkpoints").glob("*/host.safetensors")):
        again, file = random.Random(seed), TensorFile(host)
        arrays = {name: file.read(name) for name in sorted(file.entries)}
        file.close()
        name = again.choice(["dqn/memory/cursor", *arrays])
        array = arrays.get(name, next(iter(arrays.values())))
        value = again.choice((-1, 2, 51, 10**6, 2**62)) if array.dtype.kind == "i" else again.choice((0, 1))
        array.flat[again.randrange(array.size)] = value
        manifest = read_manifest(host.parent)
        write_manifest(
            host.parent,
            replace_fields(manifest, files={**manifest.files, host.name: write_tensors(host, arrays)}),
        )
        said = f"{name}: {value}"
    return f"forged memory: {said}"


def edit(content: Any, draw: random.Random) -> str:
    """Replace, remove or add one value inside `content`."""
    parent, key, path = draw.choice(list(places_of(content)))
    kind = draw.choice(("value", "value", "value", "remove", "add"))
    if kind == "remove":
        del parent[key]
    elif kind == "add" and isinstance(parent, dict):
        parent["added"] = draw.choice(VALUES)
    else:
        old = parent[key]
        numbers = (old + 1, -old, old * 10**6, str(old), [old]) if type(old) in (int, float) else ()
        parent[key] = draw.choice((*VALUES, *numbers))
        return f"{path} = {str(parent[key])[:40]}"
    return f"{kind} {path}"


def name_commands(folder: Path, draw: random.Random) -> str:
    """Specs that name something that could be called; the checksum is right, and so is the digest."""
    from rlgraph.runs.run_files import digest, without

    file = folder / "config.json"
    content = json.loads(file.read_text())
    command = 'touch "$CANARY"'
    spec = draw.choice(
        (
            {"type": "os:system", "command": command},
            {"type": "subprocess:check_output", "args": command, "shell": True},
            {"type": "builtins:exec", "source": f"import os; os.system('''{command}''')"},
            "os:system",
        )
    )
    run = content["run"]
    kind = draw.choice(("environment", "agent", "network", "memory", "optimizer", "backend"))
    if kind in ("environment", "agent"):
        run[kind] = spec
    elif kind == "network":
        run["agent"]["network_spec"] = [spec]
    elif kind == "backend":
        content["chosen"]["backend"] = "os:system"
    else:
        run["agent"][f"{kind}_spec"] = spec
    content["checksum"] = digest(without(content, "checksum"))
    file.write_text(json.dumps(content))
    return f"forged {kind}: {spec}"


ATTACKS: dict[str, Callable[[Path, random.Random], str]] = {
    function.__name__: function
    for function in (
        flip_bits,
        truncate,
        remove,
        replace,
        edit_rows,
        edit_json,
        edit_checkpoint,
        edit_memory,
        name_commands,
    )
}


# Commands.


def evaluate(folder: Path) -> None:
    command("evaluate", str(folder), "--episodes", "1", "--json")


def compare(folder: Path) -> None:
    command("compare", str(folder), "--json")


def report(folder: Path) -> None:
    """What a finished run says, and the differences between two."""
    from rlgraph.runs import run_differences
    from rlgraph.runs.records import read_episodes, read_evaluations, read_metrics
    from rlgraph.runs.run_folder import finished_steps

    run_differences(folder.parent / "finished", folder)
    for read in (finished_steps, read_metrics, read_episodes, read_evaluations):
        read(folder)


def resume(folder: Path) -> str:
    """The rest of the run; whether it equals the whole one, or says why not."""
    from rlgraph.runs import resume as resume_run

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        summary = resume_run(folder)
    if summary.departures:
        return "says why it differs"
    return "equal" if equal(folder.parent / "finished", folder) else "unequal"


def equal(whole: Path, other: Path) -> bool:
    from rlgraph.runs import run_differences

    # Step checkpoints that were damaged and passed over may still be there.
    return not [
        line for line in run_differences(whole, other) if "manifest.json" not in line and "step-" not in line
    ]


COMMANDS: dict[str, Callable[[Path], Any]] = {
    function.__name__: function for function in (evaluate, compare, report, resume)
}


class Refused(Exception):
    """A command ended with one message."""


def command(*arguments: str) -> None:
    """Run a command in this process.

    Raises:
        Refused: it gave a message.
    """
    code, words = command_line(*arguments)
    if code:
        raise Refused(words)


def run_command(name: str, folder: Path, place: Path, options: argparse.Namespace) -> str:
    """What became of a command."""
    from rlgraph.core import RLGraphError
    from rlgraph.spaces import SpaceError

    try:
        with time_limit(options.seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = COMMANDS[name](folder)
        return outcome or "done"
    except TimeLimit:
        return "HANG"
    except (RLGraphError, SpaceError, Refused) as error:
        if options.only is not None:
            print(f"{name}: {error}")
        return "one message"
    except BaseException as error:
        if options.only is not None:
            traceback.print_exc()
        return f"TRACEBACK: {type(error).__name__}: {str(error)[:100]}"


if __name__ == "__main__":
    sys.exit(main())
