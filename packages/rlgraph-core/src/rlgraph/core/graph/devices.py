"""Devices: where the variables and graph functions of every component are placed.

Before::

    root                    device="cuda:0"
        policy
            network         device={"variables": "cpu"}
        target-policy                                   # device_map={"target-policy": "cuda:1"}

After::

    root                    ops on cuda:0, variables on cuda:0
    policy                  ops on cuda:0, variables on cuda:0
    policy/network          ops on cuda:0, variables on cpu
    target-policy           ops on cuda:1, variables on cuda:1

The entry of the device map for a component, or for the nearest one around it, overrides the components' own devices;
the default applies to all others. A device is a name in the backend's words, which `place` looks up.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rlgraph.core.errors import BuildError, BuildWarning, RLGraphError, SpecError, nearest
from rlgraph.core.graph.component_graph import ComponentGraph

#: One device for everything, or ``{"variables": name, "ops": name}``, of which one may be left out.
Device = str | Mapping[str, str]


@dataclass(frozen=True)
class Devices:
    """Where a component is placed; empty for the backend's own choice.

    Attributes:
        variables: where its variables are.
        ops: where its graph functions run.
    """

    variables: str = ""
    ops: str = ""


def device_parts(device: Any, where: str, error: type[RLGraphError] = SpecError) -> dict[str, str]:
    """A `Device` by what is placed; nothing for None.

    Args:
        device: what was given.
        where: what it was given to, for the message.
        error: what is raised if it is no device.
    """
    parts = {"variables": device, "ops": device} if isinstance(device, str) else device
    parts = {} if parts is None else parts
    fits = isinstance(parts, Mapping) and all(
        key in ("variables", "ops") and isinstance(name, str) and name for key, name in parts.items()
    )
    if not fits:
        raise error(f"{where} is a name or {{'variables': name, 'ops': name}}, given {device!r}")
    return dict(parts)


def resolve_devices(
    graph: ComponentGraph, default: Device | None = None, device_map: Mapping[str, Device] | None = None
) -> dict[str, Devices]:
    """The devices of every component, by scope.

    Args:
        graph: the components.
        default: device of everything else; None: the backend's own choice.
        device_map: scope -> device, for the component there and all inside it; the longest scope wins.

    Raises:
        BuildError: the map names a scope where no component is.
        SpecError: something in it is no device.
    """
    mapped = {
        scope: device_parts(device, f"device_map[{scope!r}]") for scope, device in (device_map or {}).items()
    }
    for scope in mapped:
        if scope not in graph.components:
            raise BuildError(
                f"device_map: {graph.root} has no component {scope!r}. {nearest(scope, graph.components)}"
            )
    start = device_parts(default, "device")
    found = {}
    for scope in graph.components:
        around = [graph.root, *_prefixes(scope)] if scope != graph.root else [scope]
        own = (device_parts(graph.components[each].device, f"{each}: device=") for each in around)
        ordered = [start, *own, *(mapped.get(each, {}) for each in around)]
        found[scope] = Devices(**{key: name for parts in ordered for key, name in parts.items()})
    return found


def _prefixes(scope: str) -> list[str]:
    """``a/b/c`` gives ``a``, ``a/b`` and itself."""
    parts = scope.split("/")
    return ["/".join(parts[: length + 1]) for length in range(len(parts))]


class Places(Protocol):
    """What of a backend says where things can be placed (see `rlgraph.core.backend.Backend`)."""

    name: str
    devices: frozenset[str]
    default_device: str

    def device_name(self, name: str) -> str: ...


def place(devices: Mapping[str, Devices], backend: Places, soft: bool = False) -> dict[str, Devices]:
    """The devices of every component in the backend's own names.

    If any component has a device, components without one are placed on the backend's default device, if it has one.

    Args:
        devices: scope -> devices, parents before children.
        backend: owner of the devices.
        soft: a device that is not there becomes the backend's own choice, with a warning.

    Raises:
        BuildError: the backend lacks a device; names the outermost component that is to be there.
    """
    missing: set[str] = set()

    def placed(scope: str, what: str, name: str) -> str:
        found = backend.device_name(name) if name else ""
        if not name or found in backend.devices:
            return found
        if not soft:
            raise BuildError(
                f"{scope}: its {what} are to be on device {name!r}, which the {backend.name} backend does not have "
                f"here. {nearest(name, backend.devices)}"
            )
        if name not in missing:
            missing.add(name)
            warnings.warn(
                f"{scope}: its {what} were to be on device {name!r}, which the {backend.name} backend does not have "
                "here: the backend places them and everything else on this device itself",
                BuildWarning,
                stacklevel=2,
            )
        return ""

    found = {
        scope: Devices(placed(scope, "variables", each.variables), placed(scope, "ops", each.ops))
        for scope, each in devices.items()
    }
    if not any(each.variables or each.ops for each in found.values()):
        return found
    default = backend.default_device
    return {scope: Devices(each.variables or default, each.ops or default) for scope, each in found.items()}
