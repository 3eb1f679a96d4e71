"""Older formats of the manifest, brought up to the present one step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Format 1 did not say by what a checkpoint was written, and had no checksum of the manifest itself."""
    unknown = dict.fromkeys(("backend", "contract", "dtype", "rlgraph_core", "seed"))
    return {**unknown, "choices": {}, **manifest}


#: Format version -> function that gives the manifest as the next version has it.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}


def migrated(manifest: dict[str, Any], to: int) -> dict[str, Any]:
    """`manifest` in format `to`, from whatever older format it says it has."""
    while manifest["version"] < to:
        version = manifest["version"]
        manifest = {**MIGRATIONS[version](manifest), "version": version + 1}
    return manifest
