"""TensorBoard summaries of an executor."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import tensorflow as tf

from rlgraph.core import GraphExecutor
from rlgraph.core.errors import PluginError
from rlgraph.tf.session import SessionProgram


class SummaryWriter:
    """Writes summaries of an executor; a context manager that closes the file.

    Args:
        executor: the executor whose variables and graphs are shown.
        directory: TensorBoard's ``--logdir``.

    Raises:
        PluginError: TensorBoard is not installed.
    """

    def __init__(self, executor: GraphExecutor, directory: Path):
        if find_spec("tensorboard") is None:
            raise PluginError("summaries need TensorBoard: pip install 'rlgraph-tf[tensorboard]'")
        self.executor = executor
        self._writer = tf.summary.create_file_writer(str(directory))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def scalar(self, name: str, value: Any, step: int) -> None:
        """Write a number, e.g. a loss, at a step."""
        with self._writer.as_default(step):
            tf.summary.scalar(name, value)

    def variables(self, step: int) -> None:
        """Write a histogram and the norm of every floating variable at a step."""
        with self._writer.as_default(step):
            for name, value in self.executor.get_weights().items():
                if value.dtype.kind == "f" and value.size:
                    tf.summary.histogram(name, value)
                    tf.summary.scalar(f"{name}/norm", np.linalg.norm(value))

    def graph(self, method: str) -> None:
        """Write the TensorFlow graph of an API method, by graph function.

        Raises:
            RLGraphError: unknown method; names the nearest.
        """
        program = SessionProgram(self.executor, [method], target="", device=None, initialize=False)
        with program, self._writer.as_default(0):
            # Show the graph inside the function.
            tf.summary.graph(program.function_graph(method))

    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()
