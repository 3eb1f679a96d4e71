"""Files and folders in the specs of environments: specs in data get only those that the user allows.

An environment or a wrapper that has a path may read or write there. This is the one rule for all kinds of specs.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from rlgraph.core.errors import Fault, SpecError
from rlgraph.core.registry import registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.policy import spec_policy
from rlgraph.core.specs.spec_paths import join_parts

#: Names of arguments whose texts are paths.
_NAMES = re.compile(
    r"(.*_)?(file|files|filename|filenames|path|paths|folder|folders|dir|dirs|directory|root)", re.I
)
#: Arguments whose texts are names, which may have one separator, as ``ALE/Pong-v5`` has.
_IDS = ("type", "gym_env", "env_id", "task_id", "id")
_ID = re.compile(r"([\w.:-]+/)?[\w.:-]+")
#: An id with a version, wherever it is.
_VERSIONED = re.compile(r"[\w:-]+/[\w.-]+-v\d+")


def check_paths(spec: Any, where: str) -> None:
    """Check the arguments of an environment and its wrappers that is to be made from data.

    Raises:
        SpecError: one is a path that the user has not allowed (`rlgraph.core.allow_paths`).
    """
    policy = spec_policy()
    if policy.is_data and (
        faults := [
            Fault(_refused(text), place) for place, text in paths_of(spec, where) if text not in policy.paths
        ]
    ):
        raise SpecError(*faults)


def paths_of(spec: Any, where: str = "environment") -> Iterator[tuple[str, str]]:
    """The arguments in a spec that are paths, and their places. Defaults of registered environments are none."""
    if not isinstance(spec, Mapping):
        return
    kind, known = spec.get("type"), registry("rlgraph.environments")
    defaults = parameters_of(known.load(kind)).named if isinstance(kind, str) and kind in known else {}
    for name, value in spec.items():
        if name not in defaults or value != defaults[name].default:
            yield from _paths_in(value, str(name), join_parts(where, str(name)))


def _paths_in(value: Any, name: str, where: str) -> Iterator[tuple[str, str]]:
    """The paths in the value of an argument."""
    if isinstance(value, str):
        if _NAMES.fullmatch(name) or _is_path(value, name):
            yield where, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _paths_in(
                inner, name if _NAMES.fullmatch(name) else str(key), join_parts(where, str(key))
            )
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from _paths_in(inner, name, f"{where}[{at}]")


def _is_path(text: str, name: str) -> bool:
    """Whether a text looks like a path, or is that of a file."""
    if ".." in re.split(r"[/\\\\]", text) or text.startswith("~"):
        return True
    if (_ID if name in _IDS else _VERSIONED).fullmatch(text):
        return False
    return "/" in text or "\\" in text or os.path.isfile(text)


def _refused(text: str) -> str:
    return (
        f"expected no path that you have not allowed, given {text!r}. An environment or wrapper may read or write "
        f"there. If you trust it, add --allow-path {shlex.quote(text)} (in Python: rlgraph.core.allow_paths({text!r}))"
    )
