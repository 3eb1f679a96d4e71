"""Results of seeds: a file for each, with the document of its run and its provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from rlgraph.experience.specs import Spec
from rlgraph.runs.benchmarks.suite import Subject, Suite
from rlgraph.runs.run_files import as_json, check_own_folder, parse, read_json, replace_file, storing
from rlgraph.workers.short_repr import short_repr

#: Where the runs are whose seeds have no result yet.
UNFINISHED = "unfinished"

#: Steps and returns.
Curve = list[tuple[int, float]]


class Judged(Spec):
    """A policy over new episodes, acting greedily.

    Attributes:
        steps: environment steps that it had learned from.
        mean, std, lowest: of the returns of its episodes.
    """

    steps: int
    mean: float
    std: float
    lowest: float


class SeedResult(Spec):
    """What a seed reached.

    Attributes:
        name, document, backend, compiled, data: see `Subject`.
        seed: the seed.
        device: where the agent computed; None: where its document and the backend say.
        last: the last policy; None: the run failed.
        best: the best policy of the evaluations, over as many new episodes; None: there was no evaluation.
        error: why the run failed; None: it did not.
        steps, seconds: of training.
        evaluations: evaluations during training: steps and mean return.
        training_returns: mean return of the last 100 episodes, at steps of the evaluations or evenly spread.
        departures: why the run differs from the one that its seed determines, such as a resume after Ctrl-C.
        versions, git, machine: see `rlgraph.runs.provenance`.
    """

    name: str
    document: dict[str, Any]
    backend: str
    compiled: bool = False
    data: str | None = None
    seed: int
    device: str | None = None
    last: Judged | None = None
    best: Judged | None = None
    error: str | None = None
    steps: int = 0
    seconds: float = 0.0
    evaluations: Curve = Field(default=[])
    training_returns: Curve = Field(default=[])
    departures: list[str] = Field(default=[])
    versions: dict[str, str] = Field(default={})
    git: dict[str, Any] | None = None
    machine: dict[str, Any] = Field(default={})

    def __repr__(self) -> str:
        mean = None if self.last is None else self.last.mean
        return short_repr(self, "name", "backend", "seed", mean=mean, error=self.error)


def check_results_folder(folder: Path) -> None:
    """Refuse a folder that holds more than results, as `check_own_folder` does."""
    check_own_folder(folder, UNFINISHED, "*.md")


def result_file(folder: Path, subject: Subject, seed: int) -> Path:
    """``ppo/CartPole-v1/torch-1.json`` below the folder of results."""
    return folder / f"{_place(subject, seed)}.json"


def run_place(folder: Path, subject: Subject, seed: int) -> Path:
    """The folder of a seed that has no result yet."""
    return folder / UNFINISHED / _place(subject, seed)


def _place(subject: Subject, seed: int) -> str:
    return f"{subject.name}/{subject.backend}{'-compiled' if subject.compiled else ''}-{seed}"


def write_result(file: Path, result: SeedResult) -> None:
    """Write a result atomically, a line for each of its keys.

    Raises:
        RunFolderError: `read_result` would refuse it; nothing is written.
        StorageError: it cannot be written.
    """
    with storing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    content = result.model_dump(mode="json", exclude_defaults=True)
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    parse(SeedResult, _with_tuples(as_json(file, content)[1]), file)  # as it will be read
    replace_file(file, f"{{\n{lines}\n}}\n")


def read_result(file: Path) -> SeedResult | None:
    """The result in a file; None if there is none.

    Raises:
        RunFolderError: the file is damaged.
    """
    return parse(SeedResult, _with_tuples(read_json(file)), file) if file.exists() else None


def _with_tuples(content: Any) -> Any:
    """JSON has no tuples; curves have."""
    if isinstance(content, dict):
        for name in ("evaluations", "training_returns"):
            if isinstance(content.get(name), list):
                content[name] = [
                    tuple(point) if isinstance(point, list) else point for point in content[name]
                ]
    return content


class State:
    """What a folder has of a suite.

    Attributes:
        results: of each subject, by seed.
        missing: seeds without a result.
        stale: seeds whose result is of another document or data set; they are missing, too.
    """

    def __init__(self, suite: Suite, folder: Path):
        self.results: dict[int, dict[int, SeedResult]] = {}
        self.missing: list[tuple[Subject, int]] = []
        self.stale: list[tuple[Subject, int]] = []
        for number, (subject, seeds) in enumerate(suite.subjects):
            self.results[number] = {}
            for seed in seeds:
                result = read_result(result_file(folder, subject, seed))
                if result is not None and is_of(result, subject):
                    self.results[number][seed] = result
                    continue
                self.missing.append((subject, seed))
                if result is not None:
                    self.stale.append((subject, seed))


def is_of(result: SeedResult, subject: Subject) -> bool:
    """Whether a result is of the present document of a subject, and of its present data set, if that is here."""
    is_of_data = subject.data in (None, result.data)
    return is_of_data and same_document(result.document, subject.document)


def same_document(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two documents are equal as JSON."""
    first, second = (json.dumps(document, sort_keys=True) for document in (one, other))
    return first == second


def read_all(folder: Path) -> Iterator[SeedResult]:
    """All results in a folder, also those that no suite names."""
    for file in sorted(folder.glob("*/**/*.json")):
        if UNFINISHED not in file.parts and (result := read_result(file)) is not None:
            yield result
