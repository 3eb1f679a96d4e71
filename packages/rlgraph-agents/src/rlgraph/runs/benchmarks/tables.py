"""Pages of suites and agents as Markdown: every seed of every document, failures too, beside what others published."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rlgraph.experience.specs import parse_spec
from rlgraph.runs.aggregate import FEWEST, interquartile_mean
from rlgraph.runs.benchmarks.published import Score, published
from rlgraph.runs.benchmarks.results import SeedResult, State
from rlgraph.runs.benchmarks.suite import Subject, Suite
from rlgraph.runs.recorded_run import environment_name
from rlgraph.runs.run_spec import EvaluationSpec

#: Backend -> its title, and the package that computes.
BACKENDS = {"torch": ("PyTorch", "torch"), "tf": ("TensorFlow", "tensorflow"), "numpy": ("NumPy", "numpy")}
PROTOCOL = """\
Each figure is the mean return of a seed's last policy over {episodes} new episodes, acting greedily. *IQM* is the
interquartile mean of four seeds or more. *Best* is the mean of the seeds' best policies of the evaluations during
training, over as many new episodes. A seed that failed is in the table, but in no mean. *Minutes* is the mean time of a
seed, others beside it. A run whose document has `stop_at_return` ends at the evaluation that reaches it, so that its
evaluations choose the last policy: its *steps* are those that its seeds did. Presets are tuned on seeds from 101 on, or
set by hand, and seeds from 1 on are reported; the first line of a preset's file says what was done, exceptions too."""


@dataclass(frozen=True)
class Row:
    """Seeds of a subject with the same version of what computes; seeds of others are another row.

    Attributes:
        title: the backend with its version, as ``PyTorch 2.13.0``.
        results: by seed.
    """

    title: str
    results: Mapping[int, SeedResult]

    @property
    def means(self) -> np.ndarray:
        """Of the last policies, without failures."""
        return np.array([result.last.mean for result in self.results.values() if result.last is not None])

    @property
    def bests(self) -> np.ndarray:
        """Of the best policies of the evaluations."""
        return np.array([result.best.mean for result in self.results.values() if result.best is not None])

    @property
    def steps(self) -> str:
        """What the seeds did: those of the document, or fewer."""
        done = {result.steps for result in self.results.values() if result.last is not None}
        return " to ".join(f"{steps:,}" for steps in sorted({min(done), max(done)})) if done else ""

    @property
    def minutes(self) -> str:
        """Mean time of a seed."""
        return f"{np.mean([result.seconds for result in self.results.values()]) / 60:.1f}"


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


def suite_markdown(suite: Suite, state: State, pictures: Mapping[str, str] | None = None) -> str:
    """The page of a suite.

    Args:
        suite: the suite.
        state: its results.
        pictures: titles and files of the pictures that the page shows.
    """
    lines = [f"# {suite.title}", "", suite.description, "", _protocol(suite), ""]
    for environment in dict.fromkeys(_environment(subject) for subject, _ in suite.subjects):
        rows = list(_table(suite, state, [environment]))
        if rows:
            lines += [f"## {environment}", "", *rows, ""]
    for title, file in (pictures or {}).items():
        lines += [f"## {title}", "", f"![{title}]({file})", ""]
    return "\n".join([*lines, *_notes(suite, state)])


def agent_markdown(suite: Suite, state: State) -> str:
    """The results of an agent for its page: one table, a column of which has all seeds.

    Args:
        suite: what is measured of the agent.
        state: its results.
    """
    environments = {_environment(subject) for subject, _ in suite.subjects}
    rows = list(_table(suite, state, environments, joined=True))
    table = [_protocol(suite), "", *rows, ""] if rows else []
    return "\n".join([*table, *_notes(suite, state)])


def _protocol(suite: Suite) -> str:
    episodes = {_final_episodes(subject) for subject, _ in suite.subjects}
    return PROTOCOL.format(episodes=" or ".join(map(str, sorted(episodes))))


def _notes(suite: Suite, state: State) -> list[str]:
    """The paragraphs below the tables."""
    texts = (*_remarks(suite, state), *remaining(state), *_sources(suite, state))
    return [line for text in texts for line in (text, "")]


def _final_episodes(subject: Subject) -> int:
    return parse_spec(EvaluationSpec, subject.document.get("evaluation"), "evaluation").final_episodes


def _environment(subject: Subject) -> str:
    return environment_name(subject.document["environment"])


def _table(suite: Suite, state: State, environments: Collection[str], joined: bool = False) -> Iterator[str]:
    """The lines of the table of environments; none without results. `joined`: the seeds share a column."""
    ours = [
        (subject, seeds, rows_of(state.results[number].values()))
        for number, (subject, seeds) in enumerate(suite.subjects)
        if state.results[number] and _environment(subject) in environments
    ]
    if not ours:
        return
    every = sorted({seed for _, seeds, _ in ours for seed in seeds})
    columns = ["seeds 1, 2, …"] if joined else list(map(str, every))
    yield _line(["run", "by", "steps", "minutes", *columns, "mean", "IQM", "best"])
    yield _line(["---"] * (len(columns) + 7))
    for environment, agent in dict.fromkeys((_environment(subject), subject.agent) for subject, *_ in ours):
        for subject, seeds, rows in ours:
            if (_environment(subject), subject.agent) != (environment, agent):
                continue
            for row in rows:
                cells = [_cell(row.results.get(seed)) for seed in (seeds if joined else every)]
                if joined:
                    cells = [" ".join(cell or "–" for cell in cells)]
                yield _line([subject.name, row.title, row.steps, row.minutes, *cells, *_summary(row)])
        for score in published().of(environment, agent):
            blank = [""] * (len(columns) + 1)
            first, title = environment if joined else agent, published().sources[score.source].title
            yield _line([first, f"*{title}*", f"*{score.steps:,}*", *blank, f"*{_published(score)}*", "", ""])


def _published(score: Score) -> str:
    return f"{score.mean:g}" + ("" if score.std is None else f" ± {score.std:g}")


def _cell(result: SeedResult | None) -> str:
    """The mean of the last policy; ``failed`` for a run that failed."""
    if result is None:
        return ""
    return "failed" if result.last is None else f"{result.last.mean:.1f}"


def _summary(row: Row) -> list[str]:
    """Mean and interquartile mean of the seeds, and the mean of their best policies; of those that did not fail."""
    if not len(row.means):
        return ["", "", ""]
    best = f"{row.bests.mean():.1f}" if len(row.bests) else ""
    middle = f"{interquartile_mean(row.means):.1f}" if len(row.means) >= FEWEST else ""
    return [f"{row.means.mean():.1f}", middle, best]


def _remarks(suite: Suite, state: State) -> Iterator[str]:
    """Sentences on why seeds failed, and on runs that differ from those that their seeds determine."""
    remarks: dict[str, list[tuple[Subject, int]]] = {}
    for number, (subject, _) in enumerate(suite.subjects):
        for seed, result in state.results[number].items():
            for text in (*result.departures, *([f"failed: {result.error}"] if result.error else [])):
                remarks.setdefault(text, []).append((subject, seed))
    for text, pairs in remarks.items():
        yield f"{_named(pairs)}: {text}."


def remaining(state: State) -> Iterator[str]:
    """Sentences on what is missing and what is stale."""
    missing = [each for each in state.missing if each not in state.stale]
    if missing:
        yield f"No result yet: {_named(missing)}."
    if state.stale:
        yield f"Not shown, since the document or its data set has changed: {_named(state.stale)}."


def _named(pairs: Iterable[tuple[Subject, int]]) -> str:
    seeds: dict[str, list[int]] = {}
    for subject, seed in pairs:
        seeds.setdefault(subject.label, []).append(seed)
    return "; ".join(
        f"{label}, {'seed' if len(numbers) == 1 else 'seeds'} {', '.join(map(str, numbers))}"
        for label, numbers in seeds.items()
    )


def _sources(suite: Suite, state: State) -> Iterator[str]:
    """What the lines of others are."""
    used = {
        score.source
        for number, (subject, _) in enumerate(suite.subjects)
        if state.results[number]
        for score in published().of(_environment(subject), subject.agent)
    }
    texts = [
        f"{f'[{source.title}]({source.page})' if source.page else source.title} ({source.protocol})"
        for key, source in published().sources.items()
        if key in used
    ]
    if texts:
        yield f"Lines in italics are what the agents of others reach: {', '.join(texts)}."


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
