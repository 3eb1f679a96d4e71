"""The graph executor of the TensorFlow backend: what only TensorFlow can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgraph.core import GraphExecutor

if TYPE_CHECKING:
    from rlgraph.tf.session import SessionProgram
    from rlgraph.tf.summaries import SummaryWriter


class TensorFlowExecutor(GraphExecutor):
    """A `GraphExecutor` on TensorFlow.

    `export_graph` writes a SavedModel, `profile` a Chrome trace. Arguments, methods and errors beyond those below are
    those of `GraphExecutor`.
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
        """API methods in a `tf.Graph` with a session of its own, on a server of a cluster if asked for.

        The graph has variables of its own, which begin with the values that this executor's have now. Host functions
        are called from inside of the graph and use this executor's host variables.

        Args:
            methods: names of API methods; default: all.
            target: address of the server, e.g. ``tf.distribute.Server(...).target``; default: this process.
            device: where everything in the graph is placed, as `tf.device` takes it.
            initialize: give the variables their values; False: another program of the same servers has done so.

        Raises:
            RLGraphError: there is no such method; names the nearest.
        """
        from rlgraph.tf.session import SessionProgram

        return SessionProgram(self, self.methods if methods is None else methods, target, device, initialize)

    def summary_writer(self, directory: str | Path) -> SummaryWriter:
        """Writes what TensorBoard shows: numbers, variables, the graph of an API method.

        Raises:
            PluginError: TensorBoard is not installed; says what to install.
        """
        from rlgraph.tf.summaries import SummaryWriter

        return SummaryWriter(self, Path(directory))
