"""Writes a run folder: configuration, drawing, metrics, checkpoints, curve, result."""

from __future__ import annotations

import secrets
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self

from rlgraph.core.checkpoint.finding import find_checkpoint
from rlgraph.environments import environment_seed
from rlgraph.experience.specs import parse_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.stored_meaning import MEANING, MEANING_KEY, as_it_meant, meaning_of
from rlgraph.runs.checkpoints import BEST, RunCheckpoints, check_own
from rlgraph.runs.config_file import CONFIG, config_digest, read_config, write_config
from rlgraph.runs.errors import RunFolderError, RunFolderWarning, StorageError
from rlgraph.runs.event_file import EventFile
from rlgraph.runs.provenance import provenance
from rlgraph.runs.recorded_run import environment_name
from rlgraph.runs.records import Records, evaluation_of, read_evaluations, read_metrics
from rlgraph.runs.result_file import RESULT, read_result, write_result
from rlgraph.runs.run_files import check_no_link, check_own_folder, first_and_last, storing, without
from rlgraph.runs.run_lock import run_lock
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.run_state import RunState
from rlgraph.runs.wandb_log import WandbLog
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.worker import Worker

#: Folders inside that are written into.
FOLDERS = ("actors", "checkpoints", "shards", "tensorboard", "wandb")

#: Starts of a run, and reasons why it differs from the one that its seed determines, of which its files tell.
STARTS, DEPARTURES = 100, 1000

#: Seconds that the end of a run waits for what is saved in other places; an interrupted run is to end soon.
PATIENCE, PATIENCE_AFTER_FAULTS = 600.0, 2.0


class Scalars(Protocol):
    """A target of metrics, in addition to the record files."""

    def add_scalars(self, step: int, scalars: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class RunFolder(Callback):
    """Writes the folder of a run during training.

    * ``config.yaml``, ``config.json``: resolved configuration and provenance
    * ``graph.svg``, ``graph.png``: component graph
    * ``metrics.csv``, ``metrics.jsonl``, ``episodes.csv``, ``evaluations.jsonl``, ``tensorboard/``: metrics
    * ``checkpoints/``: the best policy and the latest full checkpoints
    * ``actors/``: logs of actors in other processes that failed
    * ``shards/``: snapshots of replay shards in other processes
    * ``curve.png``: learning curve
    * ``result.json``: the outcome

    Args:
        folder: the folder; created if missing.
        spec: the description of the run.
        agent: the agent to train.
        state: state in the checkpoint that the run resumes from; None: a new start.
        forked_from: that checkpoint, where it is of another run.

    Raises:
        RunFolderError: a file of the folder is damaged.
        StorageError: a file cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        agent: BaseAgent,
        state: RunState | None = None,
        forked_from: Path | None = None,
    ):
        self.folder, self.spec, self.agent = folder, spec, agent
        folder.mkdir(parents=True, exist_ok=True)
        for inner in (*(folder / name for name in FOLDERS), *(folder / "checkpoints").glob("*")):
            check_no_link(inner)
        earlier = read_config(folder) if (folder / CONFIG).exists() else {}
        origin = {} if forked_from is None else {"forked_from": str(forked_from)}
        self.history = first_and_last([*(earlier.get("history") or []), {**provenance(), **origin}], STARTS)
        self.identity = earlier.get("identity") or secrets.token_hex(8)
        # A document of an older version stays unchanged, since the checkpoints have its digest.
        self._document = earlier["run"] if earlier else spec.model_dump()
        first = earlier or {MEANING_KEY: MEANING}
        self._meaning = {key: value for key, value in first.items() if key == MEANING_KEY}
        #: Why the run differs from the one that its seed determines.
        self.departures: list[str] = [] if state is None else list(state.departures)
        self.checkpoints = RunCheckpoints(
            folder / "checkpoints", spec.checkpoints.keep_last, spec.checkpoints.memory
        )
        self.best = None if state is None else self._best_so_far(state, earlier)
        first_step = 0 if state is None else state.worker.timesteps
        self._scalars: list[Scalars] = []
        with ExitStack() as stack:
            if spec.logging.wandb is not None:  # first, since it may fail: no file has been changed yet
                config = spec.model_dump(mode="json")
                self._scalars.append(WandbLog(spec.logging.wandb, folder, self.identity, config))
                stack.callback(self._scalars[0].close)
            columns = agent.learner.graph.algorithm.metrics
            self._records = Records(folder, None if state is None else state.records, columns)
            stack.callback(self._records.close)
            if spec.logging.tensorboard:
                self._scalars.append(EventFile(folder / "tensorboard", first_step if earlier else None))
                stack.callback(self._scalars[-1].close)
            if state is None or not earlier:
                self.draw_graph()
            self.write_config()  # from here on there is a run in the folder
            with storing(folder / RESULT):  # of a finished run that is extended now
                (folder / RESULT).unlink(missing_ok=True)
            self._close_files = stack.pop_all().close

    def write_config(self) -> None:
        """Write ``config.json`` and ``config.yaml``: the spec with its defaults, choices, provenance."""
        executor, document = self.agent.executor, {**self._document, "steps": self.spec.steps}
        if self.spec.executor_spec is not None:
            document["executor_spec"] = self.spec.executor_spec
        if as_it_meant(BaseAgent, document["agent"], meaning_of(self._meaning)) != self.spec.agent:
            document["agent"], self._meaning = self.spec.agent, {MEANING_KEY: MEANING}
        content = {
            **self._meaning,
            "run": document,
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
            **without(self.history[0], "run", "chosen", "seeds"),  # a file is no place to say these
            "identity": self.identity,
            "history": self.history,
        }
        self._config = config_digest(write_config(self.folder, content))

    def draw_graph(self) -> None:
        """Write ``graph.svg``, ``graph.png`` and TensorBoard's graph page."""
        from rlgraph.draw import draw, graph_definition

        for scalars in self._scalars:
            if isinstance(scalars, EventFile):
                scalars.add_graph(graph_definition(self.agent.executor.built))
        drawing = draw(self.agent.executor.built)
        for name in ("graph.svg", "graph.png"):
            self._write_picture(name, drawing.save)

    def store_checkpoint(self, worker: Worker) -> Path:
        """Write a full checkpoint at a reset point of the worker."""
        worker.save_elsewhere()
        return self.checkpoints.store_step(self.agent, worker.timesteps, self._state(worker, scheduled=True))

    def store_end(self, worker: Worker, name: str, finished: bool) -> Path:
        """Write a full checkpoint at the end of training; `finished`: all steps are done."""
        self.agent.flush_buffers()
        folder = self.checkpoints.store(self.agent, name, self._state(worker, scheduled=finished))
        worker.save_elsewhere(PATIENCE if finished else PATIENCE_AFTER_FAULTS)
        self.checkpoints.remove_oldest(worker.timesteps)  # a run killed after its last checkpoint did not
        return folder

    def best_policy(self) -> Path:
        """The checkpoint of the best policy; raises as `check_own`."""
        return check_own(find_checkpoint(self.checkpoints.folder / BEST), read_config(self.folder))

    def on_report(self, worker: Worker, metrics: Mapping[str, float]) -> None:
        self.write(metrics)

    def on_episode(self, worker: Worker, episode_return: float, length: int) -> None:
        self._records.add_episode(worker.timesteps, episode_return, length)

    def on_evaluation(self, worker: Worker, evaluation: Evaluation) -> None:
        self._records.add_evaluation(evaluation)
        self.write(
            {
                "timesteps": float(evaluation.timesteps),
                "evaluation_return": evaluation.mean,
                "evaluation_return_std": evaluation.std,
                "evaluation_length": sum(evaluation.lengths) / len(evaluation.lengths),
            }
        )
        if self.best is None or evaluation.mean >= self.best.mean:
            self.checkpoints.store_best(self.agent, evaluation, self._config)
            self.best = evaluation

    def _best_so_far(self, state: RunState, config: Mapping[str, Any]) -> Evaluation | None:
        """The best evaluation before `state`; of a run that departs, that of the policy which is saved as the best.

        Such a run need not come to it again, where a kill cut off the part of the run that it is from.
        """
        best = None if state.best is None else evaluation_of(state.best)
        saved = self.checkpoints.evaluation_of_best() if self.departures and config else None
        if saved is not None and saved != best:
            self.departures.append(
                f"step {state.worker.done}: the best policy so far is that of step {saved.timesteps} of a part of the "
                "run that was cut off"
            )
            return saved
        return best

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.close(complete=not isinstance(error, StorageError))

    def close(self, complete: bool = True) -> None:
        """Close all files, complete the configuration and draw the curve.

        Args:
            complete: False: only close the files, because nothing more can be written.

        Warns:
            RunFolderWarning: a file cannot be written; the run is valid without it.
        """
        self._write_optional(self.folder, self._close_files)
        if not complete:
            return
        # The choices of the first update are known by now.
        self._write_optional(self.folder / CONFIG, self.write_config)
        self._write_picture("curve.png", self._draw_curve)

    def _write_optional(self, file: Path, write: Callable[[], object]) -> None:
        """Write an optional file; a `RunFolderWarning` if that fails."""
        try:
            with storing(file):
                write()
        except (StorageError, RunFolderError) as error:
            warnings.warn(f"{error}. The run is kept without it", RunFolderWarning, stacklevel=2)

    def _write_picture(self, name: str, save: Callable[[Path], object]) -> None:
        file = self.folder / name

        def write() -> None:
            file.unlink(missing_ok=True)  # it may be a link to a file elsewhere, or a pipe
            save(file)

        self._write_optional(file, write)

    def _draw_curve(self, file: Path) -> None:
        from rlgraph.runs.curve import draw_curve

        agent, backend = self.spec.agent.get("type", "agent"), self.agent.executor.backend.name
        title = f"{agent} in {environment_name(self.spec.environment)} on {backend}, seed {self.spec.seed}"
        draw_curve(read_metrics(self.folder), read_evaluations(self.folder), file, title)

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write ``result.json``."""
        write_result(self.folder, {**result, "records": self._records.sync().model_dump()})

    def write(self, metrics: Mapping[str, float]) -> None:
        """Append a row to all files; TensorBoard and W&B count the updates of a run without steps."""
        self._records.add_metrics(metrics)
        step = int(metrics["timesteps"] if self.spec.steps else metrics.get("updates", 0.0))
        values = {name: value for name, value in metrics.items() if name != "timesteps"}
        for scalars in self._scalars:
            scalars.add_scalars(step, values)

    def _state(self, worker: Worker, scheduled: bool) -> dict[str, Any]:
        """The present state of the run; `scheduled`: an uninterrupted run also has a checkpoint here."""
        return {
            "version": 2,
            "worker": worker.get_state(),
            "best": None if self.best is None else vars(self.best),
            "records": self._records.sync().model_dump(),
            "config": self._config,
            "steps": self.spec.steps,
            "scheduled": scheduled,
            "memory": self.checkpoints.memory,
            "departures": first_and_last(self.departures, DEPARTURES),
        }


def finished_steps(folder: Path) -> int | None:
    """The steps of a finished run; None if the run is not finished.

    Raises:
        RunFolderError: `folder` is not a run folder, or a file is damaged.
    """
    run, result = parse_spec(RunSpec, read_config(folder)["run"], "run"), read_result(folder)
    done = result is not None and result.outcome == "finished" and result.evaluation
    return run.steps if done else None


@contextmanager
def new_run_in(folder: Path) -> Iterator[Path | None]:
    """Context in which a new run begins in a folder, and holds its lock; an earlier run there is moved.

    If the run fails before its ``config.json`` is written, it leaves nothing, and the earlier run is moved back.

    Yields:
        The new place of the earlier run; None if there was no run.

    Raises:
        RunFolderError: another process trains there, or has begun a run at the same time; or the folder is a root, or
            another one that holds more than a run.
    """
    check_own_folder(folder, CONFIG)
    earlier = keep_earlier_run(folder)
    is_mine = earlier is not None or not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with run_lock(folder):
            if (folder / CONFIG).exists():
                raise RunFolderError(f"{folder} has a new run of another process: give another folder")
            try:
                yield earlier
            except BaseException:
                if is_mine and not (folder / CONFIG).exists():
                    shutil.rmtree(folder, ignore_errors=True)
                raise
    except BaseException:
        if is_mine:
            with suppress(OSError):  # not empty: without the lock, it is the folder of another process
                folder.rmdir()
        if earlier is not None and not folder.exists():
            earlier.rename(folder)
        raise


def keep_earlier_run(folder: Path) -> Path | None:
    """Move an earlier run in `folder` to the first free of ``folder.1``, ``folder.2`` ...

    Returns:
        Its new place; None if there was no run.

    Raises:
        RunFolderError: another process trains there.
        StorageError: it cannot be moved, by another process at the same time for example.
    """
    if not (folder / CONFIG).exists():
        return None
    with run_lock(folder), storing(folder):
        number = next(n for n in count(1) if not folder.with_name(f"{folder.name}.{n}").exists())
        return folder.rename(folder.with_name(f"{folder.name}.{number}"))
