"""Presets: run documents with tuned settings, found by agent and environment.

A package ships the presets of its agents in a folder ``presets`` of the Python package that holds the module of the
entry point: for ``my_plug_in.agent:MyAgent`` the files ``my_plug_in/presets/my_agent/*.yaml``, where ``my_agent`` is
the registered name. RLgraph's own are found by the same rule.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.core.registry import canonical
from rlgraph.core.specs.documents import SUFFIXES, read_spec_file
from rlgraph.environments.factory import environment_settings

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Preset:
    """Tuned settings of an agent in an environment.

    Attributes:
        name: ``ppo/CartPole-v1``, the agent and the name of the file.
        document: a run's document.
    """

    name: str
    document: Mapping[str, Any]

    @property
    def agent(self) -> dict[str, Any]:
        """The agent's spec; the caller's own copy."""
        spec: dict[str, Any] = deepcopy(self.document["agent"])
        return spec

    @property
    def worker_options(self) -> dict[str, Any]:
        """Arguments of `rlgraph.workers.SingleThreadedWorker`, from the section ``worker``."""
        section = self.document.get("worker") or {}
        return {key: value for key, value in section.items() if key != "type"}

    def complete(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A run's document with the preset's agent, and its values for the keys that `document` leaves out."""
        completed = deepcopy(dict(self.document))
        for key, value in document.items():
            ours = completed.get(key)
            if key != "environment" and isinstance(value, Mapping) and isinstance(ours, Mapping):
                value = {**ours, **value}
            completed[key] = value
        return {**completed, "agent": self.agent}


def find_preset(agent: str, environment: Any) -> Preset | None:
    """The preset of an agent for an environment; None if there is none.

    A preset whose document names its environment by a mapping is for that mapping alone, one that names it by an id or
    a registered name is for all its settings. The first kind comes first.

    Args:
        agent: a registered name.
        environment: an environment's spec; there is no preset for objects, classes and functions.

    Raises:
        SpecError: a preset of the agent cannot be read, or lacks its agent or environment.
    """
    wanted, named = environment_settings(environment), None
    if wanted is None:
        return None
    for preset in presets_of(agent):
        own = preset.document["environment"]
        settings = environment_settings(own) or {}
        if not isinstance(own, str) and settings == wanted:
            return preset
        if isinstance(own, str) and settings.items() <= wanted.items():
            named = preset
    return named


def use_preset(agent: str, environment: Any) -> Preset | None:
    """`find_preset`; logs ``preset ppo/CartPole-v1`` if it finds one."""
    preset = find_preset(agent, environment)
    if preset is not None:
        _log.info("preset %s", preset.name)
    return preset


def preset(name: str) -> Preset:
    """The preset of a name, such as ``ppo/CartPole-v1``.

    Raises:
        SpecError: there is none; or it cannot be read.
    """
    for known in presets_of(name.partition("/")[0]):
        if known.name == name:
            return known
    names = [known.name for agent in registry("rlgraph.agents").names() for known in presets_of(agent)]
    raise SpecError(f"there is no preset {name!r}. {nearest(name, names)}", path="preset")


def refuse_preset(name: Any, path: str) -> None:
    """Say what to give instead if the name of an agent is one of a preset, ``ppo/CartPole-v1``.

    Raises:
        SpecError: it is, or there is no such preset of this agent.
    """
    agent, _, rest = name.partition("/") if isinstance(name, str) else ("", "", "")
    if rest and agent in registry("rlgraph.agents"):
        environment = preset(name).document["environment"]
        raise SpecError(
            f"{name!r} is a preset, which is found by agent and environment: give the agent {agent!r} and the "
            f"environment {environment!r}",
            path=path,
        )


def presets_of(agent: str) -> Iterator[Preset]:
    """The presets of a registered agent."""
    name = canonical(agent)
    for plugin in registry("rlgraph.agents").plugins():
        if canonical(plugin.name) == name:
            yield from _read(plugin.target.partition(":")[0], name)


@cache
def _read(module: str, agent: str) -> tuple[Preset, ...]:
    """The presets of an agent that are shipped with a module."""
    try:
        folder = _folder(module) / agent
    except (
        Exception
    ):  # a program without a file, or a broken package, which is reported when the agent is made
        return ()
    files = (file for file in folder.glob("*") if file.suffix in SUFFIXES)
    return tuple(_preset(agent, file) for file in sorted(files))


def _folder(module: str) -> Path:
    """The folder with the presets of agents in a module; it need not exist."""
    package = find_spec(module.rpartition(".")[0] or module)
    assert package is not None
    places = package.submodule_search_locations or [str(Path(package.origin or ".").parent)]
    return Path(next(iter(places))) / "presets"


def _preset(agent: str, file: Path) -> Preset:
    document = read_spec_file(file, "preset")
    if not isinstance(document, dict) or not {"agent", "environment"} <= document.keys():
        raise SpecError(f"{file}: expected a run's document with 'agent' and 'environment'", path="preset")
    return Preset(f"{agent}/{file.stem}", document)
