"""The graph executor of the PyTorch backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rlgraph.core.executor import GraphExecutor
from rlgraph.core.export import choose_methods, write_export
from rlgraph.torch.export import export_onnx
from rlgraph.torch.storage import TorchStorage


class PyTorchExecutor(GraphExecutor):
    """A `GraphExecutor` on PyTorch.

    * ``execution_spec={"compile": True}`` compiles updates; a list of names compiles exactly these API methods.
    * `export_graph` writes a ``.pt2`` file of `torch.export` per API method, `export_onnx` an ``.onnx`` file.
    * `profile` records what `torch.profiler` does, with a span for every graph function.
    """

    backend_name: ClassVar[str | None] = "torch"

    def export_onnx(self, directory: str | Path, methods: Sequence[str] | None = None) -> Path:
        """Write API methods as ONNX models, ``<method>.onnx``, for use without RLgraph and without PyTorch.

        ``graph.json`` next to them describes all inputs and outputs, under the same names.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: all exportable methods that only read.

        Returns:
            The directory.

        Raises:
            CapabilityError: ``rlgraph-torch[onnx]`` is not installed; a method calls a host function in its middle;
                or an operation cannot be exported; names the function.
            RLGraphError: unknown method; names the nearest.
            InputError: the directory contains something else.
        """
        storage = self.storage
        assert isinstance(storage, TorchStorage)
        chosen = choose_methods("torch", self.backend.exports, self.plan, self.methods, methods)
        with self.guarded.everything():
            return write_export(directory, "torch", chosen, lambda path: export_onnx(chosen, storage, path))
