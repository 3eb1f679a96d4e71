"""Checkpoints: a directory of safetensors and one JSON manifest. Nothing executable is ever loaded.

A checkpoint is written to a temporary directory, synced to disk and renamed, so a failed save leaves the old one
unchanged. `load` reads the manifest, the headers of the files, their checksums, and only then values.
"""

from rlgraph.core.checkpoint.finding import find_checkpoint, last_valid_checkpoint
from rlgraph.core.checkpoint.manifest import FORMAT_VERSION, MANIFEST, Manifest, read_manifest
from rlgraph.core.checkpoint.reading import BESIDE, Checkpoint, read_beside
from rlgraph.core.checkpoint.writing import write_checkpoint

__all__ = [
    "BESIDE",
    "FORMAT_VERSION",
    "MANIFEST",
    "Checkpoint",
    "Manifest",
    "find_checkpoint",
    "last_valid_checkpoint",
    "read_beside",
    "read_manifest",
    "write_checkpoint",
]
