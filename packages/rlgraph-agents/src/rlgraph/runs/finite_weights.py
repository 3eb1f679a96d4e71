"""Checks that weights are finite, before a run saves them or loads them from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rlgraph.core import NumericalError
from rlgraph.core.checkpoint import Checkpoint
from rlgraph.learning.base_agent import BaseAgent


def check_finite_weights(agent: BaseAgent, name: str) -> None:
    """Check that the tensor variables of `agent`, optimizer state included, are finite.

    Args:
        agent: the agent.
        name: name of the checkpoint to be written, for the message.

    Raises:
        NumericalError: names the first such variable and the step.
    """
    weights = agent.get_weights()
    if found := _not_finite(weights):
        first, count = found[0], len(found)
        raise NumericalError(
            f"checkpoint {name} is not written at step {agent.timesteps}: the variable {first} has values that are "
            f"not finite ({count} of {len(weights)} variables have). Lower optimizer_spec.learning_rate, set "
            "clip_grad_norm or non_finite, or look for rewards and states that are very large"
        )


def non_finite_problem(checkpoint: Path) -> str:
    """The problem with the weights in a valid checkpoint; empty if all are finite.

    Raises:
        CheckpointError: it cannot be read.
    """
    with Checkpoint(checkpoint) as opened:
        file = opened.file("variables")
        found = _not_finite({name: file.read(name) for name in file.entries})
    return f"{checkpoint} has values that are not finite in the variable {found[0]}" if found else ""


def _not_finite(weights: Mapping[str, np.ndarray]) -> list[str]:
    return [
        name for name, value in weights.items() if value.dtype.kind == "f" and not np.isfinite(value).all()
    ]
