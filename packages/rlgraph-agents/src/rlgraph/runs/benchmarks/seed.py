"""Trains and judges one seed: a process of a benchmark does ``python -m rlgraph.runs.benchmarks.seed JOB PARENT``.

A job is a folder with ``job.json`` (what is trained, with which versions, and where the result goes) and the run's
folder, from which an interrupted job goes on. It is removed when the result is written.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlgraph.core import CheckpointError, InputError, NumericalError, SpecError
from rlgraph.core.errors import first_line, type_and_text
from rlgraph.core.specs.policy import SpecPolicy, spec_policy, using_spec_policy
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.stepped_env import stepped
from rlgraph.runs.benchmarks.results import Curve, Judged, SeedResult, write_result
from rlgraph.runs.checkpoints import BEST, LAST
from rlgraph.runs.config_file import CONFIG
from rlgraph.runs.loading import load_agent
from rlgraph.runs.provenance import installed_versions, provenance
from rlgraph.runs.records import read_evaluations, read_metrics
from rlgraph.runs.resuming import resume
from rlgraph.runs.run_files import read_json, replace_json, storing
from rlgraph.runs.run_lock import run_lock
from rlgraph.runs.training import FINAL_EVALUATION_SEED, RunSummary, train
from rlgraph.workers.evaluation import Evaluation, evaluate

JOB, RUN, LOG = "job.json", "run", "log.txt"
#: Points of a curve that is kept.
POINTS = 50
#: Failures that are results; all others leave a job as it is.
FAILURES = (NumericalError, EnvironmentFault, InputError)


def prepare(place: Path, run: Mapping[str, Any], facts: Mapping[str, Any], file: Path) -> None:
    """Make the folder of a job; what is there of another document or other versions is removed.

    Args:
        place: the folder.
        run: the document of the run, with backend and seed.
        facts: the first keys of its result.
        file: where the result goes.

    Raises:
        RunFolderError: another process trains there.
        StorageError: it cannot be written.
    """
    job = {
        "run": dict(run),
        "facts": dict(facts),
        "versions": installed_versions(),
        "file": str(file.absolute()),
        "policy": asdict(spec_policy()),  # what the user has allowed here is allowed there
    }
    with run_lock(place / RUN):
        known = read_json(place / JOB) if (place / JOB).exists() else None
        if known is None or known | {"file": None} != json.loads(json.dumps(job)) | {"file": None}:
            shutil.rmtree(place / RUN, ignore_errors=True)
    with storing(place):
        place.mkdir(parents=True, exist_ok=True)
    replace_json(place / JOB, job)


def measure(place: Path) -> SeedResult:
    """Do a job, and write its result.

    Raises:
        RunFolderError, StorageError, SpecError: see `rlgraph.runs.train`.
        Interruption: Ctrl-C or SIGTERM; the job goes on from here when it is done again.
    """
    job = read_json(place / JOB)
    with using_spec_policy(SpecPolicy(**job["policy"])):
        try:
            outcome = _outcome(_trained(place / RUN, job["run"]), place / RUN)
        except FAILURES as error:
            curves = _curves(place / RUN) if (place / RUN / CONFIG).exists() else {}
            outcome = {"error": first_line(error), **curves}
    facts = {key: value for key, value in provenance().items() if key != "command"}
    result = SeedResult(**job["facts"], **outcome, **facts)
    write_result(Path(job["file"]), result)
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):  # others are not finished
        os.removedirs(place.parent)
    return result


def _trained(run: Path, document: Mapping[str, Any]) -> RunSummary:
    if (run / CONFIG).exists():
        try:
            return resume(run)
        except CheckpointError:  # damaged: it begins again
            shutil.rmtree(run)
    return train(document, run)


def _outcome(summary: RunSummary, run: Path) -> dict[str, Any]:
    if summary.evaluation is None:
        raise KeyboardInterrupt
    training = summary.training
    return {
        "last": _judged(run, LAST, summary.evaluation),
        "best": _judged(run, BEST, summary.evaluation) if training.evaluations else None,
        "steps": training.timesteps,
        "seconds": round(training.seconds, 1),
        "departures": list(summary.departures),
        **_curves(run),
    }


def _judged(run: Path, checkpoint: str, final: Evaluation) -> Judged:
    """The policy of a checkpoint over new episodes; the run has done so for one of them, `final`."""
    agent, spec, _ = load_agent(run, checkpoint=checkpoint)
    if agent.timesteps != final.timesteps:
        env = stepped(spec.environment, spec.worker.frameskip, spec.worker.max_timesteps_per_episode)
        final = evaluate(agent, env, len(final.returns), FINAL_EVALUATION_SEED + spec.seed)
    return Judged(
        steps=final.timesteps,
        mean=round(final.mean, 3),
        std=round(final.std, 3),
        lowest=round(min(final.returns), 3),
    )


def _curves(run: Path) -> dict[str, Curve]:
    evaluations = [(each.timesteps, round(each.mean, 3)) for each in read_evaluations(run)]
    reports = [
        (int(row["timesteps"]), round(row["mean_return"], 3))
        for row in read_metrics(run)
        if row.get("mean_return", float("nan")) == row.get("mean_return")
    ]
    return {"evaluations": thinned(evaluations), "training_returns": thinned(reports)}


def thinned(curve: Curve) -> Curve:
    """At most `POINTS` points of a curve, evenly spread, the last one included."""
    last = len(curve) - 1
    chosen = {round(last * i / (POINTS - 1)) for i in range(POINTS)} if last >= POINTS else range(last + 1)
    return [curve[i] for i in sorted(chosen)]


def _end_with(parent: int) -> None:
    """Interrupt this process when the benchmark has ended: one that was killed cannot."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Do the job in the folder that is the first argument, while the process that is the second one lives."""
    place = Path(sys.argv[1])
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    if read_json(place / JOB)["policy"]["allowed"]:
        sys.path.append(os.getcwd())  # as on the command line
    try:
        measure(place)
    except KeyboardInterrupt:
        sys.exit(130)
    except SpecError as error:
        sys.exit(type_and_text(error))


if __name__ == "__main__":
    main()
