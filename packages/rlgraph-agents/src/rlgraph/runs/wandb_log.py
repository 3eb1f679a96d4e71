"""Logging of metrics to Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgraph.core.specs.connections import check_network
from rlgraph.environments.extras import import_extra
from rlgraph.runs.run_spec import WandbSpec


def check_wandb(spec: WandbSpec | None) -> None:
    """Raise `SpecError` if the user has not allowed a document to send the run elsewhere."""
    if spec is not None and spec.mode == "online":
        check_network(
            "logging.wandb", why="sends the run to Weights & Biases, which 'mode: offline' does not"
        )


class WandbLog:
    """A run in Weights & Biases. A resumed run continues under the same identity.

    Args:
        spec: project, group and name.
        folder: the run folder, for offline data.
        identity: id of the run.
        config: the configuration to log.

    Raises:
        SpecError: the package ``wandb`` is not installed.
    """

    def __init__(self, spec: WandbSpec, folder: Path, identity: str, config: Mapping[str, Any]):
        wandb = import_extra("wandb", "logging to Weights & Biases", "run.logging.wandb")
        self._run = wandb.init(
            project=spec.project,
            entity=spec.entity,
            name=spec.name or folder.name,
            group=spec.group,
            tags=spec.tags,
            mode=spec.mode,
            dir=str(folder),
            id=identity,
            resume="allow",
            config=dict(config),
        )

    def add_scalars(self, step: int, scalars: Mapping[str, float]) -> None:
        """Log one value per name at `step`."""
        self._run.log(dict(scalars), step=step)

    def close(self) -> None:
        self._run.finish()
