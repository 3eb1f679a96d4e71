"""The graph executor of the TensorFlow backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgraph.core import GraphExecutor

if TYPE_CHECKING:
    from rlgraph.tf.session import SessionProgram
    from rlgraph.tf.summaries import SummaryWriter


class TensorFlowExecutor(GraphExecutor):
    """A `GraphExecutor` on TensorFlow, with sessions and summaries.

    `export_graph` writes a SavedModel, `profile` a Chrome trace.
    """

    backend_name = "tf"

    def session_graph(
        self,
        methods: Sequence[str] | None = None,
        *,
        target: str = "",
        device: Any = None,
        initialize: bool = True,
    ) -> SessionProgram:
        """API methods in a `tf.Graph` with its own session, optionally on a server of a cluster.

        The graph has its own variables, which start from the present values of this executor. Host functions are
        called from inside the graph and use this executor's host variables.

        Args:
            methods: names of API methods; default: all.
            target: address of the server, e.g. ``tf.distribute.Server(...).target``; default: this process.
            device: the device of the whole graph, as for `tf.device`.
            initialize: initialize the variables; False: another program of the same servers did so.

        Raises:
            RLGraphError: unknown method; names the nearest.
        """
        from rlgraph.tf.session import SessionProgram

        return SessionProgram(self, self.methods if methods is None else methods, target, device, initialize)

    def summary_writer(self, directory: str | Path) -> SummaryWriter:
        """A writer of TensorBoard summaries: numbers, variables, the graph of an API method.

        Raises:
            PluginError: TensorBoard is not installed.
        """
        from rlgraph.tf.summaries import SummaryWriter

        return SummaryWriter(self, Path(directory))
