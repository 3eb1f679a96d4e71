"""Runs of executors in virtual time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from rlgraph.core import SpecError, registry
from rlgraph.execution.executors.apex import ApexExecutor
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.remote.replay_shard import Batch, BatchFormat
from rlgraph.execution.remote.sampling import Sample
from rlgraph.execution.simulation.clock import VirtualClock
from rlgraph.execution.simulation.costs import Costs
from rlgraph.execution.simulation.engine import SimulatedEngine
from rlgraph.experience.replay import Replay
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.worker import Worker

#: Fragments of every actor before and while it is measured.
FRAGMENTS = 8
#: And of all together, at least.
LEAST_FRAGMENTS = 400


@dataclass(frozen=True)
class Simulated:
    """What a simulated run did, while it was measured.

    Attributes:
        actors: how many.
        steps_per_second, updates_per_second: in virtual time.
        spent: what the learner's process did -> share of the time.
        metrics: of the executor.
    """

    actors: int
    steps_per_second: float
    updates_per_second: float
    spent: Mapping[str, float]
    metrics: Mapping[str, float]

    @property
    def idle(self) -> dict[str, float]:
        """Role -> share of time in which it does nothing."""
        metrics = self.metrics
        idle = {"learner": max(1.0 - sum(self.spent.values()), 0.0), "actors": metrics["actor_wait"]}
        return {**idle, "replay shards": metrics["shard_wait"]} if "shard_wait" in metrics else idle

    @property
    def limit(self) -> str:
        """The role that does least nothing: it limits the speed."""
        idle = self.idle
        return min(idle, key=lambda role: idle[role])


class VirtualLearner:
    """A learner whose updates take virtual time and change nothing; all else is that of a real one.

    Args:
        learner: the real one.
        engine: has the clock.
    """

    def __init__(self, learner: Any, engine: SimulatedEngine):
        self._learner, self._engine = learner, engine
        self.version = self.steps = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)

    def weights_message(self) -> bytes:
        self._engine.work("weights", self._engine.costs.sending_weights)
        return str(self.version).encode()

    def take_numbers(self) -> dict[str, float]:
        return {}

    def learn_from(self, fragments: Sequence[Any]) -> dict[str, float]:
        costs = self._engine.costs
        self._engine.work("updates", costs.update + len(fragments) * costs.update_fragment)
        self.version += 1
        return {"loss": 0.0}

    def update_from_batch(self, records: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        return self.learn_from(()), {"priorities": np.zeros(len(records["rewards"]), np.float32)}


@dataclass(frozen=True)
class _Reading:
    time: float
    steps: int
    updates: int
    spent: dict[str, float]
    metrics: Mapping[str, float]


class _Readings(Callback):
    """What there is at the reports."""

    def __init__(self, engine: SimulatedEngine):
        self.engine, self.all = engine, list[_Reading]()

    def on_report(self, worker: Worker, metrics: Mapping[str, float]) -> None:
        engine, updates = self.engine, worker.agent.updates
        self.all.append(_Reading(engine.now(), worker.timesteps_of_run, updates, dict(engine.spent), metrics))


def simulate(
    agent: Mapping[str, Any],
    environment: Any,
    costs: Costs,
    actors: int,
    *,
    executor: str | None = None,
    cores: float = inf,
    backend: str = "numpy",
    seed: int = 0,
    **options: Any,
) -> Simulated:
    """Run an executor in virtual time: the first half warms up, the second half is measured.

    Args:
        agent, environment: specs.
        costs: what takes how long.
        actors: how many.
        executor: registered name; None: the one that suits the agent.
        cores: cores that all share; default: enough for all.
        backend: that the agent is built on; it computes nothing.
        seed: of the jitter.
        options: of the executor.

    Raises:
        SpecError: the agent learns from a memory, without replay shards.
    """
    learner = BaseAgent.from_spec(agent, env=environment, backend=backend, seed=seed)
    kind: type[Executor] = registry("rlgraph.executors").load(
        executor or type(learner).algorithm_class.executor
    )
    is_apex, experience = issubclass(kind, ApexExecutor), learner.learner.experience
    least = experience.updates.steps_before_update if isinstance(experience, Replay) else 0
    if experience.memory is not None and not is_apex:
        raise SpecError("expected an agent that learns from fragments, or the executor 'apex'", path="agent")
    batch = _batch(learner) if is_apex else b""
    engine = SimulatedEngine(costs, VirtualClock(cores), batch, not is_apex, seed)
    learner.learner = VirtualLearner(learner.learner, engine)  # type: ignore[assignment]
    run = kind(learner, environment, engine=engine, actors=actors, **_limits(options))
    if is_apex:
        run.reads_fragments = False
    else:
        run._read = _made_up  # type: ignore[method-assign]
    length = run._sampler_spec["length"] * run.envs_per_actor
    run.report_interval = half = least + max(FRAGMENTS * actors, LEAST_FRAGMENTS) * length
    readings = _Readings(engine)
    run.execute(steps=2 * half, callbacks=readings)
    first, last = readings.all[0], readings.all[-1]
    seconds = last.time - first.time
    return Simulated(
        actors,
        (last.steps - first.steps) / seconds,
        (last.updates - first.updates) / seconds,
        {what: (spent - first.spent.get(what, 0.0)) / seconds for what, spent in last.spent.items()},
        last.metrics,
    )


def _made_up(facts: bytes, body: Any) -> Sample:
    """A sample with a fragment that nobody reads."""
    made_up: Any = object()
    return replace(Sample.from_facts(facts, body), fragment=made_up)


def _limits(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with timeouts that never end: nothing fails here."""
    return {"start_timeout": 1e9, "sample_timeout": 1e9, **options}


def _batch(agent: BaseAgent) -> bytes:
    """The message of a batch of made-up content."""
    experience = agent.learner.experience
    batches = BatchFormat(experience, agent.learner.spec)  # type: ignore[arg-type]
    size = int(experience.batch_size)
    records = {**batches.records.without_ranks().zeros(size), "importance_weights": np.ones(size, np.float32)}
    return batches.to_bytes(Batch(records, np.zeros(size, np.int64), 1))
