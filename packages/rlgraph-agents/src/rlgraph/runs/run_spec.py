"""One document describes a run."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rlgraph.agents.specs import Spec


class WorkerSpec(Spec):
    """How the agent is run in its environments."""

    type: Literal["single_threaded"] = Field(default="single_threaded", description="which worker")
    num_envs: int = Field(default=1, ge=1, description="environments stepped together")
    validate_states: bool = Field(default=False, description="hold every state against its Space")


class EvaluationSpec(Spec):
    """Evaluation beside training, in environments of its own; the best policy it finds is kept."""

    interval: int = Field(default=2500, ge=1, description="environment steps between two evaluations")
    episodes: int = Field(default=10, ge=1, description="episodes of one evaluation")
    stop_at_return: float | None = Field(
        default=None, description="end training once an evaluation reaches this"
    )
    final_episodes: int = Field(
        default=20, ge=1, description="episodes of the closing evaluation of the best policy"
    )


class LoggingSpec(Spec):
    """What is written down while the run goes on."""

    report_interval: int = Field(default=1000, ge=1, description="environment steps between two reports")


class RunSpec(Spec):
    """A training run."""

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
