"""What callbacks, and the parts of a worker, see of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.evaluation import Evaluation


class WorkerView(Protocol):
    """A worker, without what makes it train; see `rlgraph.workers.Worker`."""

    agent: BaseAgent
    evaluations: list[Evaluation]
    timesteps: int
    dropped_steps: int
    num_envs: int
    report_interval: int
    evaluation_interval: int | None
    checkpoint_interval: int | None
    schedule_timesteps: int | None
    made_from: tuple[tuple[Any, ...], dict[str, Any]]

    @property
    def timesteps_of_run(self) -> int: ...

    @property
    def episodes_of_run(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def returns(self) -> Sequence[float]: ...

    @property
    def recent_returns(self) -> tuple[float, ...]: ...

    @property
    def recent_lengths(self) -> tuple[int, ...]: ...

    @property
    def restarts(self) -> int: ...

    def metrics(self) -> dict[str, float]: ...

    def details(self, metrics: Mapping[str, float]) -> Sequence[str]: ...
