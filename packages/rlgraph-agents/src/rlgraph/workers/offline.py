"""Training without an environment."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlgraph.core import InputError, SpecError
from rlgraph.environments.interrupts import Interruption, interruptible
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.results import TrainingResult


def learn_offline(
    agent: BaseAgent, updates: int | None, data: str | Path | None, other: Mapping[str, Any]
) -> TrainingResult:
    """Update an agent from its memory; see `Agent.learn`.

    Args:
        agent: the agent.
        updates: how many; schedules run over them.
        data: a data set that is put into the memory first; None: learn from what is there.
        other: the other arguments of `Agent.learn`, ``timesteps`` among them; all of them must be None.

    Raises:
        SpecError: an argument is missing, or contradicts another.
        InputError: the memory is empty, or the data set is wrong: names file, episode and step.
    """
    number = _checked_updates(agent, updates, data, other)
    if data is not None:
        agent.import_observations(data)
    elif not int(agent.call_api_method("get_memory_size")):
        raise InputError(
            "learn: the memory is empty: give data=, the file or folder of a data set "
            "(rlgraph.workers.record_data_set writes them), or call import_observations first"
        )
    return train_on_memory(agent, number)


def train_on_memory(
    agent: BaseAgent,
    updates: int,
    on_report: Callable[[Mapping[str, float]], object] | None = None,
    report_interval: int = 1000,
) -> TrainingResult:
    """Do `updates` from the memory, over which schedules run; Ctrl-C or SIGTERM ends them earlier.

    Args:
        agent: the agent.
        updates: how many.
        on_report: is told the metrics of every `report_interval` updates, and of the last ones.
        report_interval: in updates.
    """
    begin, before, interrupted = time.perf_counter(), agent.updates, False
    since = begin
    with interruptible():
        try:
            for done in range(updates):
                agent.set_progress(done / updates)
                agent.update_offline()
                number = done % report_interval + 1
                if on_report is not None and (number == report_interval or done + 1 == updates):
                    passed, since = time.perf_counter() - since, time.perf_counter()
                    numbers = {**agent.metrics(), **agent.learner.take_numbers()}
                    numbers |= {"timesteps": float(agent.timesteps), "updates": float(agent.updates)}
                    on_report({**numbers, "updates_per_second": number / max(passed, 1e-9)})
            agent.set_progress(1.0)
        except Interruption:
            interrupted = True
    seconds = time.perf_counter() - begin
    return TrainingResult(0, 0, agent.updates - before, seconds, (), (), interrupted)


def _checked_updates(
    agent: BaseAgent, updates: int | None, data: str | Path | None, other: Mapping[str, Any]
) -> int:
    """The number of updates; raises as `learn_offline`."""
    if agent.group.starts_others:
        raise SpecError(
            "learners of a group that learn(timesteps) starts have steps of their own, and no data set: give one "
            "learner, or start this program with torchrun",
            path="execution_spec.learners",
        )
    if updates is None:
        expected = "either timesteps or updates" if data is None else "updates beside data"
        raise SpecError(f"expected {expected}, given {_given(other)}", path="learn")
    if other["timesteps"] is not None:
        raise SpecError(
            "expected either timesteps, in an environment, or updates, without one; given both",
            path="learn",
        )
    if isinstance(updates, bool) or not isinstance(updates, int) or updates < 1:
        raise SpecError(f"expected an integer >= 1, given {updates!r}", path="learn.updates")
    for name, value in other.items():
        if value is not None:
            raise SpecError(
                f"expected None beside updates, which need neither an environment nor a run, given {value!r}: call "
                "evaluate() and store_model() afterwards",
                path=f"learn.{name}",
            )
    if agent.learner.graph.memory is None:
        raise SpecError(
            f"expected an agent with a memory, such as bc, dqn or sac, given a {type(agent).__name__}, which learns "
            "only from the steps of its current rollout",
            path="learn.updates",
        )
    return updates


def _given(other: Mapping[str, Any]) -> str:
    return ", ".join(name for name, value in other.items() if value is not None) or "neither"
