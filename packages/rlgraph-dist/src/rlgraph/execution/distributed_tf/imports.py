"""Imports TensorFlow when it is needed."""

from __future__ import annotations

from typing import Any

from rlgraph.core import PluginError


def import_board() -> Any:
    """The module `board`, with which TensorFlow is imported.

    Raises:
        PluginError: TensorFlow is not installed.
    """
    try:
        from rlgraph.execution.distributed_tf import board
    except ImportError as error:
        raise PluginError(
            f"engine 'distributed_tf' needs TensorFlow ({error}): pip install 'rlgraph-dist[tf]'"
        ) from None
    return board
