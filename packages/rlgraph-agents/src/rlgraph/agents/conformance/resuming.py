"""Rows: checkpoints, and what continues from them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.subject import AgentUnderTest, expect_same, sample_states
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker

#: Steps of a run, and between its checkpoints: within rollouts and episodes.
STEPS, INTERVAL = 130, 37


class _Run:
    """A run with two environments.

    Args:
        agent: the agent.
        env: an environment spec, or a vector environment of two.
        folder: where checkpoints are written; None: nowhere.
    """

    def __init__(self, agent: Agent, env: Any, folder: Path | None):
        self.folder = folder
        checkpoints: dict[str, Any] = {}
        if folder is not None:
            checkpoints = {"checkpoint_interval": INTERVAL, "store_checkpoint": self._store}
        self.worker = SingleThreadedWorker(agent, env, num_envs=2, **checkpoints)
        #: What continues: the checkpoint, and the state of the worker.
        self.stored: list[tuple[Path, bytes]] = []

    def _store(self, worker: SingleThreadedWorker) -> Path:
        assert self.folder is not None
        place = worker.agent.store_model(self.folder / f"at-{worker.timesteps_of_run}")
        state = (
            worker.get_state(),
            list(worker.returns),
            list(worker.recent_lengths),
            list(worker.evaluations),
        )
        self.stored.append((place, pickle.dumps(state)))
        return place

    def execute(self) -> None:
        self.worker.execute_timesteps(STEPS)
        self.worker.terminate()


def _continues(subject: AgentUnderTest, make_env: Any, options: Mapping[str, Any]) -> None:
    subject.need_own_steps()
    with TemporaryDirectory() as folder:
        whole = _Run(subject.make(**options), make_env(), Path(folder))
        whole.execute()
        assert len(whole.stored) > 2, "fewer than three checkpoints"
        for place, state in whole.stored[:-1]:
            rest = _Run(subject.make(**{"seed": 99, **options}), make_env(), Path(folder) / "again")
            rest.worker.agent.load_model(place)
            rest.worker.set_state(*pickle.loads(state))
            rest.execute()
            expect_same(
                whole.worker.agent.get_weights(),
                rest.worker.agent.get_weights(),
                f"the weights of the run and of the one resumed from {place.name}",
            )


@row("resuming", on_every_backend=True)
def resumed_runs(subject: AgentUnderTest) -> None:
    """A run resumed in the middle of episodes and rollouts, by an agent of another seed, equals one that went on."""
    _continues(subject, partial(subject.task), {})


@row("resuming")
def resumed_runs_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network."""
    _continues(subject, partial(subject.task), subject.recurrent_options)


@row("resuming")
def resumed_runs_with_late_resets(subject: AgentUnderTest) -> None:
    """The same with environments that reset in the step after an end (NEXT_STEP)."""
    _continues(subject, partial(CueVectorEnv, partial(CueTask, subject.action_space)), {})


@row("resuming", is_slow=True)
def resumed_runs_compiled(subject: AgentUnderTest) -> None:
    """The same with compiled updates."""
    _continues(subject, partial(subject.task), {"compiled": True})


@row("resuming")
def checkpoints_change_nothing(subject: AgentUnderTest) -> None:
    """A run that writes a checkpoint every 37 steps equals one that writes none."""
    subject.need_own_steps()
    with TemporaryDirectory() as folder:
        runs = [_Run(subject.make(), subject.task(), place) for place in (Path(folder), None)]
        for run in runs:
            run.execute()
        with_some, with_none = (run.worker.agent.get_weights() for run in runs)
        expect_same(with_some, with_none, "the weights of runs with and without checkpoints")


@row("resuming", on_every_backend=True)
def loaded_agents_act_the_same(subject: AgentUnderTest) -> None:
    """An agent of another seed that loads a checkpoint has its weights, counters and greedy actions."""
    agent, other = subject.make(), subject.make(seed=99)
    states = sample_states(5)
    if not subject.cannot_learn:
        subject.train(agent, 32, subject.task())
    with TemporaryDirectory() as folder:
        agent.store_model(Path(folder) / "model")
        other.load_model(Path(folder) / "model")
    expect_same(agent.get_weights(), other.get_weights(), "weights that were stored and loaded")
    counters = [(x.timesteps, x.updates) for x in (agent, other)]
    assert counters[0] == counters[1], f"counters that were stored and loaded: {counters}"
    stored, loaded = (x.get_actions(states, use_exploration=False) for x in (agent, other))
    expect_same(stored, loaded, "greedy actions of the agents that stored and loaded")
