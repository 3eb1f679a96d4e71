"""Other libraries of reinforcement learning, trained as our agents are in `micro/train`.

A module for each, which can be imported without its library:

REQUIREMENTS  what pip installs into its environment, ``.venvs/bench-NAME``, pinned exactly
PROBE         an import that works if the environment is complete
OPTIONS       agent -> the options of the library that say what `micro/settings.py` says
training      builds the subject for an agent; the docstring of the module has what differs
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from micro.settings import SEED, task_of
from processes import environment

NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))
TORCH = "torch==2.13.0"
#: What keeps a library to one thread, beside the variables that every benchmark has.
ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "RAYON_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def library(name: str) -> ModuleType:
    """The module of a library."""
    return importlib.import_module(f"peers.{name}")


def refusal(name: str, kind: str) -> str | None:
    """Why a library cannot be measured, if it cannot."""
    if name not in NAMES:
        return f"expected a library out of {', '.join(NAMES)}, given {name!r}"
    known = library(name).OPTIONS
    return None if kind in known else f"{name} is measured with {', '.join(known)}, not with {kind}"


def interpreter(name: str) -> Path:
    """The interpreter of a library's environment, which is made if it is missing."""
    found = library(name)
    return environment(f"bench-{name}", found.PROBE, found.REQUIREMENTS)


def recorded(kind: str) -> tuple[Any, Any]:
    """Gymnasium's environment of an agent, or a vector of them, and the returns of its last 100 episodes."""
    import gymnasium
    from gymnasium.wrappers import RecordEpisodeStatistics
    from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordStatistics

    env, num_envs = task_of(kind)
    if num_envs == 1:
        made: Any = RecordEpisodeStatistics(gymnasium.make(env), 100)
    else:
        made = RecordStatistics(gymnasium.make_vec(env, num_envs, vectorization_mode="sync"), 100)
    made.reset(seed=SEED)
    return made, made.return_queue


def training(name: str, kind: str) -> Any:
    """A library's `Training`, in its own process: one thread."""
    os.environ.update(ONE_THREAD)
    return library(name).training(kind)
