"""Record files, to which a run appends, and which a resumed run truncates."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import StringIO, TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import Any, AnyStr, TypeVar

from rlgraph.core.checkpoint.strict_json import LIMIT
from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.run_files import open_to_read, open_to_write, parse, replace_file, storing
from rlgraph.runs.run_state import EvaluationState, RecordPrefix, RecordPrefixes
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.metrics import METRICS

METRICS_CSV, METRICS_JSONL = "metrics.csv", "metrics.jsonl"
EPISODES, EVALUATIONS = "episodes.csv", "evaluations.jsonl"
NAMES = (METRICS_CSV, METRICS_JSONL, EPISODES, EVALUATIONS)
EPISODE_COLUMNS = ("timesteps", "return", "length")
_CHUNK = 1 << 20
Row = TypeVar("Row")


class RecordFile:
    """An append-only file. Written rows survive the end of the process; a failing row is removed.

    Args:
        file: the file.
        size: number of bytes to keep; the rest is truncated.
        sha256: hash of these bytes, from `check_prefix`.

    Raises:
        StorageError: the file cannot be opened.
    """

    def __init__(self, file: Path, size: int, sha256: Any):
        self.file, self._size, self._sha256 = file, size, sha256
        self._handle = os.fdopen(open_to_write(file), "r+b", buffering=0)
        with storing(file):
            self._cut()

    def write(self, text: str) -> None:
        """Append a row.

        Raises:
            StorageError: it cannot be written.
        """
        content = rest = text.encode()
        try:
            with storing(self.file):
                while rest:
                    rest = rest[self._handle.write(rest) :]
        except BaseException:
            self._cut()
            raise
        self._size += len(content)
        self._sha256.update(content)

    def sync(self) -> RecordPrefix:
        """Sync to disk; returns the size and digest of the file."""
        with storing(self.file):
            os.fsync(self._handle.fileno())
        return RecordPrefix(size=self._size, sha256=self._sha256.hexdigest())

    def replace(self, content: bytes) -> None:
        """Give the file other content, all at once.

        Raises:
            StorageError: it cannot be written; the old content remains.
        """
        replace_file(self.file, content)
        self._handle.close()
        self._handle = os.fdopen(open_to_write(self.file), "r+b", buffering=0)
        self._size, self._sha256 = len(content), hashlib.sha256(content)
        self._cut()

    def close(self) -> None:
        self._handle.close()

    def _cut(self) -> None:
        self._handle.truncate(self._size)
        self._handle.seek(self._size)


class Records:
    """``metrics.csv`` and ``metrics.jsonl``: reports and evaluations; ``episodes.csv``; ``evaluations.jsonl``.

    The first row with a metric that ``metrics.csv`` has no column for adds one: the file is written again, from the
    rows of ``metrics.jsonl``.

    Args:
        folder: the run folder.
        prefixes: the parts to keep, from `sync`; the rest is truncated. None: new files.
        columns: of new files, after those of every run.

    Raises:
        RunFolderError: a file does not begin with its prefix.
        StorageError: a file cannot be opened.
    """

    def __init__(self, folder: Path, prefixes: RecordPrefixes | None = None, columns: Iterable[str] = ()):
        self.folder = folder
        self._files: dict[str, RecordFile] = {}
        kept: dict[str, tuple[int, Any]] = {name: (0, hashlib.sha256()) for name in NAMES}
        if prefixes is not None:  # check all before truncating any
            kept = {name: _kept(folder, name, prefixes) for name in reversed(NAMES)}
        with ExitStack() as stack:
            for name in NAMES:
                self._files[name] = RecordFile(folder / name, *kept[name])
                stack.callback(self._files[name].close)
            names = [*METRICS, *columns] if prefixes is None else _columns(folder / METRICS_CSV)
            self._metrics = csv.DictWriter(self._files[METRICS_CSV], list(dict.fromkeys(names)))
            self._episodes = csv.writer(self._files[EPISODES])
            if prefixes is None:
                self._metrics.writeheader()
                self._episodes.writerow(EPISODE_COLUMNS)
            self.close = stack.pop_all().close

    def add_metrics(self, metrics: Mapping[str, float]) -> None:
        """Append a row; a number that is not finite is NaN there, like the mean of no episodes.

        Raises:
            RunFolderError: the row could not be read again; nothing is written. The methods below raise it too.
        """
        with _checking(METRICS_JSONL):
            numbers = {
                name: number if isfinite(number) else math.nan for name, number in _metrics(metrics).items()
            }
        if more := numbers.keys() - set(self._metrics.fieldnames):
            columns = [*self._metrics.fieldnames, *(name for name in numbers if name in more)]
            self._files[METRICS_CSV].replace(_as_csv(columns, read_metrics(self.folder)))
            self._metrics.fieldnames = columns
        self._metrics.writerow(numbers)
        self._add_json(METRICS_JSONL, numbers)

    def add_episode(self, timesteps: int, episode_return: float, length: int) -> None:
        with _checking(EPISODES):
            _episode(dict(zip(EPISODE_COLUMNS, map(str, (timesteps, episode_return, length)), strict=True)))
        self._episodes.writerow((timesteps, episode_return, length))

    def add_evaluation(self, evaluation: Evaluation) -> None:
        with _checking(EVALUATIONS):
            _evaluation(json.loads(json.dumps(vars(evaluation))))
        self._add_json(EVALUATIONS, vars(evaluation))

    def sync(self) -> RecordPrefixes:
        """Sync all files to disk; returns their sizes and digests.

        Raises:
            StorageError: a write failed.
        """
        return RecordPrefixes(**{_field(name): file.sync() for name, file in self._files.items()})

    def _add_json(self, name: str, values: Mapping[str, Any]) -> None:
        self._files[name].write(json.dumps(values) + "\n")


@contextmanager
def _checking(name: str) -> Iterator[None]:
    """Turn an error of what reads a row into a `RunFolderError`, before the row is written."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, RunFolderError) as error:
        raise RunFolderError(
            f"{name}: a row is not written, because it could not be read again: {error}"
        ) from error


def check_prefix(file: Path, prefix: RecordPrefix) -> Any:
    """Check that a file begins with the prefix of a checkpoint.

    Returns:
        The SHA-256 object of that part.

    Raises:
        RunFolderError: it is shorter, or was changed.
    """
    found, rest = hashlib.sha256(), prefix.size
    with open_to_read(file) as handle:
        present = os.fstat(handle.fileno()).st_size
        while rest and (content := handle.read(min(rest, _CHUNK))):
            found.update(content)
            rest -= len(content)
    if rest:
        reason = f"it has {present:,} bytes, it had {prefix.size:,}"
    elif prefix.sha256 is not None and found.hexdigest() != prefix.sha256:
        reason = f"its first {prefix.size:,} bytes differ from their checksum"
    else:
        return found
    raise RunFolderError(
        f"{file} was changed since the run wrote it: {reason}. Restore it from a copy; or move the newest checkpoints "
        "away, and the run is resumed from an older one"
    )


def _kept(folder: Path, name: str, prefixes: RecordPrefixes) -> tuple[int, Any]:
    """Size and SHA-256 object of the part of a record file that belongs to a checkpoint; raises as `check_prefix`."""
    if name == METRICS_CSV and (content := _widened(folder, prefixes.metrics_jsonl.size)):
        return len(content), hashlib.sha256(content)
    prefix = _prefix_of(prefixes, name)
    return prefix.size, check_prefix(folder / name, prefix)


def _widened(folder: Path, size: int) -> bytes | None:
    """The part of ``metrics.csv`` with the rows of the first `size` bytes of ``metrics.jsonl``; None: it is not there.

    The file may have got columns since the checkpoint, whose checksum is then that of another one.
    """
    try:
        with open_to_read(folder / METRICS_JSONL) as handle:
            rows = [_metrics(json.loads(line)) for line in handle.read(size).splitlines()]
        content = _as_csv(_columns(folder / METRICS_CSV), rows)
        with open_to_read(folder / METRICS_CSV) as handle:
            return content if handle.read(len(content)) == content else None
    except (RunFolderError, ValueError, OverflowError, RecursionError):
        return None


def _as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, float]]) -> bytes:
    """The content of ``metrics.csv``."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def check_records(folder: Path, prefixes: RecordPrefixes, *names: str) -> None:
    """`check_prefix` for record files of a run."""
    for name in names:
        check_prefix(folder / name, _prefix_of(prefixes, name))


# Reading.


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """The rows of ``metrics.jsonl``; an incomplete last row is ignored.

    Raises:
        RunFolderError: a row is damaged; names file and line. The functions below raise it too.
    """
    return list(json_lines(folder / METRICS_JSONL, _metrics))


def _metrics(row: Any) -> dict[str, float]:
    if not isinstance(row, dict) or not all(isinstance(value, int | float) for value in row.values()):
        raise ValueError("expected a mapping of numbers")
    numbers = {name: float(value) for name, value in row.items()}
    if not isfinite(numbers.get("timesteps", math.nan)):
        raise ValueError("expected a finite number of timesteps")
    return numbers


def read_evaluations(folder: Path) -> list[Evaluation]:
    """All evaluations of a run, in order."""
    return list(json_lines(folder / EVALUATIONS, _evaluation))


def _evaluation(row: Any) -> Evaluation:
    return evaluation_of(parse(EvaluationState, row, "an evaluation"))


def evaluation_of(state: EvaluationState) -> Evaluation:
    """The evaluation that a file describes."""
    return Evaluation(tuple(state.returns), tuple(state.lengths), state.timesteps)


def read_episodes(folder: Path) -> tuple[list[float], list[int]]:
    """Returns and lengths of all episodes of a run, in order."""
    episodes = list(csv_rows(folder / EPISODES, _episode))
    return [each for each, _ in episodes], [length for _, length in episodes]


def _episode(row: dict[str, str]) -> tuple[float, int]:
    if tuple(row) != EPISODE_COLUMNS:
        raise ValueError(f"expected the columns {', '.join(EPISODE_COLUMNS)}")
    number, length = float(row["return"]), int(row["length"])
    if not isfinite(number) or length < 0:
        raise ValueError(f"expected a finite return and a length >= 0, given {number!r} and {length!r}")
    return number, length


def csv_rows(file: Path, convert: Callable[[dict[str, str]], Row]) -> Iterator[Row]:
    """The results of `convert` for each row of a table; an incomplete last row is ignored.

    Raises:
        RunFolderError: the file cannot be read, or `convert` refuses a row; names the line.
    """
    with open_to_read(file) as handle:
        lines = TextIOWrapper(handle, encoding="utf-8", newline="")
        rows = csv.DictReader(_whole_lines(lines.readline))
        try:
            for row in rows:
                if None in row or None in row.values():
                    raise ValueError(f"expected {len(rows.fieldnames or ())} columns")
                yield convert(row)
        except (OSError, ValueError, TypeError, OverflowError, csv.Error) as error:
            raise RunFolderError(f"{file} cannot be read: line {rows.line_num}: {error}") from None


def json_lines(file: Path, convert: Callable[[Any], Row]) -> Iterator[Row]:
    """The results of `convert` for each line of JSON; see `csv_rows`."""
    with open_to_read(file) as handle:
        number = 0
        try:
            for number, line in enumerate(_whole_lines(handle.readline), 1):  # noqa: B007
                yield convert(json.loads(line))
        except (OSError, ValueError, OverflowError, RecursionError, RunFolderError) as error:
            raise RunFolderError(f"{file} cannot be read: line {number}: {error}") from None


def _whole_lines(read_line: Callable[[int], AnyStr]) -> Iterator[AnyStr]:
    """The lines of a file without an incomplete last one."""
    while line := read_line(LIMIT):
        if line[-1:] in ("\n", b"\n"):
            yield line
        elif len(line) == LIMIT:
            raise ValueError(f"expected a line of fewer than {LIMIT:,} characters")


def _columns(file: Path) -> tuple[str, ...]:
    with open_to_read(file) as handle:
        header = handle.readline(LIMIT)
    try:
        return tuple(next(csv.reader([header.decode()])))
    except (ValueError, StopIteration, csv.Error) as error:
        raise RunFolderError(f"{file} cannot be read: line 1: {error}") from None


def _field(name: str) -> str:
    return name.replace(".", "_")


def _prefix_of(prefixes: RecordPrefixes, name: str) -> RecordPrefix:
    prefix: RecordPrefix = getattr(prefixes, _field(name))
    return prefix
