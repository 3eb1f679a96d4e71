"""One document describes a run."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rlgraph.agents.specs import Spec


class EvaluationSpec(Spec):
    """Evaluation beside training; the best policy it finds is kept."""

    interval: int = Field(default=2500, ge=1, description="environment steps between two evaluations")
    episodes: int = Field(default=10, ge=1, description="episodes of one evaluation")
    stop_at_return: float | None = Field(
        default=None, description="end training once an evaluation reaches this"
    )
    final_episodes: int = Field(
        default=20, ge=1, description="episodes of the closing evaluation of the best policy"
    )


class RunSpec(Spec):
    """A training run."""

    agent: dict[str, Any] = Field(description="agent spec: 'type' and constructor arguments")
    environment: str | dict[str, Any] = Field(
        description="environment spec: a gymnasium id, a name, or a mapping"
    )
    backend: str | None = Field(default=None, description="backend; null: the default one")
    steps: int = Field(ge=1, description="environment steps")
    seed: int = Field(default=0, ge=0, description="root of all random numbers")
    num_envs: int = Field(default=1, ge=1, description="environments stepped in turn")
    validate_states: bool = Field(default=False, description="hold every state against its Space")
    report_interval: int = Field(default=1000, ge=1, description="environment steps between two reports")
    evaluation: EvaluationSpec = EvaluationSpec()
