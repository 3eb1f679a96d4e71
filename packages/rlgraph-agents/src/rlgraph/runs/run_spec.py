"""One document describes a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from rlgraph.agents.other_names import IN_A_RUN
from rlgraph.agents.specs import Spec
from rlgraph.environments.process_vector_env import STEP_TIMEOUT
from rlgraph.environments.restarts import MAX_RESTARTS


class WorkerSpec(Spec):
    """How the agent is run in its environments."""

    type: Literal["single_threaded", "parallel"] = Field(
        default="single_threaded",
        description="which worker: 'parallel' acts and updates while environments step in processes of their own; "
        "it needs an even num_envs",
    )
    num_envs: int = Field(default=1, ge=1, le=10_000, description="environments stepped together")
    vectorization: Literal["auto", "sequential", "processes", "native", "envpool"] = Field(
        default="auto",
        description="how the environments are stepped together; 'parallel' always has processes",
    )
    processes: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="processes that environments are spread over; null: as many as there are cores, less one; an even "
        "number for 'parallel'",
    )
    step_timeout: float | None = Field(
        default=STEP_TIMEOUT,
        gt=0,
        description="seconds after which an environment in a process hangs and is replaced; null: any time",
    )
    max_restarts: int = Field(
        default=MAX_RESTARTS,
        ge=0,
        description="how often each environment may be replaced after a crash; 0: never",
    )
    validate_states: bool = Field(default=False, description="hold every state against its Space")
    frameskip: int = Field(
        default=1,
        ge=1,
        le=10_000,
        description="environment steps an action is repeated for; their rewards are summed",
    )
    max_timesteps_per_episode: int | None = Field(
        default=None,
        ge=1,
        description="steps after which an episode is truncated; null: no limit of the worker's",
    )


class EvaluationSpec(Spec):
    """Evaluation beside training, in environments of its own; the best policy it finds is kept."""

    interval: int | None = Field(
        default=2500,
        ge=1,
        description="environment steps between two evaluations; null: none during training",
    )
    episodes: int = Field(default=10, ge=1, description="episodes of one evaluation")
    stop_at_return: float | None = Field(
        default=None, description="end training once an evaluation reaches this"
    )
    final_episodes: int = Field(
        default=20, ge=1, description="episodes of the closing evaluation of the best policy"
    )


class WandbSpec(Spec):
    """Metrics to Weights & Biases as well (``pip install rlgraph-agents[wandb]``)."""

    project: str = Field(default="rlgraph", description="the project the run is shown in")
    entity: str | None = Field(default=None, description="user or team; null: the default one")
    name: str | None = Field(default=None, description="what the run is called; null: its folder's name")
    group: str | None = Field(default=None, description="the group the run is shown in")
    tags: list[str] = Field(default=[], description="labels of the run")
    mode: Literal["online", "offline", "disabled"] = Field(
        default="online", description="'offline' writes into the run's folder only"
    )


class LoggingSpec(Spec):
    """What is written down while the run goes on, besides ``metrics.csv`` and ``metrics.jsonl``."""

    report_interval: int = Field(default=1000, ge=1, description="environment steps between two reports")
    tensorboard: bool = Field(default=True, description="write TensorBoard events")
    wandb: WandbSpec | None = Field(default=None, description="Weights & Biases; null: not used")


class CheckpointsSpec(Spec):
    """Full checkpoints, from which a run is resumed. Each is a reset point: running episodes are cut there."""

    interval: int | None = Field(
        default=50_000,
        ge=1,
        description="environment steps between two checkpoints; null: only one at the end",
    )
    keep_last: int = Field(default=2, ge=1, description="how many of them are kept")
    memory: bool = Field(
        default=True,
        description="the replay memory as well; without it a resumed run is not equal to an uninterrupted one",
    )


class StopSpec(Spec):
    """When training ends before all steps are done; whichever comes first."""

    mean_return: float | None = Field(
        default=None, description="mean return of the last 100 episodes (at least so many) that is enough"
    )
    episodes: int | None = Field(default=None, ge=1, description="episodes that are enough")
    seconds: float | None = Field(
        default=None, gt=0, description="seconds of training, those of resumed runs summed, that are enough"
    )


class RunSpec(Spec):
    """A training run."""

    other_names: ClassVar[Mapping[str, str]] = IN_A_RUN

    agent: dict[str, Any] = Field(description="agent spec: 'type' and constructor arguments")
    environment: str | dict[str, Any] = Field(
        description="environment spec: a gymnasium id, a name, or a mapping"
    )
    backend: str | None = Field(default=None, description="backend; null: the default one")
    steps: int = Field(ge=1, description="environment steps")
    seed: int = Field(default=0, ge=0, description="root of all random numbers")
    worker: WorkerSpec = WorkerSpec()
    evaluation: EvaluationSpec = EvaluationSpec()
    logging: LoggingSpec = LoggingSpec()
    checkpoints: CheckpointsSpec = CheckpointsSpec()
    stop: StopSpec = StopSpec()
