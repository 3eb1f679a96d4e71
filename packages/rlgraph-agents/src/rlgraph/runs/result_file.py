"""``result.json``: how a run ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

from rlgraph.agents.specs import Spec
from rlgraph.runs.run_files import parse, read_json, replace_file
from rlgraph.runs.run_state import RecordPrefixes

RESULT = "result.json"


class RunResult(Spec):
    """The parts of ``result.json`` that are read again.

    Attributes:
        outcome: the run has come to its end if it is finished (all steps are done) or stopped (a condition was met).
        evaluation: the closing one.
        records: the record files at the end.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    outcome: Literal["finished", "stopped", "interrupted", "failed"]
    evaluation: dict[str, Any] | None = None
    records: RecordPrefixes | None = None

    @property
    def is_complete(self) -> bool:
        """Nothing is left to do but a longer run; the others may be resumed."""
        return self.outcome in ("finished", "stopped")


def write_result(folder: Path, content: Mapping[str, Any]) -> None:
    """Write ``result.json``.

    Raises:
        StorageError: it cannot be written.
    """
    replace_file(folder / RESULT, json.dumps(content, indent=2) + "\n")


def read_result(folder: Path) -> RunResult | None:
    """How the run ended; None: it has not.

    Raises:
        RunFolderError: the file is damaged.
    """
    file = folder / RESULT
    if not file.exists() and not file.is_symlink():
        return None
    return parse(RunResult, read_json(file), file)
