"""The manifest of a checkpoint: contents, origin, and checksums of the files."""

from __future__ import annotations

import hashlib
import os
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import Any

from rlgraph.core.checkpoint.files import open_regular
from rlgraph.core.checkpoint.migration import migrated
from rlgraph.core.checkpoint.strict_json import check_size, from_json, to_json
from rlgraph.core.errors import CheckpointError

FORMAT, FORMAT_VERSION = "rlgraph-checkpoint", 2
MANIFEST = "manifest.json"
_FILE_NAME = re.compile(r"[A-Za-z0-9_-]+\.safetensors")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Manifest:
    """The content of a manifest. Values that its format did not record are None.

    Attributes:
        facts: the facts given to `GraphExecutor.save`.
        streams: scope -> state of the NumPy generator that draws there.
        choices: `GraphExecutor.choices` at that time, for an execution spec.
        dtype, seed: of the execution spec.
        backend: name of the backend.
        contract: version of the contract of operations.
        rlgraph_core: version of the distribution.
        files: name -> SHA-256 of the file.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    streams: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    dtype: str | None = None
    seed: int | None = None
    backend: str | None = None
    contract: str | None = None
    rlgraph_core: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)


_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("facts", "streams", "choices", "files"), (dict,)),
    **dict.fromkeys(("dtype", "backend", "contract", "rlgraph_core"), (str, NoneType)),
    "seed": (int, NoneType),
}
assert set(_TYPES) == {each.name for each in fields(Manifest)}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of the checkpoint in `folder`, and sync it to disk.

    Raises:
        CheckpointError: a value cannot be written as JSON.
    """
    file = folder / MANIFEST
    given = {"format": FORMAT, "version": FORMAT_VERSION, **vars(manifest)}
    # As it will be read: with lists instead of tuples and strings as keys.
    content = from_json(file, to_json(file, given))
    text = to_json(file, {**content, "checksum": _checksum(file, content)}, indent=2)
    with file.open("wb") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the checkpoint in `folder`, in the present format.

    Raises:
        CheckpointError: it is missing, damaged, or of a newer format.
    """
    file = folder / MANIFEST
    content = from_json(file, _text(file))
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise CheckpointError(f"{file} is not the manifest of an RLgraph checkpoint")
    _check_version(file, content)
    if content["version"] > 1 and content.pop("checksum", None) != _checksum(
        file, {"format": FORMAT, **content}
    ):
        raise CheckpointError(f"{file} is damaged: its content differs from its checksum")
    content = migrated(content, FORMAT_VERSION)
    del content["version"]
    _check_content(file, content)
    return Manifest(**content)


def _text(file: Path) -> bytes:
    with open_regular(file, missing=f"{file.parent} is not a checkpoint: it has no {MANIFEST}") as handle:
        size = os.fstat(handle.fileno()).st_size
        check_size(file, size)
        try:
            return handle.read(size)
        except OSError as error:
            raise CheckpointError(f"{file} cannot be read: {error}") from error


def _checksum(file: Path, content: Any) -> str:
    """The checksum of the content, independent of white space."""
    return hashlib.sha256(to_json(file, content)).hexdigest()


def _check_version(file: Path, content: Mapping[str, Any]) -> None:
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise CheckpointError(f"{file} is damaged: its version is {reprlib.repr(version)}")
    if version > FORMAT_VERSION:
        writer = content.get("rlgraph_core")
        known = isinstance(writer, str) and re.fullmatch(r"\d+(\.\d+){1,3}", writer)
        what = f"'rlgraph-core>={writer}'" if known else "--upgrade rlgraph-core"
        raise CheckpointError(
            f"{file.parent} has checkpoint format {reprlib.repr(version)}, this rlgraph-core reads up to "
            f"{FORMAT_VERSION}: pip install {what}"
        )


def _check_content(file: Path, content: Mapping[str, Any]) -> None:
    for key in sorted(content.keys() | _TYPES.keys()):
        if key not in _TYPES:
            raise CheckpointError(f"{file} is damaged: it has the unknown key {reprlib.repr(key)}")
        if key not in content or type(content[key]) not in _TYPES[key]:
            given = reprlib.repr(content[key]) if key in content else "missing"
            raise CheckpointError(
                f"{file} is damaged: {key!r} is {given}, expected a {_TYPES[key][0].__name__}"
            )
    for scope, state in content["streams"].items():
        if not isinstance(state, dict):
            raise CheckpointError(f"{file} is damaged: the stream {reprlib.repr(scope)} is not a mapping")
    for name, digest in content["files"].items():
        if not _FILE_NAME.fullmatch(name):
            raise CheckpointError(f"{file} names {reprlib.repr(name)}, which is not a file of a checkpoint")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise CheckpointError(f"{file} is damaged: the checksum of {name} is {reprlib.repr(digest)}")
