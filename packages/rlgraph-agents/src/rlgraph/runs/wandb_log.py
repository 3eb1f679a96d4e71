"""Logging of metrics to Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.specs.connections import check_network
from rlgraph.environments.extras import import_extra
from rlgraph.runs.run_spec import WandbSpec


def check_wandb(spec: WandbSpec | None) -> None:
    """Raise `SpecError` if the user has not allowed a document to send the run elsewhere, or wandb is missing."""
    if spec is None:
        return
    if spec.mode == "online":
        check_network(
            "logging.wandb", why="sends the run to Weights & Biases, which 'mode: offline' does not"
        )
    _wandb()


def _wandb() -> Any:
    return import_extra("wandb", "logging to Weights & Biases", "logging.wandb")


class WandbLog:
    """A run in Weights & Biases. A resumed run continues under the same identity.

    Args:
        spec: project, group and name.
        folder: the run folder, for offline data.
        identity: id of the run.
        config: the configuration to log.

    Raises:
        SpecError: the package ``wandb`` is not installed, or does not start, such as without a login.
    """

    def __init__(self, spec: WandbSpec, folder: Path, identity: str, config: Mapping[str, Any]):
        wandb = _wandb()
        try:
            options = {**spec.model_dump(), "name": spec.name or folder.name, "config": dict(config)}
            self._run = wandb.init(**options, dir=str(folder), id=identity, resume="allow")
        except Exception as error:  # of many kinds: no login, no connection, a wrong entity
            raise SpecError(
                f"Weights & Biases did not start ({error}): log in with 'wandb login', or give mode: offline",
                path="logging.wandb",
            ) from error

    def add_scalars(self, step: int, scalars: Mapping[str, float]) -> None:
        """Log one value per name at `step`."""
        self._run.log(dict(scalars), step=step)

    def close(self) -> None:
        self._run.finish()
