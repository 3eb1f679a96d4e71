"""Converts older formats of the manifest to the present one, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Format 1 recorded no origin of a checkpoint, and no checksum of the manifest."""
    unknown = dict.fromkeys(("backend", "contract", "dtype", "rlgraph_core", "seed"))
    return {**unknown, "choices": {}, **manifest}


#: Format version -> function that converts a manifest to the next version.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}


def migrated(manifest: dict[str, Any], to: int) -> dict[str, Any]:
    """Convert `manifest` from its own format to the format `to`."""
    while manifest["version"] < to:
        version = manifest["version"]
        manifest = {**MIGRATIONS[version](manifest), "version": version + 1}
    return manifest
