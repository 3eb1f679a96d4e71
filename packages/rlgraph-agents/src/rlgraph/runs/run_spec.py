"""The models of a run's document."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from rlgraph.core.errors import OtherNames
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.environments.vector.process_vector_env import STEP_TIMEOUT
from rlgraph.environments.vector.restarts import MAX_RESTARTS
from rlgraph.experience.specs import Spec
from rlgraph.runs.document_hints import IN_A_RUN

#: Episodes of an evaluation, whose returns are one line of a file of limited size.
MAX_EPISODES = 100_000

#: The kinds of vector environments that documents name; see `make_vector_env`.
Vectorization: TypeAlias = Literal["auto", "sequential", "processes", "native", "envpool"]


class WorkerSpec(Spec):
    """The worker: how the agent runs in its environments."""

    type: Literal["single_threaded"] = Field(default="single_threaded", description="worker type")
    num_envs: int = Field(default=1, ge=1, le=10_000, description="environments stepped together")
    vectorization: Vectorization = Field(
        default="auto",
        description="how the environments are stepped together",
    )
    processes: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="processes for the environments; null: the number of cores minus one",
    )
    step_timeout: float | None = Field(
        default=STEP_TIMEOUT,
        gt=0,
        description="seconds after which a hanging environment in a process is replaced; null: no limit",
    )
    max_restarts: int = Field(
        default=MAX_RESTARTS,
        ge=0,
        description="maximum number of replacements of each environment after crashes; 0: none",
    )
    validate_states: bool = Field(
        default=False, description="floats of states outside their bounds are errors, not warnings"
    )
    frameskip: int = Field(
        default=1,
        ge=1,
        le=10_000,
        description="environment steps per action; their rewards are summed",
    )
    max_timesteps_per_episode: int | None = Field(
        default=None,
        ge=1,
        description="steps after which an episode is truncated; null: no limit",
    )
    in_graph: bool | None = Field(
        default=None,
        description="one program steps the environment and learns; null: where all of it can be in one",
    )


class DataSpec(Spec):
    """Recorded steps, such as demonstrations, on which the agent trains before its first own step, if it does any."""

    file: str | None = Field(
        default=None,
        description="data set, a file or folder, relative to the working directory; null: none",
    )
    updates: int = Field(default=1000, ge=1, description="updates on it before the first own step")


class EvaluationSpec(Spec):
    """Evaluation during training, in separate environments; the best policy is saved."""

    interval: int | None = Field(
        default=2500,
        ge=1,
        description="environment steps between two evaluations; null: none during training",
    )
    episodes: int = Field(default=10, ge=1, le=MAX_EPISODES, description="episodes of one evaluation")
    stop_at_return: float | None = Field(
        default=None, description="mean return of an evaluation that ends training"
    )
    policy: Literal["best", "last"] = Field(
        default="best",
        description="the policy that the run ends with: that of the best evaluation or the last one",
    )
    final_episodes: int = Field(
        default=20, ge=1, le=MAX_EPISODES, description="episodes of the final evaluation, of that policy"
    )


class WandbSpec(Spec):
    """Logging to Weights & Biases (``pip install rlgraph-agents[wandb]``)."""

    project: str = Field(default="rlgraph", description="the project")
    entity: str | None = Field(default=None, description="user or team; null: the default one")
    name: str | None = Field(default=None, description="name of the run; null: its folder's name")
    group: str | None = Field(default=None, description="the group of the run")
    tags: list[str] = Field(default=[], description="labels of the run")
    mode: Literal["online", "offline", "disabled"] = Field(
        default="online", description="'offline' writes only into the run's folder"
    )


class LoggingSpec(Spec):
    """Logging in addition to ``metrics.csv`` and ``metrics.jsonl``."""

    report_interval: int = Field(default=1000, ge=1, description="environment steps between two reports")
    tensorboard: bool = Field(default=True, description="write TensorBoard events")
    wandb: WandbSpec | None = Field(default=None, description="Weights & Biases; null: not used")


class CheckpointsSpec(Spec):
    """Full checkpoints, from which a run can resume. Each is a reset point, which truncates running episodes."""

    interval: int | None = Field(
        default=50_000,
        ge=1,
        description="environment steps between two checkpoints; null: only one at the end",
    )
    keep_last: int = Field(default=2, ge=1, description="number of checkpoints to keep")
    memory: bool = Field(
        default=True,
        description="include the replay memory; without it a resumed run differs from an uninterrupted one",
    )


class StopSpec(Spec):
    """Conditions that end training before all steps are done; the first one counts."""

    mean_return: float | None = Field(
        default=None, description="stop at this mean return over the last 100 episodes, after at least 100"
    )
    episodes: int | None = Field(default=None, ge=1, description="stop after this number of episodes")
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="stop after this many seconds of training, including those before a resume",
    )


class RunSpec(Spec):
    """A training run."""

    other_names: ClassVar[OtherNames] = IN_A_RUN

    agent: dict[str, Any] = Field(description="agent spec: 'type' and constructor arguments")
    environment: str | dict[str, Any] = Field(
        description="environment spec: a gymnasium id, a name, or a mapping"
    )
    backend: str | None = Field(default=None, description="backend; null: the default one")
    steps: int = Field(ge=0, description="environment steps; 0: the agent learns from the data set only")
    seed: int = Field(default=DEFAULT_SEED, ge=0, description="root of all random numbers")
    worker: WorkerSpec = WorkerSpec()
    executor_spec: str | dict[str, Any] | None = Field(
        default=None,
        description="actors in other processes (rlgraph-dist): the name of an engine, or an executor's spec; null: "
        "this process does everything",
    )
    data: DataSpec = DataSpec()
    evaluation: EvaluationSpec = EvaluationSpec()
    logging: LoggingSpec = LoggingSpec()
    checkpoints: CheckpointsSpec = CheckpointsSpec()
    stop: StopSpec = StopSpec()
