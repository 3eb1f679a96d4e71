"""Suites of benchmarks: which documents are run, with which seeds and on which backends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from rlgraph.algorithms.presets import preset
from rlgraph.core import InputError, SpecError
from rlgraph.core.errors import Fault, nearest
from rlgraph.core.specs.documents import SUFFIXES, is_spec_file, read_spec_file
from rlgraph.experience.data_sets import fingerprint
from rlgraph.experience.specs import Spec, parse_spec
from rlgraph.runs.configuration import check, read_document

#: The suites that are shipped.
SUITES = Path(__file__).parent / "suites"
#: Seeds up to here are reported; documents are tuned on those from here on.
LAST_SEED = 100


class RowSpec(Spec):
    """A document of a suite."""

    run: str = Field(
        description="the name of a preset, such as 'ppo/CartPole-v1', or a file with a run's document"
    )
    seeds: int | None = Field(
        default=None, ge=1, le=LAST_SEED, description="seeds 1 to this one; null: the suite's"
    )
    backends: list[str] | None = Field(default=None, description="backends; null: the suite's")


class SuiteSpec(Spec):
    """A suite's document."""

    title: str | None = Field(default=None, description="of its page; null: its name")
    description: str = Field(default="", description="what the suite is about")
    runs: list[str | RowSpec] = Field(min_length=1, description="its documents")
    seeds: int = Field(default=5, ge=1, le=LAST_SEED, description="seeds 1 to this one")
    backends: list[str] = Field(default=["torch"], min_length=1, description="backends")
    compiled: list[str] = Field(
        default=["tf"], description="backends on which the agent's programs are compiled"
    )


@dataclass(frozen=True)
class Subject:
    """What is measured: a document on a backend.

    Attributes:
        name: of the document, ``ppo/CartPole-v1``.
        document: a run's document.
        backend: its backend.
        compiled: whether the agent's programs are compiled.
        data: the `fingerprint` of its data set; None: it has none, or the files are not here.
    """

    name: str
    document: Mapping[str, Any]
    backend: str
    compiled: bool
    data: str | None = None

    @property
    def label(self) -> str:
        """Name and backend, for people."""
        return f"{self.name} on {self.backend}"

    @property
    def agent(self) -> str:
        """The registered name of its agent."""
        return str(self.document["agent"]["type"])

    def run(self, seed: int, device: str | None = None) -> dict[str, Any]:
        """The document of the run with a seed, on a device of the backend."""
        agent = dict(self.document["agent"])
        execution: dict[str, Any] = {"compile": True} if self.compiled else {}
        if device is not None:
            execution["device"] = device
        if execution:
            agent["execution_spec"] = {**agent.get("execution_spec", {}), **execution}
        return {**self.document, "agent": agent, "backend": self.backend, "seed": seed}


@dataclass(frozen=True)
class Suite:
    """A suite, with the documents that it names.

    Attributes:
        name: its name, of which the names of files are made.
        title: that of its page.
        description: what it is about.
        subjects: what is measured, with the seeds of each.
    """

    name: str
    title: str
    description: str
    subjects: Sequence[tuple[Subject, Sequence[int]]]

    def only(self, seeds: Sequence[int] = (), backends: Sequence[str] = ()) -> Suite:
        """The part of the suite with these seeds and backends, where some are given.

        Raises:
            SpecError: nothing is left.
        """
        chosen = [
            (subject, [seed for seed in numbers if not seeds or seed in seeds])
            for subject, numbers in self.subjects
            if not backends or subject.backend in backends
        ]
        chosen = [(subject, numbers) for subject, numbers in chosen if numbers]
        if not chosen:
            known = sorted({subject.backend for subject, _ in self.subjects})
            if unknown := [name for name in backends if name not in known]:
                raise SpecError(
                    f"the suite has no backend {unknown[0]!r}. {nearest(unknown[0], known)}", path=self.name
                )
            most = max(len(numbers) for _, numbers in self.subjects)
            raise SpecError(
                f"expected seeds from 1 to {most}, given {', '.join(map(str, seeds))}", path=self.name
            )
        return replace(self, subjects=chosen)

    def check(self) -> None:
        """Check all documents, without building their agents.

        Raises:
            SpecError: what is wrong, such as an extra that is not installed.
        """
        faults = []
        for subject, seeds in self.subjects:
            try:
                check(subject.run(seeds[0]))
                if (place := _data_set(subject.document)) is not None:
                    fingerprint(place)
            except SpecError as error:
                faults += [Fault(f"{subject.label}: {fault}", "") for fault in error.faults]
            except InputError as error:
                faults.append(Fault(f"{subject.label}: data.file: {error}", ""))
        if faults:
            raise SpecError(*dict.fromkeys(faults))


def suite_names() -> list[str]:
    """The names of the suites that are shipped."""
    return sorted(file.stem for file in SUITES.glob("*.yaml"))


def read_suite(source: str | Path) -> Suite:
    """A suite by the name of a shipped one, or from a file.

    Raises:
        SpecError: there is no such suite or document, it is wrong, or two documents have one name.
    """
    file = Path(source) if is_spec_file(str(source)) else SUITES / f"{source}.yaml"
    if file.parent == SUITES and not file.exists():
        raise SpecError(
            f"there is no suite {str(source)!r}. {nearest(str(source), suite_names())} A file ends in "
            f"{', '.join(SUFFIXES)}",
            path="suite",
        )
    spec = parse_spec(SuiteSpec, read_spec_file(file, "suite"), "suite")
    return Suite(file.stem, spec.title or file.stem, spec.description, list(_subjects(spec, file.parent)))


def _subjects(spec: SuiteSpec, folder: Path) -> Iterator[tuple[Subject, Sequence[int]]]:
    named: dict[tuple[str, str], str] = {}
    for row in spec.runs:
        row = RowSpec(run=row) if isinstance(row, str) else row
        name, document = _document(row.run, folder)
        for backend in row.backends or spec.backends:
            if (other := named.get((name, backend))) is not None:  # one's results would replace the other's
                raise SpecError(_same_name(other, row.run, name, backend), path="suite.runs")
            named[name, backend] = row.run
            yield (
                Subject(name, document, backend, backend in spec.compiled, _fingerprint(document)),
                range(1, (row.seeds or spec.seeds) + 1),
            )


def _data_set(document: Mapping[str, Any]) -> str | None:
    data = document.get("data")
    return data.get("file") if isinstance(data, Mapping) else None


def _fingerprint(document: Mapping[str, Any]) -> str | None:
    place = _data_set(document)
    try:
        return None if place is None else fingerprint(place)
    except InputError:  # a page of results needs no data sets
        return None


def _same_name(one: str, other: str, name: str, backend: str) -> str:
    """What is wrong with two documents of one name on a backend."""
    if one == other:
        return f"{one} is named twice on {backend}: name it once"
    return (
        f"{one} and {other} are both named {name!r} on {backend}, and results are stored by name: rename one of the "
        "files"
    )


def _document(run: str, folder: Path) -> tuple[str, Mapping[str, Any]]:
    """The name and the document of a preset or a file."""
    if not is_spec_file(run):
        found = preset(run)
        return found.name, found.document
    document = read_document(folder / run)
    for key in ("backend", "seed"):
        if key in document:
            raise SpecError("the suite says it: leave it out", path=f"{run}.{key}")
    return Path(run).stem, document
