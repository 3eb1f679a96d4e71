"""Tables of results as Markdown: every seed, failures too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.runs.aggregate import interquartile_mean
from rlgraph.runs.benchmarks.results import SeedResult, State
from rlgraph.runs.benchmarks.suite import Subject, Suite

#: Backend -> its title, and the package that computes.
BACKENDS = {"torch": ("PyTorch", "torch"), "tf": ("TensorFlow", "tensorflow"), "numpy": ("NumPy", "numpy")}


@dataclass(frozen=True)
class Row:
    """Seeds of a subject with the same versions of what computes; seeds of others are another row.

    Attributes:
        title: the backend with its version, as ``PyTorch 2.13.0``.
        results: by seed.
    """

    title: str
    results: Mapping[int, SeedResult]

    @property
    def means(self) -> list[float]:
        """Of the last policies, without failures."""
        return [result.last.mean for result in self.results.values() if result.last is not None]


def rows_of(results: Iterable[SeedResult]) -> list[Row]:
    """Rows of results of one document, PyTorch first."""
    rows: dict[str, dict[int, SeedResult]] = {}
    for result in results:
        rows.setdefault(title_of(result), {})[result.seed] = result
    return [Row(title, dict(sorted(seeds.items()))) for title, seeds in sorted(rows.items())]


def title_of(result: SeedResult) -> str:
    """The backend of a result with the version of what computes."""
    title, package = BACKENDS.get(result.backend, (result.backend, result.backend))
    version = result.versions.get(package, "").partition("+")[0]
    return " ".join(filter(None, (title, version))) + (", compiled" if result.compiled else "")


def suite_markdown(suite: Suite, state: State) -> str:
    """The page of a suite: a table of every seed, and what is missing or stale."""
    seeds = sorted({seed for _, numbers in suite.subjects for seed in numbers})
    lines = [f"# {suite.name}", "", suite.description, "", PROTOCOL, ""]
    lines += _table(
        ("run", "backend", "steps", *map(str, seeds), "mean", "IQM", "best"), _suite_rows(suite, state, seeds)
    )
    lines += [f"\n{line}" for line in remaining(state)]
    return "\n".join([*lines, ""])


PROTOCOL = (
    "Each figure is the mean return of the last policy over new episodes, acting greedily; *best* is the mean over "
    "seeds of the same for the best policy of the evaluations during training. *IQM* is the interquartile mean."
)


def _suite_rows(suite: Suite, state: State, seeds: Sequence[int]) -> Iterator[tuple[str, ...]]:
    for number, (subject, _) in enumerate(suite.subjects):
        for row in rows_of(state.results[number].values()):
            cells = [cell(row.results.get(seed)) for seed in seeds]
            yield (subject.name, row.title, f"{subject.document['steps']:,}", *cells, *summary(row))


def cell(result: SeedResult | None) -> str:
    """The mean of the last policy; ``failed`` for a run that failed."""
    if result is None:
        return ""
    return "failed" if result.last is None else f"{result.last.mean:.1f}"


def summary(row: Row) -> tuple[str, str, str]:
    """Mean and interquartile mean of the seeds, and the mean of their best policies; of those that did not fail."""
    means = row.means
    bests = [result.best.mean for result in row.results.values() if result.best is not None]
    if not means:
        return "", "", ""
    best = f"{np.mean(bests):.1f}" if bests else ""
    return f"{np.mean(means):.1f}", f"{interquartile_mean(np.array(means)):.1f}", best


def remaining(state: State) -> Iterator[str]:
    """Sentences on what is missing and what is stale."""
    missing = [each for each in state.missing if each not in state.stale]
    if missing:
        yield f"No result yet: {_named(missing)}."
    if state.stale:
        yield f"Not shown, since the document has changed: {_named(state.stale)}."


def _named(pairs: Iterable[tuple[Subject, int]]) -> str:
    seeds: dict[str, list[int]] = {}
    for subject, seed in pairs:
        seeds.setdefault(subject.label, []).append(seed)
    return "; ".join(
        f"{label}, {'seed' if len(numbers) == 1 else 'seeds'} {', '.join(map(str, numbers))}"
        for label, numbers in seeds.items()
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
