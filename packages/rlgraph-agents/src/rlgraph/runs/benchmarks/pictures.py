"""Pictures of a suite: curves with every seed, and performance profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rlgraph.runs.aggregate import FEWEST, bootstrap_interval
from rlgraph.runs.benchmarks.published import published
from rlgraph.runs.benchmarks.results import SeedResult, State
from rlgraph.runs.benchmarks.tables import title_of
from rlgraph.runs.compare import compare
from rlgraph.runs.comparison_picture import draw_comparison, styles_of
from rlgraph.runs.configuration_differences import configuration
from rlgraph.runs.recorded_run import RecordedRun, environment_name

#: Scores at which a profile is drawn.
TAUS = np.linspace(0.0, 1.2, 121)


def draw_curves(state: State, file: Path) -> bool:
    """Draw the evaluations of all seeds, and the interquartile mean of each agent with its 95 % band.

    Returns:
        Whether there is something to draw.
    """
    results = [result for result in _results(state) if result.evaluations and result.last is not None]
    names = _names(results)
    labels = _labels(results)
    runs = [_as_run(result, labels[result.name], names[title_of(result)]) for result in results]
    if runs:
        backend = ("backend",) if len({run.backend for run in runs}) > 1 else ()
        draw_comparison(compare(runs, by=("label", "environment", *backend)), file, each_run=True)
    return bool(runs)


def draw_profiles(state: State, file: Path) -> bool:
    """Draw the share of runs that reach each score, per agent of `FEWEST` runs or more, with 95 % bands.

    Agarwal et al. (2021), https://arxiv.org/abs/2108.13264, figure 3. A score is 0 for a random policy, and 1 for a
    published one.

    Returns:
        Whether there is something to draw.
    """
    scores = {
        label: tasks
        for label, tasks in _scores(_results(state)).items()
        if sum(map(len, tasks.values())) >= FEWEST
    }
    if not scores:
        return False
    figure = Figure(figsize=(7.0, 4.3), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # needs no window system
    axes = figure.add_subplot()
    styles = styles_of(sorted(scores))
    for label, tasks in sorted(scores.items()):
        style = styles[label]
        strata = [np.greater_equal(np.array(task)[:, None], TAUS) for task in tasks.values()]
        low, high = bootstrap_interval(strata, statistic=_share)
        share = np.concatenate(strata).mean(axis=0)
        text = (
            f"{label} ({len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {sum(map(len, strata))} runs)"
        )
        axes.plot(TAUS, share, **style, label=text, linewidth=1.5)
        axes.fill_between(TAUS, low, high, color=style["color"], alpha=0.15, linewidth=0)
    axes.set(
        xlabel="score: 0 random, 1 published",
        ylabel="share of runs at or above the score",
        ylim=(-0.02, 1.02),
    )
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.savefig(file)
    return True


def _share(samples: np.ndarray, axis: int = 0) -> np.ndarray:
    return np.asarray(samples.mean(axis))


def _results(state: State) -> Iterable[SeedResult]:
    return [result for results in state.results.values() for result in results.values()]


def _names(results: Iterable[SeedResult]) -> dict[str, str]:
    """Title of a backend -> its name; the title itself if there are results of several versions of one backend."""
    titles = {title_of(result): result.backend for result in results}
    return titles if len(set(titles.values())) == len(titles) else dict(zip(titles, titles, strict=True))


def _scores(results: Iterable[SeedResult]) -> dict[str, dict[str, list[float]]]:
    """Label and backend -> environment -> scores of its runs; a run that failed has that of a random policy."""
    scores: dict[str, dict[str, list[float]]] = {}
    names = _names(results)
    for result in results:
        environment = environment_name(result.document["environment"])
        if environment in published().scales:
            low, high = published().scales[environment]
            label = _label(result) if len(names) == 1 else f"{_label(result)}, {names[title_of(result)]}"
            mean = low if result.last is None else result.last.mean
            scores.setdefault(label, {}).setdefault(environment, []).append((mean - low) / (high - low))
    return scores


def _label(result: SeedResult) -> str:
    """The name of the document without that of the environment: ``ppo`` of ``ppo/CartPole-v1``."""
    return result.name.partition("/")[0]


def _labels(results: Iterable[SeedResult]) -> dict[str, str]:
    """Name of a document -> its label; the name itself where another document has that label and environment."""
    tasks = {
        result.name: (_label(result), environment_name(result.document["environment"])) for result in results
    }
    shared = {task for task, number in Counter(tasks.values()).items() if number > 1}
    return {name: name if task in shared else task[0] for name, task in tasks.items()}


def _as_run(result: SeedResult, label: str, backend: str) -> RecordedRun:
    steps, values = np.array(result.evaluations).T
    return RecordedRun(
        folder=Path(f"{result.name} seed {result.seed}"),
        label=label,
        agent=result.document["agent"]["type"],
        environment=environment_name(result.document["environment"]),
        backend=backend,
        seed=result.seed,
        steps=result.document["steps"],
        finished=True,
        configuration=configuration(result.document, result.backend),
        metrics={"evaluation_return": (steps, values)},
    )
