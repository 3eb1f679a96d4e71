"""What a run leaves behind: configuration, drawing, metrics, checkpoints, curve, result."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import yaml

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError
from rlgraph.environments import environment_seed
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.event_file import EventFile
from rlgraph.runs.provenance import provenance
from rlgraph.runs.records import Records, read_metrics
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.wandb_log import WandbLog
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker

CONFIG = "config.json"


class Scalars(Protocol):
    """Something that metrics are written to, besides the records."""

    def add_scalars(self, step: int, scalars: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class RunFolder(Callback):
    """Writes a run's folder while the run goes on.

    ``config.yaml`` and ``config.json`` resolved configuration and where the run comes from, ``graph.svg`` and
    ``graph.png`` component graph, ``metrics.csv``, ``metrics.jsonl``, ``episodes.csv``, ``evaluations.jsonl`` and
    ``tensorboard/`` what happened, ``checkpoints/`` the best policy and the last full ones, ``curve.png`` learning
    curve, ``result.json`` the outcome.

    Args:
        folder: where; made if missing.
        spec: the run's description.
        agent: the agent that is trained.
        state: of the run in the checkpoint that it goes on from; None: it begins, or begins again.
    """

    def __init__(self, folder: Path, spec: RunSpec, agent: Agent, state: Mapping[str, Any] | None = None):
        self.folder, self.spec, self.agent = folder, spec, agent
        folder.mkdir(parents=True, exist_ok=True)
        earlier = read_config(folder) if (folder / CONFIG).exists() else {}
        self.history = [*earlier.get("history", []), provenance()]
        self.identity = earlier.get("identity") or secrets.token_hex(8)
        self.best = None if state is None else _evaluation(state["best"])
        #: Why the run is no longer the one that its seed determines.
        self.departures: list[str] = [] if state is None else list(state["departures"])
        self.checkpoints = RunCheckpoints(
            folder / "checkpoints", spec.checkpoints.keep_last, spec.checkpoints.memory
        )
        first_step = 0 if state is None else int(state["worker"]["timesteps"])
        self._scalars = self._open_scalars(first_step if earlier else None)
        self._records = Records(folder, None if state is None else state["records"])
        self.write_config()
        if state is None:
            self.draw_graph()

    def write_config(self) -> None:
        """Write ``config.json`` and ``config.yaml``: the spec with its defaults, what was chosen, where it runs."""
        executor = self.agent.executor
        content = {
            "run": self.spec.model_dump(mode="json"),
            "chosen": {
                "backend": executor.backend.name,
                "acting": self.agent.acting,
                "dtype": executor.execution.dtype,
                "use_kernels": executor.execution.use_kernels,
                "choices": dict(executor.choices),
            },
            "seeds": {
                "root": self.agent.seed,
                "environments": [
                    environment_seed(self.agent.seed, i) for i in range(self.spec.worker.num_envs)
                ],
            },
            **self.history[0],
            "identity": self.identity,
            "history": self.history,
        }
        text = json.dumps(content, indent=2, default=str) + "\n"
        _replace(self.folder / CONFIG, text)
        _replace(self.folder / "config.yaml", yaml.safe_dump(json.loads(text), sort_keys=False))

    def draw_graph(self) -> None:
        """Write ``graph.svg``, ``graph.png`` and TensorBoard's graph page."""
        from rlgraph.core.draw import draw, graph_definition

        for scalars in self._scalars:
            if isinstance(scalars, EventFile):
                scalars.add_graph(graph_definition(self.agent.executor.built))
        drawing = draw(self.agent.executor.built)
        drawing.save(self.folder / "graph.svg")
        drawing.save(self.folder / "graph.png")

    def store_checkpoint(self, worker: SingleThreadedWorker) -> Path:
        """Write a full checkpoint at a reset point of the worker."""
        return self.checkpoints.store_step(self.agent, worker.timesteps, self._state(worker, scheduled=True))

    def store_end(self, worker: SingleThreadedWorker, name: str, finished: bool) -> Path:
        """Write a full checkpoint where training ended; `finished`: all steps are done."""
        self.agent.flush_buffers()
        return self.checkpoints.store(self.agent, name, self._state(worker, scheduled=finished))

    def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, float]) -> None:
        self._write(metrics)

    def on_episode(self, worker: SingleThreadedWorker, episode_return: float, length: int) -> None:
        self._records.add_episode(worker.timesteps, episode_return, length)

    def on_evaluation(self, worker: SingleThreadedWorker, evaluation: Evaluation) -> None:
        self._records.add_evaluation(evaluation)
        self._write(
            {
                "timesteps": float(evaluation.timesteps),
                "evaluation_return": evaluation.mean,
                "evaluation_return_std": evaluation.std,
                "evaluation_length": sum(evaluation.lengths) / len(evaluation.lengths),
            }
        )
        if self.best is None or evaluation.mean >= self.best.mean:
            self.checkpoints.store_best(self.agent)
            self.best = evaluation

    def close(self) -> None:
        """Draw the curve, complete the configuration and close all files."""
        from rlgraph.runs.curve import draw_curve

        self._records.close()
        for scalars in self._scalars:
            scalars.close()
        self.write_config()  # what is chosen at the first update is known by now
        history = read_metrics(self.folder)
        draw_curve(history, self.folder / "curve.png", str(self.spec.environment), self.spec.seed)

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write ``result.json``."""
        _replace(self.folder / "result.json", json.dumps(result, indent=2) + "\n")

    def _open_scalars(self, first_step: int | None) -> list[Scalars]:
        logging, scalars = self.spec.logging, list[Scalars]()
        if logging.wandb is not None:
            config = self.spec.model_dump(mode="json")
            scalars.append(WandbLog(logging.wandb, self.folder, self.identity, config))
        if logging.tensorboard:
            scalars.append(EventFile(self.folder / "tensorboard", first_step))
        return scalars

    def _write(self, metrics: Mapping[str, float]) -> None:
        self._records.add_metrics(metrics)
        step = int(metrics["timesteps"])
        values = {name: value for name, value in metrics.items() if name != "timesteps"}
        for scalars in self._scalars:
            scalars.add_scalars(step, values)

    def _state(self, worker: SingleThreadedWorker, scheduled: bool) -> dict[str, Any]:
        """Where the run stands. `scheduled`: a run that was never left comes by here, too."""
        return {
            "worker": worker.get_state(),
            "best": None if self.best is None else vars(self.best),
            "records": self._records.sync(),
            "steps": self.spec.steps,
            "scheduled": scheduled,
            "memory": self.checkpoints.memory,
            "departures": self.departures,
        }


def read_config(folder: Path) -> dict[str, Any]:
    """The ``config.json`` of a run.

    Raises:
        SpecError: `folder` is no run folder.
    """
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if not isinstance(config, dict) or "run" not in config:
            raise ValueError("it does not describe a run")
    except (OSError, ValueError) as error:
        raise SpecError(f"{folder} is no run folder: {CONFIG} cannot be read ({error})") from None
    return config


def finished_steps(folder: Path) -> int | None:
    """The steps of a run all of whose steps are done, the closing evaluation included; None: there is more to do.

    Raises:
        SpecError: `folder` is no run folder.
    """
    steps = int(read_config(folder)["run"]["steps"])
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return steps if result.get("outcome") == "finished" and result.get("evaluation") else None


def keep_earlier_run(folder: Path) -> Path | None:
    """Move a run that is already in `folder` to the first free of ``folder.1``, ``folder.2`` ...: nothing is lost.

    Returns:
        Where it is now; None: there was none.
    """
    if not (folder / CONFIG).exists():
        return None
    number = next(n for n in count(1) if not folder.with_name(f"{folder.name}.{n}").exists())
    return folder.rename(folder.with_name(f"{folder.name}.{number}"))


def _evaluation(fields: Mapping[str, Any] | None) -> Evaluation | None:
    if fields is None:
        return None
    return Evaluation(tuple(fields["returns"]), tuple(fields["lengths"]), int(fields["timesteps"]))


def _replace(file: Path, text: str) -> None:
    """Write a file so that it is there whole, the old one or the new one, whenever the process ends."""
    aside = file.with_name(f".{file.name}.new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)
