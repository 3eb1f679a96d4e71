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
    """A graph executor on PyTorch; arguments, attributes and errors are those of `GraphExecutor`.

    * ``execution_spec={"compile": True}`` compiles updates, a list of names exactly these API methods.
    * `export_graph` writes a ``.pt2`` file of `torch.export` per API method, `export_onnx` an ``.onnx`` file.
    * `profile` records what `torch.profiler` does, with a span for every graph function.
    """

    backend_name: ClassVar[str | None] = "torch"

    def export_onnx(self, directory: str | Path, methods: Sequence[str] | None = None) -> Path:
        """Write API methods as ONNX models, ``<method>.onnx``, for use without RLgraph and without PyTorch.

        Beside them stands ``graph.json``, the description of all inputs and outputs; they are named as there.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: all that only read and can be exported.

        Returns:
            The directory.

        Raises:
            CapabilityError: ``rlgraph-torch[onnx]`` is not installed; or a method calls a host function in its middle,
                or does what cannot be exported; names the function.
            RLGraphError: there is no such method; names the nearest.
            InputError: there is something else in the directory.
        """
        storage = self.storage
        assert isinstance(storage, TorchStorage)
        chosen = choose_methods("torch", self.backend.exports, self.plan, self.methods, methods)
        with self.guarded.everything():
            return write_export(directory, "torch", chosen, lambda path: export_onnx(chosen, storage, path))
