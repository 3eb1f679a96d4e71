"""Rows: what becomes of steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rlgraph.agents.conformance.probes import PROBE, joined_episodes
from rlgraph.agents.conformance.subject import AgentUnderTest, expect_same
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.workers.callbacks import Callback


class _Counting(Callback):
    """Sums the probe over all updates."""

    def __init__(self) -> None:
        self.joined, self.updates = 0.0, 0

    def on_update(self, worker: Any, results: Mapping[str, Any]) -> None:
        self.joined += results[PROBE]
        self.updates += 1


def _never_join(subject: AgentUnderTest, options: Mapping[str, Any]) -> None:
    subject.need_own_steps()
    make = partial(CueTask, subject.action_space)
    for n_step in (3, 1) if "n_step" in subject.option_names else (1,):
        agent = subject.make(kind=joined_episodes(subject.kind), n_step=n_step, **options)
        counting = _Counting()
        learn = partial(agent.learn, callbacks=counting)
        for steps in (22, 10, 14):  # an odd number of each environment's steps, within rollouts
            learn(steps, env=partial(CueTask, subject.action_space), num_envs=2)
        for lost in ((), ((3, 0), (4, 1), (9, 0))):
            learn(34, env=CueVectorEnv(make, 2, lost), num_envs=2)
        assert counting.updates > 0, "no update"
        assert counting.joined == 0, (
            f"{counting.joined:g} of the records of {counting.updates} updates join two episodes (n_step {n_step})"
        )


@row("experience")
def cut_episodes_never_join(subject: AgentUnderTest) -> None:
    """No record joins two episodes: at ends, between calls of learn, where environments get lost or reset late."""
    _never_join(subject, {})


@row("experience")
def cut_episodes_never_join_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network, of rollouts or sequences."""
    _never_join(subject, subject.recurrent_options)


def _with_garbage(
    subject: AgentUnderTest, garbage: float, options: Mapping[str, Any], dead_from: int | None
) -> Any:
    agent = subject.make(**options)
    make = partial(CueTask, subject.action_space)
    env = CueVectorEnv(make, 2, ((5, 1), (12, 0)), garbage, dead_from)
    env.reset(seed=3)
    sampler = agent.make_sampler(env)
    sampler.reset(3)
    for _ in range(24):
        agent.observe_step(sampler.step())
        agent.update_if_due()
    return agent


def _ignores_garbage(subject: AgentUnderTest, options: Mapping[str, Any]) -> None:
    subject.need_learning()
    for dead_from in (None, 13):
        clean, dirty = (_with_garbage(subject, x, options, dead_from) for x in (0.5, -40.0))
        assert clean.updates == dirty.updates > 0, "no update, or another number of them"
        expect_same(
            clean.get_weights(), dirty.get_weights(), "weights after other garbage in rows that are no steps"
        )


@row("experience")
def garbage_changes_nothing(subject: AgentUnderTest) -> None:
    """States and rewards in rows that are no steps change no bit of an update, and what follows them none before."""
    _ignores_garbage(subject, {})


@row("experience")
def garbage_changes_nothing_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network."""
    _ignores_garbage(subject, subject.recurrent_options)
