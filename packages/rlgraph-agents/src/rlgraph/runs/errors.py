"""Errors of run folders."""

from __future__ import annotations

from rlgraph.core import RLGraphError, SpecError


class RunFolderError(SpecError):
    """A file of a run folder is missing, damaged or of another run, or another process uses the folder."""


class RunFolderWarning(UserWarning):
    """A file that only shows or completes a run cannot be written."""


class StorageError(RLGraphError):
    """A file of a run folder cannot be written: the disk is full, or something else has its name."""
