#!/usr/bin/env python3
"""Ends searches and benchmarks at random moments, and runs their commands again.

    python3 tools/faults/search_faults.py --ends 12

``rlgraph tune`` and ``rlgraph benchmark`` on CartPole, with environments in processes, are ended by SIGKILL and SIGTERM
by turns. Within 30 s no process of theirs may be left, nor shared memory; after SIGTERM no temporary file either, and
the exit code is that of an interruption. Then the same command goes on, and is ended again. At the end it is left to
do the rest: all trials and seeds must be there, once. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from harness import Leftovers, parser_of, start, unfinished_in, verdict, wait

#: Seconds until all processes must have ended, and until a command that is left alone must be done.
LIMIT, DONE = 30.0, 600.0
#: Trials and seeds, and seconds in which a command is ended.
NUMBER, ENDED = 6, (2.0, 25.0)
INTERRUPTED = 130
AGENT = {"type": "ppo", "rollout_length": 64, "network_spec": [16], "execution_spec": {"threads": 1}}
DOCUMENT = {
    "agent": AGENT,
    "environment": "CartPole-v1",
    "steps": 6000,
    "worker": {"num_envs": 2, "vectorization": "processes", "processes": 2},
    "logging": {"tensorboard": False},
    "evaluation": {"interval": 1500, "episodes": 1, "final_episodes": 1, "policy": "last"},
    "checkpoints": {"interval": 1000},
}


class Search:
    """A search for options, in the working directory.

    Args:
        place: the working directory.
    """

    def __init__(self, place: Path):
        self.folder = place / "tuning" / "ppo-CartPole-v1"
        (place / "run.json").write_text(json.dumps({**DOCUMENT, "backend": "torch"}))
        (place / "space.json").write_text(json.dumps({"num_epochs": [1, 2, 3]}))
        self.arguments = ["tune", "run.json", "--space", "space.json", "--trials", str(NUMBER)]

    def problems(self) -> list[str]:
        """What is wrong when the command has done all."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        storage = JournalStorage(JournalFileBackend(str(self.folder / "study.log")))
        (study,) = optuna.get_all_study_names(storage)
        states = [trial.state.name for trial in optuna.load_study(study_name=study, storage=storage).trials]
        print(f"trials: {', '.join(states)}", flush=True)
        ended = states.count("COMPLETE") + states.count("PRUNED")
        return [
            *([] if ended == NUMBER else [f"expected {NUMBER} trials, given {ended}"]),
            *([] if set(states) <= {"COMPLETE", "PRUNED", "FAIL"} else [f"trials: {states}"]),
            *([] if (self.folder / "best.yaml").exists() else ["there is no best.yaml"]),
            *(f"left: {path}" for path in self.folder.glob("study.log?*")),
        ]


class Benchmark:
    """A benchmark of two seeds at a time, in the working directory."""

    def __init__(self, place: Path):
        self.folder = place / "benchmarks"
        (place / "tiny.json").write_text(json.dumps(DOCUMENT))
        suite = {"description": "Small.", "runs": ["tiny.json"], "seeds": NUMBER, "backends": ["torch"]}
        (place / "suite.json").write_text(json.dumps(suite))
        self.arguments = ["benchmark", "suite.json", "--workers", "2"]

    def problems(self) -> list[str]:
        """What is wrong when the command has done all."""
        results = [json.loads(file.read_text()) for file in self.folder.glob("tiny/*.json")]
        steps = [result.get("steps") for result in results]
        print(f"results: {sorted(result['last']['mean'] for result in results)}", flush=True)
        return [
            *([] if len(results) == NUMBER else [f"expected {NUMBER} results, given {len(results)}"]),
            *([] if set(steps) == {DOCUMENT["steps"]} else [f"steps: {steps}"]),
            *([] if (self.folder / "suite.md").exists() else ["there is no page"]),
            *([f"left: {self.folder / 'unfinished'}"] if (self.folder / "unfinished").exists() else []),
        ]


KINDS: dict[str, type[Search] | type[Benchmark]] = {"tune": Search, "benchmark": Benchmark}


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument(
        "--ends", type=int, default=12, help="of each kind, half by SIGKILL and half by SIGTERM"
    )
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    options = parser.parse_args()
    draws, problems = random.Random(options.seed), list[str]()
    for kind in options.kinds:
        place = Path(tempfile.mkdtemp(prefix="search_faults."))
        found = check(kind, place, draws, options)
        problems += [f"{kind}: {problem}" for problem in found]
        if not found:
            shutil.rmtree(place)
    return verdict(problems)


def check(kind: str, place: Path, draws: random.Random, options: argparse.Namespace) -> list[str]:
    """End the command, run it again, and let it do the rest; what was wrong."""
    leftovers, work = Leftovers(place), place / "work"
    work.mkdir()
    command, problems, ends = KINDS[kind](work), list[str](), 0
    while ends < options.ends:
        how = (signal.SIGKILL, signal.SIGTERM)[ends % 2]
        said = place / f"printed-{ends}.txt"
        with open(said, "wb") as output:
            process = start("rlgraph.cli", *command.arguments, output=output, place=work)
        if wait(lambda process=process: process.poll() is not None, draws.uniform(*ENDED)):  # type: ignore[misc]
            if found := [*_ended(process, said), *command.problems()]:
                return [*problems, *found]
            shutil.rmtree(command.folder)  # all is done: from the beginning
            continue
        ends += 1
        problems += end(process, how, said, leftovers, f"{kind} {ends}")
    with open(place / "printed.txt", "wb") as output:
        process = start("rlgraph.cli", *command.arguments, output=output, place=work)
    wait(lambda: process.poll() is not None, DONE)
    problems += _ended(process, place / "printed.txt")
    return [*problems, *command.problems(), *unfinished_in(command.folder), *leftovers.found()]


def end(
    process: subprocess.Popen[bytes], how: signal.Signals, said: Path, leftovers: Leftovers, name: str
) -> list[str]:
    """End a command and wait for all its processes; what was wrong."""
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(how)
    began = time.monotonic()
    wait(lambda: process.poll() is not None, LIMIT)
    code = process.poll()
    _, left = psutil.wait_procs(family, timeout=LIMIT - (time.monotonic() - began))
    seconds = time.monotonic() - began
    problems = [] if code is not None else [f"{name}: it did not end after {how.name}"]
    problems += [f"{name}: after {how.name} {each.pid} is left: {' '.join(each.cmdline())}" for each in left]
    for each in left:
        each.kill()
    process.kill()
    process.wait()
    if how == signal.SIGTERM and code != INTERRUPTED:
        problems.append(
            f"{name}: expected the exit code {INTERRUPTED}, given {code}: {said.read_text()[-800:]}"
        )
    problems += [f"{name}: after {how.name} {each}" for each in leftovers.found()]
    print(
        f"{name}: {how.name}, {1 + len(family)} processes ended after {seconds:.1f} s {problems or ''}",
        flush=True,
    )
    return problems


def _ended(process: subprocess.Popen[bytes], said: Path) -> list[str]:
    """What is wrong with a command that was left alone."""
    code = process.poll()
    process.kill()
    process.wait()
    return [] if code == 0 else [f"expected the exit code 0, given {code}: {said.read_text()[-2000:]}"]


if __name__ == "__main__":
    sys.exit(main())
