"""Writing a checkpoint: aside first, then in the place of the old one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from rlgraph.core.checkpoint.files import make_folder, sync_folder
from rlgraph.core.checkpoint.finding import aside_names, remove_leftovers
from rlgraph.core.checkpoint.manifest import MANIFEST, Manifest, write_manifest
from rlgraph.core.checkpoint.tensor_file import write_tensors
from rlgraph.core.errors import CheckpointError
from rlgraph.core.ops.contract import CONTRACT_VERSION


def write_checkpoint(
    directory: str | Path, arrays: Mapping[str, Mapping[str, np.ndarray]], manifest: Manifest
) -> Path:
    """Write a checkpoint directory, replacing the one that is there only when the new one is complete.

    Args:
        directory: where it shall be. Of a link, what it points to is replaced.
        arrays: file stem -> name -> array; one safetensors file each.
        manifest: what else is to be kept; its files and versions are filled in.

    Raises:
        CheckpointError: it cannot be written, or what is there is no checkpoint; what was there is untouched.
    """
    target = Path(os.path.realpath(directory))
    try:
        _check_place(target)
        _write(target, arrays, manifest)
    except OSError as error:
        raise CheckpointError(
            f"checkpoint {target} could not be written: {error}{_space_needed(error, arrays)}. "
            "What was there is as it was"
        ) from error
    remove_leftovers(target)
    return target


def _write(target: Path, arrays: Mapping[str, Mapping[str, np.ndarray]], manifest: Manifest) -> None:
    aside, old = aside_names(target)
    try:
        make_folder(target.parent)
        aside.mkdir()
        names = {f"{stem}.safetensors": named for stem, named in arrays.items()}
        files = {name: write_tensors(aside / name, named) for name, named in names.items()}
        writer = _installed_version()
        write_manifest(aside, replace(manifest, files=files, rlgraph_core=writer, contract=CONTRACT_VERSION))
        sync_folder(aside)
        _swap(aside, target, old)
    finally:
        # Also after Ctrl-C; after success there is nothing left of it.
        shutil.rmtree(aside, ignore_errors=True)


def _installed_version() -> str | None:
    try:
        return version("rlgraph-core")
    except PackageNotFoundError:  # run from sources that are not installed
        return None


def _check_place(target: Path) -> None:
    """A checkpoint is replaced as a whole: nothing else may be lost that way."""
    is_folder = target.is_dir()
    if (is_folder and any(target.iterdir()) and not (target / MANIFEST).exists()) or (
        target.exists() and not is_folder
    ):
        raise CheckpointError(
            f"{target} is there and is no checkpoint: it would be replaced. Give a directory of its own"
        )


def _swap(aside: Path, target: Path, old: Path) -> None:
    """Put `aside` in the place of `target`; a directory cannot be renamed over another, so the old one steps back."""
    try:
        if target.exists():
            target.rename(old)
        aside.rename(target)
        sync_folder(target.parent)
    except BaseException:
        if not aside.exists():
            target.rename(aside)
        if old.exists():
            old.rename(target)
        raise


def _space_needed(error: OSError, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> str:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return ""
    size = sum(array.nbytes for named in arrays.values() for array in named.values())
    return f" (it takes {size / 1e6:,.1f} MB beside the old one)"
