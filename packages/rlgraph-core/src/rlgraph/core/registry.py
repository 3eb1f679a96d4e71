"""One registry for everything that plugs in: backends, components, agents, environments, executors.

A plug-in is an entry point of an installed distribution. Listing reads names only; nothing is imported before it is
asked for, and a broken plug-in affects nobody else.
"""

from __future__ import annotations

import importlib
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from rlgraph.core.errors import PluginError, SpecError, nearest

GROUPS = {
    "rlgraph.backends": "backend",
    "rlgraph.components": "component",
    "rlgraph.agents": "agent",
    "rlgraph.environments": "environment",
    "rlgraph.executors": "executor",
}

#: What a name belongs to when it is not installed: group -> name -> distribution.
KNOWN_DISTRIBUTIONS = {
    "rlgraph.backends": {
        "torch": "rlgraph-torch",
        "pytorch": "rlgraph-torch",
        "tf": "rlgraph-tf",
        "tensorflow": "rlgraph-tf",
    },
    "rlgraph.agents": {"dqn": "rlgraph-agents"},
    "rlgraph.environments": {"openai_gym": "rlgraph-agents", "grid_world": "rlgraph-agents"},
}

#: What others have a name for, and is written differently here: group -> name -> spec.
OTHER_NAMES = {
    "rlgraph.components": {
        "linear": '"dense"',
        "flatten": '{"type": "reshape", "flatten": true}',
        "gae": '"generalized_advantage_estimation"',
        "epsilonexploration": '"epsilon_greedy"',
        "memprioritizedreplay": '"prioritized_replay"',
        **{
            name: f'{{"type": "activation", "activation": "{name}"}}'
            for name in ("relu", "tanh", "sigmoid", "elu", "gelu", "silu")
        },
    },
}

#: What classes of others are called behind what a name is here: group -> endings.
OTHER_ENDINGS = {"rlgraph.components": ("layer", "optimizer")}


@dataclass(frozen=True)
class Plugin:
    """One registered name.

    Attributes:
        name: as registered.
        target: ``module:attribute`` that loading imports.
        distribution: the installed distribution that brings it (empty if registered by `Registry.register`).
        version: that distribution's version.
    """

    name: str
    target: str
    distribution: str = ""
    version: str = ""

    @property
    def origin(self) -> str:
        return f"{self.distribution} {self.version}".strip() or "this program"


def canonical(name: str) -> str:
    """How a name is listed: in lower case, with underscores for hyphens and blanks."""
    return name.lower().replace("-", "_").replace(" ", "_")


def _key(name: str) -> str:
    """What a name is found by: names differ by more than case, hyphens, underscores and blanks."""
    return canonical(name).replace("_", "")


class Registry:
    """The plug-ins of one entry-point group."""

    def __init__(self, group: str):
        self.group = group
        self.kind = GROUPS.get(group, group)
        self._plugins: dict[str, list[Plugin]] = defaultdict(list)
        self._objects: dict[str, Any] = {}
        with suppress(PackageNotFoundError):
            raise PluginError(
                f"the old single distribution rlgraph {version('rlgraph')} is installed; it shadows the packages "
                "rlgraph-spaces, rlgraph-core and so on: pip uninstall rlgraph, then reinstall these"
            )
        # What stands behind another distribution of its name on the path is left out, as Python itself does not see it.
        for entry in entry_points(group=group):
            assert entry.dist is not None
            self._add(Plugin(entry.name, entry.value, entry.dist.name, entry.dist.version))

    def _add(self, plugin: Plugin) -> None:
        found = self._plugins[_key(plugin.name)]
        if plugin not in found:
            found.append(plugin)

    def register(self, name: str, target: str | Any) -> None:
        """Register a name for this process: an object, or ``"module:attribute"``."""
        key = _key(name)
        if isinstance(target, str):
            self._plugins[key] = [Plugin(name, target)]
            self._objects.pop(key, None)
        else:
            kind = getattr(target, "__qualname__", type(target).__qualname__)
            self._plugins[key] = [Plugin(name, f"{target.__module__}:{kind}")]
            self._objects[key] = target

    def names(self) -> list[str]:
        """All registered names, sorted. Imports nothing."""
        return sorted(canonical(found[0].name) for found in self._plugins.values())

    def plugins(self) -> list[Plugin]:
        """All registered plug-ins, sorted by name. Imports nothing."""
        return [plugin for name in self.names() for plugin in self._plugins[_key(name)]]

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._plugins

    def load(self, name: str, *, where: str = "") -> Any:
        """The object registered as `name`.

        Raises:
            SpecError: no such name; says the nearest one, or the distribution to install.
            PluginError: registered by two distributions, or its import fails.
        """
        key = _key(name)
        prefix = f"{where}: " if where else ""
        if key not in self._plugins:
            raise SpecError(prefix + self._unknown(name))
        if key in self._objects:
            return self._objects[key]
        found = self._plugins[key]
        if len(found) > 1:
            owners = " and ".join(plugin.origin for plugin in found)
            raise PluginError(
                f"{prefix}{self.kind} {name!r} is registered by {owners}: uninstall one of them"
            )
        (plugin,) = found
        try:
            target = _imported(plugin.target)
        except Exception as error:
            raise PluginError(
                f"{prefix}{self.kind} {name!r} of {plugin.origin} cannot be loaded from {plugin.target}: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._objects[key] = target
        return target

    def _unknown(self, name: str) -> str:
        known = {
            _key(name): distribution for name, distribution in KNOWN_DISTRIBUTIONS.get(self.group, {}).items()
        }
        distribution = known.get(_key(name))
        if distribution:
            return f"{self.kind} {name!r} is not installed: pip install {distribution}"
        other = OTHER_NAMES.get(self.group, {}).get(_key(name))
        for ending in OTHER_ENDINGS.get(self.group, ()):
            shorter = self._plugins.get(_key(name).removesuffix(ending))
            if shorter:
                other = f'"{canonical(shorter[0].name)}"'
        hint = f"It is {other} here." if other else nearest(canonical(name), self.names())
        return f"unknown {self.kind} {name!r}. {hint}"


def _imported(place: str) -> Any:
    """What stands at ``module:attribute``."""
    module, _, attribute = place.partition(":")
    target: Any = importlib.import_module(module)
    for part in attribute.split("."):
        target = getattr(target, part)
    return target


def import_object(place: str, *, where: str) -> Any:
    """The object at ``package.module.attribute`` or ``package.module:attribute``.

    Args:
        place: where to import it from.
        where: where `place` is written; named in errors.

    Raises:
        SpecError: there is no such module or attribute, or the import fails.
    """
    module, _, attribute = place.partition(":") if ":" in place else place.rpartition(".")
    try:
        return _imported(f"{module}:{attribute}")
    except ModuleNotFoundError as error:
        raise SpecError(f"{where}: {place!r} is no registered name, and nothing to import: {error}") from None
    except AttributeError:
        public = [name for name in vars(sys.modules[module]) if not name.startswith("_")]
        raise SpecError(
            f"{where}: module {module!r} has no {attribute!r}. {nearest(attribute, public)}"
        ) from None
    except Exception as error:
        raise SpecError(f"{where}: {place!r} cannot be imported: {type(error).__name__}: {error}") from error


@cache
def registry(group: str) -> Registry:
    """The registry of an entry-point group, read once per process."""
    return Registry(group)
