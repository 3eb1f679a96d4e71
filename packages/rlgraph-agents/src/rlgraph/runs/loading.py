"""The agent of a run, as its folder has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError, last_valid_checkpoint
from rlgraph.core.errors import nearest
from rlgraph.runs.recorded_run import read_config

CHECKPOINTS = "checkpoints"


def load_agent(
    folder: str | Path, *, backend: str | None = None, checkpoint: str | None = None
) -> tuple[Agent, Any, Path]:
    """The agent of a run with its trained weights.

    Args:
        folder: the run's.
        backend: where it shall act; default: where it was trained.
        checkpoint: a name below ``checkpoints/``; default: that of the best policy, or else the newest (a run that was
            interrupted before its first evaluation has no best policy).

    Returns:
        The agent, the environment spec of the run, and the checkpoint that was loaded.

    Raises:
        SpecError: it is no run folder, or has no such checkpoint.
        CheckpointError: there is no whole checkpoint.
    """
    folder = Path(folder)
    config = read_config(folder)
    run, chosen = config["run"], config["chosen"]
    source = _checkpoint(folder / CHECKPOINTS, checkpoint)
    agent = Agent.from_spec(run["agent"], env=run["environment"], backend=backend or chosen["backend"])
    agent.load_model(source)
    return agent, run["environment"], source


def _checkpoint(folder: Path, name: str | None) -> Path:
    if name is None:
        return last_valid_checkpoint(folder, prefer="best")
    if not (folder / name).is_dir():
        there = [inner.name for inner in folder.iterdir() if inner.is_dir()] if folder.is_dir() else []
        raise SpecError(f"{folder} has no checkpoint {name!r}. {nearest(name, there)}")
    return folder / name
