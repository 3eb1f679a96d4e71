"""What a run leaves behind: configuration, drawing, metrics, checkpoints, curve."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path

from rlgraph.agents.agent import Agent
from rlgraph.runs.event_file import EventFile
from rlgraph.runs.run_spec import RunSpec
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker

COLUMNS = (
    "timesteps",
    "episodes",
    "updates",
    "mean_return",
    "mean_length",
    "loss",
    "epsilon",
    "steps_per_second",
    "evaluation_return",
)
DISTRIBUTIONS = (
    "rlgraph-spaces",
    "rlgraph-core",
    "rlgraph-torch",
    "rlgraph-tf",
    "rlgraph-agents",
    "numpy",
    "gymnasium",
    "torch",
    "tensorflow",
)


class RunFolder(Callback):
    """Writes a run's folder while the run goes on.

    ``config.json`` resolved configuration, ``graph.svg`` and ``graph.png`` component graph, ``metrics.csv`` and
    ``tensorboard/`` metrics and component graph, ``checkpoints/best`` and ``checkpoints/last``, ``curve.png`` learning
    curve.

    Args:
        folder: where; made if missing.
        spec: the run's description.
        agent: the agent that is trained.
    """

    def __init__(self, folder: Path, spec: RunSpec, agent: Agent):
        self.folder, self.spec, self.agent = folder, spec, agent
        keep_earlier_run(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.best: Evaluation | None = None
        self.history: list[dict[str, float]] = []
        self._csv = (folder / "metrics.csv").open("w", newline="")
        self._rows = csv.DictWriter(self._csv, COLUMNS, extrasaction="ignore")
        self._rows.writeheader()
        self._events = EventFile(folder / "tensorboard")
        self.write_config()
        self.draw_graph()

    def write_config(self) -> None:
        """Write ``config.json``: the spec with its defaults, what was chosen, and the versions."""
        execution = self.agent.executor.execution
        chosen = {
            "backend": self.agent.executor.backend.name,
            "acting": self.agent.acting,
            "dtype": execution.dtype,
            "use_kernels": execution.use_kernels,
        }
        content = {"run": self.spec.model_dump(), "chosen": chosen, "versions": installed_versions()}
        (self.folder / "config.json").write_text(json.dumps(content, indent=2, default=str) + "\n")

    def draw_graph(self) -> None:
        """Write ``graph.svg``, ``graph.png`` and TensorBoard's graph page."""
        from rlgraph.core.draw import draw, graph_definition

        self._events.add_graph(graph_definition(self.agent.executor.built))
        drawing = draw(self.agent.executor.built)
        drawing.save(self.folder / "graph.svg")
        drawing.save(self.folder / "graph.png")

    def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, float]) -> None:
        self._write(metrics)

    def on_evaluation(self, worker: SingleThreadedWorker, evaluation: Evaluation) -> bool | None:
        self._write({"timesteps": evaluation.timesteps, "evaluation_return": evaluation.mean})
        if self.best is None or evaluation.mean >= self.best.mean:
            self.best = evaluation
            self.agent.store_model(self.folder / "checkpoints" / "best", memory=False)
        limit = self.spec.evaluation.stop_at_return
        return limit is not None and evaluation.mean >= limit

    def on_end(self, worker: SingleThreadedWorker) -> None:
        from rlgraph.runs.curve import draw_curve

        self._csv.close()
        self._events.close()
        try:
            self.agent.store_model(self.folder / "checkpoints" / "last")
        finally:
            draw_curve(self.history, self.folder / "curve.png", str(self.spec.environment), self.spec.seed)

    def _write(self, metrics: Mapping[str, float]) -> None:
        self.history.append(dict(metrics))
        self._rows.writerow(metrics)
        self._csv.flush()
        step = int(metrics["timesteps"])
        self._events.add_scalars(step, {k: v for k, v in metrics.items() if k != "timesteps"})


def keep_earlier_run(folder: Path) -> None:
    """Move a run that is already in `folder` to the first free of ``folder.1``, ``folder.2`` ...: nothing is lost."""
    if (folder / "config.json").exists():
        number = next(n for n in count(1) if not folder.with_name(f"{folder.name}.{n}").exists())
        folder.rename(folder.with_name(f"{folder.name}.{number}"))


def installed_versions() -> dict[str, str]:
    """Python's version and those of the distributions that matter, as far as they are installed."""
    versions = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
