"""Imports TensorFlow when it is needed."""

from __future__ import annotations

from typing import Any

from rlgraph.core import PluginError


def import_server_queues() -> Any:
    """The module `server_queues`, with which TensorFlow is imported.

    Raises:
        PluginError: TensorFlow is not installed.
    """
    try:
        from rlgraph.execution.distributed_tf import server_queues
    except ImportError as error:
        raise PluginError(
            f"engine 'distributed_tf' needs TensorFlow ({error}): pip install 'rlgraph-dist[tf]'"
        ) from None
    return server_queues
