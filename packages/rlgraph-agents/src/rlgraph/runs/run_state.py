"""The state of a run in its full checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat

from rlgraph.experience.specs import Spec
from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.run_files import parse
from rlgraph.runs.state_json import from_json

Count = Annotated[int, Field(ge=0, lt=2**63)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class RecordPrefix(Spec):
    """The part of a record file that belongs to a checkpoint; version 0.1 wrote no digest."""

    size: Count
    sha256: Sha256 | None


class RecordPrefixes(Spec):
    """Prefixes by file name, with ``_`` for the dot."""

    metrics_csv: RecordPrefix
    metrics_jsonl: RecordPrefix
    episodes_csv: RecordPrefix
    evaluations_jsonl: RecordPrefix


class EvaluationState(Spec):
    """The best evaluation so far."""

    returns: list[FiniteFloat] = Field(min_length=1)
    lengths: list[Count] = Field(min_length=1)
    timesteps: Count


class ReportState(Spec):
    """Sums since the last report; version 0.2 had `loss` and `updates` in place of the `numbers` of updates."""

    reported: Count
    numbers: dict[str, Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]] = Field(
        default_factory=dict
    )
    loss: FiniteFloat = 0.0
    updates: Count = 0


class RunningEpisodes(Spec):
    """Open episodes, one per environment."""

    returns: list[FiniteFloat]
    lengths: list[Count]


class WorkerState(Spec):
    """The state of a worker; see `Worker.get_state`."""

    done: Count
    seconds: FiniteFloat = Field(ge=0)
    episodes_before: Count
    evaluations_before: Count
    updates_before: Count
    environments: list[Any] | None
    report: ReportState
    timesteps: Count
    dropped_steps: Count
    running: RunningEpisodes | None


class RunState(Spec):
    """The state of a run.

    Attributes:
        version: version of this format. Version 1, of rlgraph-agents 0.1, had no digests.
        worker: state of the worker.
        best: the best evaluation; null before the first.
        records: prefixes of the record files.
        config: digest of the fixed parts of ``config.json``; see `rlgraph.runs.config_file`.
        steps: configured environment steps.
        scheduled: an uninterrupted run also has a checkpoint here.
        memory: the checkpoint has the replay memory.
        departures: why the run differs from the one that its seed determines.
    """

    version: Literal[2] = 2
    worker: WorkerState
    best: EvaluationState | None
    records: RecordPrefixes
    config: Sha256 | None
    steps: Count
    scheduled: bool
    memory: bool
    departures: list[str]


def read_state(content: Any, checkpoint: Path) -> RunState:
    """The state of a run from the facts of a checkpoint.

    Raises:
        RunFolderError: a type, range or part is wrong, or the version is newer.
    """
    where = f"{checkpoint / 'manifest.json'}, facts.run"
    version = content.get("version", 1) if isinstance(content, Mapping) else 1
    if type(version) is int and version > 2:
        raise RunFolderError(
            f"version {version}, this rlgraph-agents reads up to 2: pip install --upgrade rlgraph-agents",
            path=where,
        )
    if version == 1:
        content = _from_1(content)
    state = parse(RunState, content, where)
    environments, running = state.worker.environments, state.worker.running
    if (environments is None) != (running is None) or (
        environments is not None
        and running is not None
        and not len(environments) == len(running.returns) == len(running.lengths)
    ):
        raise RunFolderError("worker.running: expected one episode per environment", path=where)
    if state.best is not None and len(state.best.returns) != len(state.best.lengths):
        raise RunFolderError("best.lengths: expected as many as best.returns", path=where)
    try:
        worker = state.worker.model_copy(update={"environments": from_json(environments)})
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"worker.environments: {error}", path=where) from None
    return state.model_copy(update={"worker": worker})


def _from_1(content: Any) -> Any:
    """Convert a state of version 1 to version 2; missing parts are not checked."""
    if not isinstance(content, Mapping):
        return content
    records = content.get("records")
    if isinstance(records, Mapping):
        records = {name.replace(".", "_"): {"size": size, "sha256": None} for name, size in records.items()}
    return {**content, "version": 2, "records": records, "config": None}
