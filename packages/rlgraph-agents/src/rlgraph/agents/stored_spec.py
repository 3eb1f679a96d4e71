"""The spec of an agent as its checkpoints keep it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlgraph.agents.specs import Spec
from rlgraph.core import registry
from rlgraph.core.specs.specifiable import place_of
from rlgraph.spaces import Space

#: The key of the spec in a checkpoint's facts.
AGENT = "agent"


def stored_spec(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The spec that makes an agent anew; None if an argument has no JSON form, such as a component.

    Backend, seed and choices are not in it: a checkpoint's manifest has them. An environment that is an object is left
    out.

    Args:
        kind: class of the agent.
        arguments: of its constructor, by name.
    """
    spec: dict[str, Any] = {"type": _name_of(kind)}
    for name, value in arguments.items():
        if isinstance(value, Space):
            value = value.without_ranks().to_spec()
        elif isinstance(value, Spec):
            value = value.model_dump()
        elif name == "execution_spec" and value is not None:
            value = {key: item for key, item in value.items() if key not in ("seed", "choices")} or None
        if name not in ("backend", "seed") and value is not None and (name != "env" or _is_json(value)):
            spec[name] = value
    return spec if _is_json(spec) else None


def _name_of(kind: type) -> str:
    """The registered name of a class, else its import path."""
    known = registry("rlgraph.agents")
    for plugin in known.plugins():
        if plugin.target.endswith(f":{kind.__qualname__}") and known.load(plugin.name) is kind:
            return plugin.name
    return place_of(kind)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
