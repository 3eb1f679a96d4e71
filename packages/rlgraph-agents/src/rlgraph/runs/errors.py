"""Errors of run folders."""

from __future__ import annotations

from rlgraph.core import RLGraphError, SpecError


class RunFolderError(SpecError):
    """A file of a run folder is missing, damaged or from another run, or another process uses the folder."""


class RunFolderWarning(UserWarning):
    """A file that a run does not need, such as a drawing, cannot be written."""


class StorageError(RLGraphError):
    """A file of a run folder cannot be written: the disk is full, or its name is taken."""
