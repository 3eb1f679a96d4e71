"""The registry of plug-ins: backends, components, agents, environments and their adapters, executors, engines,
collectives, launchers of learners, conformance suites.

A plug-in is an entry point of an installed distribution. Listing reads names only. A plug-in is imported when it is
first used, and a broken one does not affect others. An entry point that needs an extra of its distribution names it in
brackets, ``"package.module:Class [extra]"``.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    EntryPoints,
    PackageNotFoundError,
    distributions,
    entry_points,
    version,
)
from typing import Any

from rlgraph.core.errors import PluginError, SpecError, nearest, type_and_text
from rlgraph.core.specs.imports import import_class, imported, is_import_path

GROUPS = {
    "rlgraph.backends": "backend",
    "rlgraph.agents": "agent",
    "rlgraph.engines": "engine",
    "rlgraph.executors": "executor",
    "rlgraph.environments": "environment",
    "rlgraph.environment_adapters": "environment adapter",
    "rlgraph.environment_components": "environment component",
    "rlgraph.components": "component",
    "rlgraph.collectives": "collective",
    "rlgraph.launchers": "launcher",
    "rlgraph.conformance": "conformance suite",
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
    "rlgraph.conformance": {"agent": "rlgraph-agents"},
    "rlgraph.environments": {"openai_gym": "rlgraph-agents", "grid_world": "rlgraph-agents"},
    "rlgraph.executors": dict.fromkeys(("apex", "impala", "sync_batch"), "rlgraph-dist"),
    "rlgraph.engines": {
        "distributed_tf": "rlgraph-dist[tf]",
        "in_process": "rlgraph-dist",
        "ray": "rlgraph-dist[ray]",
    },
    "rlgraph.collectives": {
        **dict.fromkeys(("gloo", "nccl", "torch_distributed"), "rlgraph-torch"),
        "horovod": "rlgraph-dist",
        "tensorflow": "rlgraph-tf",
    },
    "rlgraph.launchers": {"processes": "rlgraph-dist", "ray": "rlgraph-dist[ray]"},
}

#: What others have a name for, and is written differently here: group -> name -> spec, or a sentence.
OTHER_NAMES = {
    "rlgraph.agents": {"actorcritic": '"a2c"', "singleimpala": '"impala"'},
    "rlgraph.components": {
        "linear": '"dense"',
        "flatten": '{"type": "reshape", "flatten": true}',
        "gae": '"generalized_advantage_estimation"',
        "epsilonexploration": '"epsilon_greedy"',
        **{
            name: f'{{"type": "activation", "activation": "{name}"}}'
            for name in ("relu", "tanh", "sigmoid", "elu", "gelu", "silu")
        },
    },
}

#: Group -> suffixes of class names in other libraries, which are omitted here.
OTHER_ENDINGS = {"rlgraph.components": ("layer", "optimizer")}


#: What ``pip install`` cannot build: distribution -> the command that does.
BUILT = {"horovod": "python -m rlgraph.execution.horovod.build"}


def pip_install(distribution: str) -> str:
    """The command that installs a distribution; shells read brackets themselves."""
    return f"pip install '{distribution}'" if "[" in distribution else f"pip install {distribution}"


@dataclass(frozen=True)
class Plugin:
    """One registered name.

    Attributes:
        name: as registered.
        target: ``module:attribute`` that loading imports.
        owner: the installed distribution that brings it; None if registered by `Registry.register`.
        extras: those of `owner` that it needs.
    """

    name: str
    target: str
    owner: Distribution | None = None
    extras: tuple[str, ...] = ()

    @property
    def distribution(self) -> str:
        """The name of `owner`; empty if there is none."""
        return _name_and_version(self.owner)[0] if self.owner else ""

    @property
    def version(self) -> str:
        """The version of `owner`; empty if there is none."""
        return _name_and_version(self.owner)[1] if self.owner else ""

    @property
    def origin(self) -> str:
        return f"{self.distribution} {self.version}".strip() or "this program"

    @property
    def missing(self) -> tuple[str, ...]:
        """The distributions of its extras that are not installed."""
        return tuple(sorted({name for name in self._required() if version_of(name) is None}))

    @property
    def install(self) -> str:
        """The command that installs what is missing; empty if nothing is."""
        missing = self.missing
        if not missing:
            return ""
        built = [BUILT[name] for name in missing if name in BUILT]
        return " && ".join(built) or pip_install(f"{self.distribution}[{','.join(self.extras)}]")

    def require(self, kind: str, where: str = "") -> None:
        """Find out whether all that its extras require is installed.

        Raises:
            PluginError: something is not; says what to run.
        """
        if self.missing:
            raise PluginError(
                f"{where}: {kind} {self.name!r} needs {', '.join(self.missing)}, which is not installed: "
                f"{self.install}"
            )

    def _required(self) -> Iterator[str]:
        """The distributions that the extras require."""
        for requirement in (self.owner.requires if self.owner and self.extras else None) or ():
            name, _, marker = requirement.partition(";")
            if set(re.findall(r"extra\s*==\s*['\"]([^'\"]+)", marker)) & set(self.extras):
                yield re.split(r"[^\w.-]", name.strip(), maxsplit=1)[0]


@cache
def _name_and_version(owner: Distribution) -> tuple[str, str]:
    # Read where they are wanted: parsing the metadata of all owners took longer than a build.
    metadata = owner.metadata
    return metadata["Name"], metadata["Version"]


def version_of(name: str) -> str | None:
    """The version of a distribution; None: it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _name_of(owner: Distribution) -> str:
    """The name of a distribution; empty for what is left of a broken installation."""
    try:
        return owner.name or ""
    except Exception:
        return ""


def rlgraph_versions() -> dict[str, str]:
    """Versions of RLgraph's distributions, those that are imported."""
    names = set(map(_name_of, distributions()))
    return {name: version(name) for name in sorted(names) if name.startswith("rlgraph-")}


def canonical(name: str) -> str:
    """How a name is listed: in lower case, with underscores for hyphens and blanks."""
    return name.lower().replace("-", "_").replace(" ", "_")


def _key(name: str) -> str:
    """What a name is found by: names differ by more than case, hyphens, underscores and blanks."""
    return canonical(name).replace("_", "")


class Registry:
    """The plug-ins of one entry-point group.

    Args:
        group: one of `GROUPS`.
        find: returns the installed entry points of ``group=``.
    """

    def __init__(self, group: str, find: Callable[..., EntryPoints] = entry_points):
        self.group = group
        self.kind = GROUPS.get(group, group)
        self._plugins: dict[str, list[Plugin]] = defaultdict(list)
        self._objects: dict[str, Any] = {}
        if (old := version_of("rlgraph")) is not None:
            raise PluginError(
                f"the old single distribution rlgraph {old} is installed; it shadows the packages "
                "rlgraph-spaces, rlgraph-core and so on: pip uninstall rlgraph, then reinstall these"
            )
        # A distribution that another one of the same name hides on the path is left out, as Python does not see it.
        for entry in find(group=group):
            target, _, extras = entry.value.partition("[")
            self._add(Plugin(entry.name, target.strip(), entry.dist, tuple(re.findall(r"[\w.-]+", extras))))

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

    def not_installed(self) -> dict[str, str]:
        """Known names that are not registered, each with the distribution that brings it, and its extra."""
        known = KNOWN_DISTRIBUTIONS.get(self.group, {})
        return {name: known[name] for name in sorted(known) if name not in self}

    def plugin(self, name: str) -> Plugin:
        """The plug-in registered as `name`, the first if there are several; imports nothing."""
        return self._plugins[_key(name)][0]

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._plugins

    def load(self, name: str, *, where: str = "") -> Any:
        """The object registered as `name`.

        Raises:
            SpecError: no such name; says the nearest one, or the distribution to install.
            PluginError: registered by two distributions, or its import fails.
        """
        key = _key(name)
        if key not in self._plugins:
            raise SpecError(self._unknown(name), path=where)
        if key in self._objects:
            return self._objects[key]
        found = self._plugins[key]
        prefix = f"{where}: " if where else ""
        if len(found) > 1:
            owners = " and ".join(plugin.origin for plugin in found)
            raise PluginError(
                f"{prefix}{self.kind} {name!r} is registered by {owners}: uninstall one of them"
            )
        (plugin,) = found
        try:
            target = imported(plugin.target)
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"{prefix}{self.kind} {name!r} of {plugin.origin} cannot be loaded from {plugin.target}: "
                f"{type_and_text(error)}"
            ) from error
        self._objects[key] = target
        return target

    def resolve(self, name: str, accepts: Callable[[type], bool], expected: str, *, where: str) -> Any:
        """What a spec means by `name`: what is registered as it, or a class to import.

        Args:
            name: a registered name, ``"package.module:Class"`` or ``"package.module.Class"``.
            accepts, expected: the classes that may be imported, see `import_class`.
            where: where `name` is written; named in errors.

        Raises:
            SpecError: see `load` and `import_class`.
            PluginError: see `load`.
        """
        if name in self or not is_import_path(name):
            return self.load(name, where=where)
        return import_class(name, accepts, expected, where=where)

    def _unknown(self, name: str) -> str:
        known = {
            _key(name): distribution for name, distribution in KNOWN_DISTRIBUTIONS.get(self.group, {}).items()
        }
        distribution = known.get(_key(name))
        if distribution:
            return f"{self.kind} {name!r} is not installed: {pip_install(distribution)}"
        other = OTHER_NAMES.get(self.group, {}).get(_key(name))
        for ending in OTHER_ENDINGS.get(self.group, ()):
            shorter = self._plugins.get(_key(name).removesuffix(ending))
            if shorter:
                other = f'"{canonical(shorter[0].name)}"'
        hint = nearest(canonical(name), self.names())
        if other:
            hint = other if other.endswith(".") else f"It is {other} here."
        return f"unknown {self.kind} {name!r}. {hint}"


@cache
def registry(group: str) -> Registry:
    """The registry of an entry-point group, read once per process."""
    return Registry(group, _installed())


@cache
def _installed() -> Callable[..., EntryPoints]:
    # All groups at once: searching the installed distributions takes longer than all else here.
    try:
        return entry_points().select
    except Exception:  # whatever an unreadable file makes the parser raise
        return EntryPoints(_of_readable_distributions()).select


def _of_readable_distributions() -> Iterator[EntryPoint]:
    """The entry points of all distributions whose files can be read; a warning names the others."""
    seen = set[str]()
    for owner in distributions():
        try:
            name, found = canonical(owner.metadata["Name"] or ""), owner.entry_points
        except Exception as error:
            warnings.warn(
                f"{getattr(owner, '_path', owner)}: its metadata or entry points cannot be read "
                f"({type_and_text(error)}), so its plug-ins are left out: reinstall the "
                "distribution, or remove the folder",
                RuntimeWarning,
                stacklevel=2,
            )
            continue
        if name not in seen:  # else another one of this name hides it
            seen.add(name)
            yield from found
