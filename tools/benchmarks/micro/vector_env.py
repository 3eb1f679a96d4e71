"""Several environments: CartPole-v1 with the wrappers of its id; RLgraph's vector environments against Gymnasium's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

import gymnasium
import numpy as np
from measure import Row, arguments, interleaved, report

from rlgraph.environments import NativeVectorEnv, ProcessVectorEnv, SequentialVectorEnv, make_environment

TARGETS = {1: 1.6, 8: 1.0}
NATIVE_SIZES = (16, 64)


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument("--processes", action="store_true", help="8 environments in one process as well")
    options = parser.parse_args()
    rows = []
    for size in (*TARGETS, *NATIVE_SIZES):
        subjects = _subjects(size)
        figures = interleaved(subjects)
        yardstick = figures["SyncVectorEnv"]
        for name, figure in figures.items():
            ratio = None if figure is yardstick else yardstick.over(figure)
            target = TARGETS.get(size) if name == "sequential" else None
            row = Row(f"{size} x, {name}", figure.times(1e6 / size), "us/step", ratio, target, at_least=True)
            rows.append(row)
    if options.processes:
        rows += _processes()
    report("vector environments, CartPole-v1", rows, options, ("numpy", "gymnasium", "rlgraph-agents"))


def _subjects(size: int) -> dict[str, Callable[[], Any]]:
    """One step of all environments, by each of the ways there are; actions are the same random ones."""
    # Gymnasium's own without the checker that our environments go without.
    make = partial(gymnasium.make, "CartPole-v1", disable_env_checker=True)
    theirs = gymnasium.vector.SyncVectorEnv([make] * size)
    subjects = {
        "SyncVectorEnv": _stepper(theirs, size),
        "sequential": _stepper(SequentialVectorEnv([partial(make_environment, "CartPole-v1")] * size), size),
    }
    if size in NATIVE_SIZES:
        subjects["native"] = _stepper(NativeVectorEnv("CartPole-v1", size), size)
    return subjects


def _processes() -> list[Row]:
    env = ProcessVectorEnv(partial(make_environment, "CartPole-v1"), 8, 1)
    figure = interleaved({"processes": _stepper(env, 8)})["processes"]
    env.terminate()
    return [Row("8 x, in one process", figure.times(1e6 / 8), "us/step")]


def _stepper(env: Any, size: int) -> Callable[[], Any]:
    env.reset(seed=0)
    step, actions = env.step, cycle(list(np.random.default_rng(0).integers(2, size=(997, size))))
    for _ in range(1500):  # the checks of the first episodes are over
        step(next(actions))
    return lambda: step(next(actions))
