"""Entered files: how many source files DQN's training and a checkpoint go through, and how often they come back.

``agent.learn`` on CartPole-v1 with an update at every fourth step, then ``agent.store_model``. Every call of a function
of rlgraph-agents is seen; a file is entered when the call before was in another one. A reader of this code follows one
trip: all before the first step; the last step, which updates, and all after it; the checkpoint.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from types import FrameType
from typing import Any

from measure import arguments

from rlgraph.agents import Agent

PORTIONS = ("agents", "algorithms", "environments", "experience", "learning", "runs", "workers")
#: Those that hold the class of agents.
OF_THE_AGENT = ("agents/agent.py", "learning/base_agent.py", "learning/agent_storage.py")
#: Targets: files of one trip, and its entries of each file of the agent's class.
MOST_FILES, MOST_ENTRIES = 28, 4
STEPS, WARM_UP, UPDATE_EVERY = 40, 16, 4
TRIP = ("before", "last step", "checkpoint")


class Trace:
    """The files that are entered inside a ``with`` block.

    Args:
        agent: its `set_progress` begins a step of training.

    Attributes:
        stretches: files in the order they are entered: before the first step, in each step.
        updates: the agent's updates at the beginning of each stretch.
    """

    def __init__(self, agent: Any):
        self.stretches: list[list[str]] = [[]]
        self.updates = [agent.updates]
        self._agent, self._step = agent, type(agent).set_progress.__code__
        self._names: dict[str, str | None] = {}

    def __enter__(self) -> Trace:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def begin(self) -> None:
        """Begin another stretch."""
        self.stretches.append([])
        self.updates.append(self._agent.updates)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        if frame.f_code is self._step:
            self.begin()
        path = frame.f_code.co_filename
        if path not in self._names:
            self._names[path] = _name(path)
        name, entered = self._names[path], self.stretches[-1]
        if name is not None and entered[-1:] != [name]:
            entered.append(name)


def _name(path: str) -> str | None:
    """``learning/learner.py`` of a file of rlgraph-agents; None for any other."""
    name = path.rpartition("/rlgraph/")[2]
    return name if name.split("/")[0] in PORTIONS else None


def measured(backend: str) -> dict[str, Counter[str]]:
    """Entries by file, for each part of a trip.

    Those of a step with and without update are the most of any step before the last.
    """
    agent = make(backend)
    with Trace(agent) as trace, tempfile.TemporaryDirectory() as folder:
        agent.learn(STEPS)
        trace.begin()
        agent.store_model(folder)
    before, *steps, last, checkpoint = map(Counter, trace.stretches)
    found: dict[str, Counter[str]] = {"step with update": Counter(), "step without": Counter()}
    for i, step in enumerate(steps, start=1):
        updated = trace.updates[i + 1] > trace.updates[i]
        found["step with update" if updated else "step without"] |= step
    return {**dict(zip(TRIP, (before, last, checkpoint), strict=True)), **found}


def make(backend: str) -> Any:
    """A DQN agent whose last step updates."""
    spec = {
        "type": "dqn",
        "memory_spec": {"capacity": 100},
        "update_spec": {"steps_before_update": WARM_UP, "update_interval": UPDATE_EVERY, "batch_size": 8},
    }
    return Agent.from_spec(spec, env="CartPole-v1", backend=backend, seed=1)


def _print_line(name: str, counts: Iterable[int]) -> None:
    print(f"  {name:44}" + "".join(f"{count:18}" for count in counts))


def main() -> None:
    options = arguments(__doc__).parse_args()
    make(options.backend).learn(STEPS)  # imports what is imported when it is used
    found = measured(options.backend)
    trip = sum((found[part] for part in TRIP), Counter[str]())
    columns = {"one trip": trip, **found}
    print(f"entered files, {options.backend}")
    print(f"  {'':44}" + "".join(f"{name:>18}" for name in columns))
    others = [file for file, _ in trip.most_common() if file not in OF_THE_AGENT]
    _print_line(f"files (target: at most {MOST_FILES})", map(len, columns.values()))
    for file in OF_THE_AGENT:
        _print_line(f"{file} (at most {MOST_ENTRIES})", (part[file] for part in columns.values()))
    for file in others:
        _print_line(file, (part[file] for part in columns.values()))
    if options.json is not None:
        options.json.write_text(json.dumps(columns, indent=1) + "\n", encoding="utf-8")
