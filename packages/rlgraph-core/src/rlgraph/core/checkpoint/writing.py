"""Writes a checkpoint to a temporary directory, then replaces the old one."""

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
    """Write a checkpoint directory, which replaces an existing one only when complete.

    Args:
        directory: the directory; for a link, its target is replaced.
        arrays: file stem -> name -> array; one safetensors file each.
        manifest: the manifest; its files and versions are filled in.

    Raises:
        CheckpointError: a write failed, or `directory` is not a checkpoint; an existing directory is unchanged.
    """
    target = Path(os.path.realpath(directory))
    try:
        _check_place(target)
        _write(target, arrays, manifest)
    except OSError as error:
        raise CheckpointError(
            f"checkpoint {target} could not be written: {error}{_space_needed(error, arrays)}. "
            "An earlier checkpoint is unchanged"
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
        # Also after Ctrl-C; after success it does not exist any more.
        shutil.rmtree(aside, ignore_errors=True)


def _installed_version() -> str | None:
    try:
        return version("rlgraph-core")
    except PackageNotFoundError:  # running from sources without an installation
        return None


def _check_place(target: Path) -> None:
    """Refuse to replace a directory that is not a checkpoint."""
    is_folder = target.is_dir()
    if (is_folder and any(target.iterdir()) and not (target / MANIFEST).exists()) or (
        target.exists() and not is_folder
    ):
        raise CheckpointError(f"{target} exists and is not a checkpoint: give another directory")


def _swap(aside: Path, target: Path, old: Path) -> None:
    """Replace `target` by `aside`; the old directory is renamed first, since renames cannot replace directories."""
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
    return f" (it needs {size / 1e6:,.1f} MB in addition to the old one)"
