"""Tuned agent specs for known environments, as JSON files."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from rlgraph.core import SpecError


def preset(agent: str, environment: str) -> dict[str, Any] | None:
    """The tuned spec of an agent for an environment, None if there is none."""
    name = f"{agent}_{environment}".lower().replace("-", "_") + ".json"
    file = next((file for file in files(__package__).iterdir() if file.name == name), None)
    if file is None:
        return None
    spec = json.loads(file.read_text())
    if not isinstance(spec, dict):
        raise SpecError(f"preset {name} is no mapping")
    return spec
