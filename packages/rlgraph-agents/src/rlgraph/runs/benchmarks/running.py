"""Runs what is missing of a suite, each seed in a process of its own."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core.specs.policy import spec_policy
from rlgraph.environments.interrupts import interruptible
from rlgraph.runs.benchmarks import seed as seed_process
from rlgraph.runs.benchmarks.results import (
    SeedResult,
    State,
    check_results_folder,
    is_of,
    read_result,
    result_file,
    run_place,
)
from rlgraph.runs.benchmarks.suite import Subject, Suite
from rlgraph.runs.errors import RunFolderError

_log = logging.getLogger(__name__)

#: Seconds between two looks at the processes.
INTERVAL = 0.1
#: Seconds that an interrupted process has for its checkpoint.
PATIENCE = 60.0


@dataclass(frozen=True)
class Ended:
    """A seed whose process ended.

    Attributes:
        subject, seed: what was trained.
        result: what it reached; None: there is no result.
        problem: why there is none.
        left: how many seeds are left.
    """

    subject: Subject
    seed: int
    result: SeedResult | None
    problem: str
    left: int


@dataclass
class _Process:
    subject: Subject
    seed: int
    place: Path
    process: subprocess.Popen[bytes]


@interruptible()
def run_missing(
    suite: Suite,
    folder: str | Path,
    *,
    workers: int = 1,
    device: str | None = None,
    progress: Callable[[Ended], object] = lambda ended: None,
) -> list[Ended]:
    """Train and judge the seeds of a suite that have no result; those that ended without one.

    A seed that was interrupted, by whatever, goes on from its last checkpoint. After Ctrl-C or SIGTERM the processes
    write checkpoints.

    Args:
        suite: the suite; its documents are checked first.
        folder: of the results.
        workers: processes at a time.
        device: of the backend, where agents compute; None: where their documents say.
        progress: is told of each seed that ended.

    Raises:
        SpecError: a document is wrong; nothing was run.
        RunFolderError: the folder is a root, or another one that holds more than results; nothing was run.
    """
    suite.check()
    workers, folder = check_whole(workers, "workers", least=1), Path(folder).absolute()
    check_results_folder(folder)
    if spec_policy().network:
        _log.warning(
            "--allow-network: seeds may start servers that other machines can reach; their %s says so",
            seed_process.LOG,
        )
    waiting = State(suite, folder).missing
    running: list[_Process] = []
    failed: list[Ended] = []

    def end(subject: Subject, seed: int, problem: str) -> None:
        result = read_result(result_file(folder, subject, seed))
        result = result if result is not None and is_of(result, subject) else None
        ended = Ended(subject, seed, result, "" if result else problem, len(waiting) + len(running))
        failed.extend([] if result else [ended])
        progress(ended)

    try:
        while waiting or running:
            while waiting and len(running) < workers:
                subject, seed = waiting.pop(0)
                try:
                    running.append(_start(folder, subject, seed, device))
                except RunFolderError as error:  # another benchmark trains it
                    end(subject, seed, str(error))
            for each in [each for each in running if each.process.poll() is not None]:
                running.remove(each)
                end(each.subject, each.seed, _problem(each))
            time.sleep(INTERVAL)
    finally:
        _stop(running)
    return failed


def _start(folder: Path, subject: Subject, seed: int, device: str | None) -> _Process:
    place = run_place(folder, subject, seed)
    facts = {
        "name": subject.name,
        "document": subject.document,
        "backend": subject.backend,
        "compiled": subject.compiled,
        "data": subject.data,
        "seed": seed,
        "device": device,
    }
    file = result_file(folder, subject, seed)
    seed_process.prepare(place, subject.run(seed, device), facts, file)
    # Files in the working directory come after installed modules, and signals are for the parent to pass on.
    command = [sys.executable, "-P", "-m", seed_process.__name__, str(place), str(os.getpid())]
    with (place / seed_process.LOG).open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    return _Process(subject, seed, place, process)


def _problem(each: _Process) -> str:
    """Why a process ended without a result: the last line that it wrote."""
    log = each.place / seed_process.LOG
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    said = lines[-1] if lines else "it wrote nothing"
    return f"the process ended with {each.process.returncode}: {said} ({log})"


def _stop(running: list[_Process]) -> None:
    for each in running:
        each.process.terminate()
    until = time.monotonic() + PATIENCE
    for each in running:
        try:
            each.process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            each.process.kill()
            each.process.wait()
