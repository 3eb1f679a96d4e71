"""Reads and writes the files of a run folder.

Only regular files are opened: a link, a pipe or a device in a folder must neither block a command nor redirect it to
other files.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

from rlgraph.core import CheckpointError, SpecError
from rlgraph.core.checkpoint.files import open_regular
from rlgraph.core.checkpoint.strict_json import check_size
from rlgraph.experience.specs import Spec, parse_spec
from rlgraph.runs.errors import RunFolderError, StorageError

S = TypeVar("S", bound=Spec)
T = TypeVar("T")
#: Does not follow links or wait for a reader of a pipe.
_WRITE = (
    os.O_RDWR | os.O_CREAT | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
)
#: Maximum characters of one fault in a message, since a state may hold an image.
_LONGEST_FAULT = 400


def check_own_folder(folder: Path, *inside: str) -> None:
    """Refuse a folder that holds more than a run: a root, the home folder, what is above them or the working directory.

    Args:
        folder: of a new run, search or benchmark; an earlier run in it would be moved with all that is there.
        inside: patterns of files, of which such a folder has one.

    Raises:
        RunFolderError: it is one of these, or a folder directly below a root that has other files.
    """
    place, here = folder.resolve(), Path.cwd().resolve()
    home = Path(os.path.expanduser("~")).resolve()  # unlike Path.home, it needs none
    is_known = any(file for pattern in inside for file in place.glob(pattern))
    is_top = place.parent == Path(place.anchor) and place.is_dir() and not is_known
    if place in (home, *home.parents, *here.parents) or (is_top and any(place.iterdir())):
        raise RunFolderError(
            f"expected a folder for the run alone, given {folder}, which holds other files: give one inside it, such "
            f"as {folder / 'runs' / 'one'}",
            path="folder",
        )


def open_to_read(file: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        RunFolderError: it is missing, or not a regular file.
    """
    try:
        return BufferedReader(open_regular(file, missing=f"{file} is missing"))  # type: ignore[arg-type]
    except CheckpointError as error:
        raise RunFolderError(str(error)) from None


def open_to_write(file: Path) -> int:
    """Open or create a regular file for reading and writing; returns the descriptor.

    Raises:
        StorageError: it cannot be opened, or is not a regular file.
    """
    with storing(file):
        descriptor = os.open(file, _WRITE, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"expected {file} to be a regular file or absent, given something else. Remove it")
    return descriptor


@contextmanager
def storing(file: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StorageError` that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"{file} cannot be written: {reason}") from error


def check_no_link(folder: Path) -> None:
    """Check that a folder that a run writes into, or a checkpoint that it replaces, is not a link to one elsewhere.

    Raises:
        RunFolderError: it is.
    """
    if folder.is_symlink():
        raise RunFolderError(
            f"{folder} is a symbolic link: a run writes into its own folder only. Move there what the link points to; "
            "to keep runs elsewhere, link the whole folder of a run"
        )


def replace_file(file: Path, content: str | bytes) -> None:
    """Write a file atomically: it has the old or the new content whenever the process ends.

    Raises:
        StorageError: it cannot be written; the old content remains.
    """
    aside = file.with_name(f".{file.name}.new")
    with storing(file):
        aside.unlink(missing_ok=True)
        try:
            with aside.open("xb") as handle:
                handle.write(content.encode() if isinstance(content, str) else content)
            aside.replace(file)
        except OSError:
            aside.unlink(missing_ok=True)
            raise


def replace_json(file: Path, content: Any, check: Callable[[Any], object] = lambda _: None) -> Any:
    """Write a JSON file atomically, once `read_json` and `check` would take it.

    Args:
        file: the file.
        content: what it is to contain.
        check: raises `SpecError` where the reader of the file refuses its content.

    Returns:
        The content as it will be read.

    Raises:
        RunFolderError: JSON cannot hold the content, or it is refused or too large; the old content remains.
        StorageError: it cannot be written; the old content remains.
    """
    text, read = as_json(file, content)
    try:
        check(read)
    except SpecError as error:
        raise RunFolderError(f"{file} is not written, because it could not be read again: {error}") from error
    replace_file(file, text)
    return read


def as_json(file: Path, content: Any) -> tuple[str, Any]:
    """The text of a JSON file, and its content as `read_json` reads it.

    Raises:
        RunFolderError: JSON cannot hold the content, or it is too large to be read.
    """
    try:
        text = json.dumps(content, indent=2) + "\n"
        check_size(file, len(text))
        return text, json.loads(text)
    except (TypeError, ValueError, RecursionError, CheckpointError) as error:
        raise RunFolderError(f"{file} is not written, because it could not be read again: {error}") from error


def read_json(file: Path) -> Any:
    """The content of a JSON file of at most 16 MB.

    Raises:
        RunFolderError: it is missing, not a regular file, too large or not JSON.
    """
    with open_to_read(file) as handle:
        try:
            size = os.fstat(handle.fileno()).st_size
            check_size(file, size)
            return json.loads(handle.read(size))
        except CheckpointError as error:
            raise RunFolderError(str(error)) from None
        except (OSError, ValueError, RecursionError) as error:
            raise RunFolderError(f"{file} is damaged: {error}") from None


def parse(model: type[S], content: Any, where: object) -> S:
    """Validate `content` as a `model`.

    Args:
        model: the expected model.
        content: the content of the file.
        where: the file, for messages.

    Raises:
        RunFolderError: lists all faults: file, path inside it, expected and given values.
    """
    try:
        return parse_spec(model, content, "")
    except SpecError as error:
        shortened = (f"{fault!s:.{_LONGEST_FAULT}}" for fault in error.faults)
        raise RunFolderError(*shortened, path=str(where)) from None


def digest(content: Any) -> str:
    """The SHA-256 of JSON-serializable `content`, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def first_and_last(items: Sequence[T], most: int) -> list[T]:
    """The first item and the last ones, `most` together: what grows with each start of a run stays readable."""
    return list(items) if len(items) <= most else [items[0], *items[len(items) - most + 1 :]]


def without(mapping: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """`mapping` without some of its keys."""
    return {name: value for name, value in mapping.items() if name not in names}
