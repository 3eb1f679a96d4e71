"""``result.json``: the outcome of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

from rlgraph.experience.specs import Spec
from rlgraph.runs.run_files import parse, read_json, replace_json
from rlgraph.runs.run_state import RecordPrefixes

RESULT = "result.json"


class RunResult(Spec):
    """The parts of ``result.json`` that are read.

    Attributes:
        outcome: finished (all steps are done), stopped (a condition was met), or another end.
        evaluation: the final evaluation.
        records: the record files at the end.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    outcome: Literal["finished", "stopped", "interrupted", "failed"]
    evaluation: dict[str, Any] | None = None
    records: RecordPrefixes | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the run is complete; it can only be extended. Other runs can be resumed."""
        return self.outcome in ("finished", "stopped")


def write_result(folder: Path, content: Mapping[str, Any]) -> None:
    """Write ``result.json``.

    Raises:
        RunFolderError: `read_result` would refuse the content; nothing is written.
        StorageError: it cannot be written.
    """
    file = folder / RESULT
    replace_json(file, content, lambda written: parse(RunResult, written, file))


def read_result(folder: Path) -> RunResult | None:
    """The outcome of the run; None if it has not ended.

    Raises:
        RunFolderError: the file is damaged.
    """
    file = folder / RESULT
    if not file.exists() and not file.is_symlink():
        return None
    return parse(RunResult, read_json(file), file)
