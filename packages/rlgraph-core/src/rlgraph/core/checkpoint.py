"""Checkpoints: a directory of safetensors and one JSON manifest. Nothing executable is ever loaded.

A checkpoint is written aside, synced to disk and renamed, so a failed save leaves the old one as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from rlgraph.core.errors import CheckpointError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"


def write_checkpoint(
    directory: str | Path, arrays: Mapping[str, Mapping[str, np.ndarray]], facts: Mapping[str, Any]
) -> Path:
    """Write a checkpoint directory, replacing the one that is there only when the new one is complete.

    Args:
        directory: where it shall be.
        arrays: file stem -> name -> array; one safetensors file each.
        facts: JSON-able content of the manifest.

    Raises:
        CheckpointError: it cannot be written; what was there is untouched.
    """
    target = Path(directory).absolute()
    aside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        files = {}
        for stem, named in arrays.items():
            file = aside / f"{stem}.safetensors"
            save_file({name: np.array(array, order="C") for name, array in named.items()}, file)
            files[file.name] = _digest(file)
            _sync(file)
        manifest = aside / MANIFEST
        content = {"format": "rlgraph-checkpoint", "version": FORMAT_VERSION, "files": files, **facts}
        manifest.write_text(json.dumps(content, indent=2, sort_keys=True))
        _sync(manifest)
        _replace(aside, target)
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise CheckpointError(f"checkpoint {target} could not be written: {error}") from error
    finally:
        # Also after Ctrl-C; after success there is nothing left of it.
        shutil.rmtree(aside, ignore_errors=True)
    return target


def read_checkpoint(directory: str | Path) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, Any]]:
    """The arrays and the manifest of a checkpoint, verified by checksum before anything is handed out.

    Raises:
        CheckpointError: it is missing, incomplete, damaged or of a newer format.
    """
    source = Path(directory)
    try:
        manifest = json.loads((source / MANIFEST).read_text())
    except FileNotFoundError:
        raise CheckpointError(f"{source} is no checkpoint: it has no {MANIFEST}") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{source / MANIFEST} cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != "rlgraph-checkpoint":
        raise CheckpointError(f"{source / MANIFEST} is no manifest of an RLgraph checkpoint")
    if manifest.get("version") != FORMAT_VERSION:
        raise CheckpointError(
            f"{source} has checkpoint format {manifest.get('version')}, this rlgraph-core reads {FORMAT_VERSION}"
        )
    for key in ("files", "streams", "facts"):
        if not isinstance(manifest.get(key), dict):
            raise CheckpointError(f"{source / MANIFEST} is damaged: {key!r} is missing or no mapping")
    arrays = {}
    for name, digest in manifest["files"].items():
        file = source / name
        if Path(name).name != name or not file.is_file():
            raise CheckpointError(f"{source} is incomplete: {name} is missing")
        if _digest(file) != digest:
            raise CheckpointError(f"{file} is damaged: its checksum differs from the manifest's")
        try:
            arrays[file.stem] = load_file(file)
        except SafetensorError as error:
            raise CheckpointError(f"{file} is damaged: {error}") from error
    return arrays, manifest


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(aside: Path, target: Path) -> None:
    """Put `aside` in the place of `target`; a directory cannot be renamed over another, so the old one steps back."""
    _sync(aside)
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    try:
        aside.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    _sync(target.parent)
    shutil.rmtree(old, ignore_errors=True)
