"""Export of API methods by `torch.export` and to ONNX.

Inputs keep the names of the parameters, variables become buffers under their scoped names, and sizes that the Spaces
leave open stay dynamic.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rlgraph.core.errors import CapabilityError, first_line
from rlgraph.core.export import ExportedMethod, ExportedTensor
from rlgraph.core.graph.emission import Dialect, Linker, SourceFunction, emit_segment
from rlgraph.core.graph.nodes import walk_nodes
from rlgraph.core.graph.variables import Block, Variable
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.torch.modes import in_own_modes
from rlgraph.torch.ops import DTYPES, TorchOps
from rlgraph.torch.storage import TorchStorage

#: Sizes for tracing: all different, with common divisors of batch sizes.
SIZES = 12


class Exported(nn.Module):
    """An API method as a module.

    Args:
        method: the method.
        storage: the variables; the module has copies.
    """

    def __init__(self, method: ExportedMethod, storage: TorchStorage):
        super().__init__()
        plan = method.plan
        effects = [plan.built.effects[node.id] for node in walk_nodes(method.segment.nodes)]
        for name in sorted(frozenset[str]().union(*(e.reads for e in effects))):
            self.register_buffer(name, storage.handle(plan.built.variables[name]).detach().cpu().clone())
        self.method, self.float_dtype = method, plan.built.float_dtype

    def computed(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The outputs by name. Emitted again at every call: an export replaces the buffers by other tensors."""
        ops = TorchOps(self.float_dtype)
        linker = Linker(self._handle, self._block, backend="torch", ops=ops, use_kernels=False)
        outputs = emit_segment(self.method.plan, self.method.segment, DIALECT, linker).compile()(*inputs)
        return {output.name: value for output, value in zip(self.method.outputs, outputs, strict=True)}

    def _handle(self, variable: Variable) -> Tensor:
        return self.get_buffer(variable.name)

    def _block(self, block: Block) -> Tensor:
        return torch.cat([self._handle(variable).reshape(-1) for variable in block.variables])


DIALECT = Dialect(
    receive="as_tensor({})".format,
    give="{}".format,
    copy="{}.clone()".format,
    index="as_tensor({})".format,
    namespace={"as_tensor": torch.as_tensor},
)


@in_own_modes
def export_programs(methods: Sequence[ExportedMethod], storage: TorchStorage, directory: Path) -> None:
    """Write ``<method>.pt2`` for `torch.export.load`; inputs are passed by name or in order, outputs are a dict.

    Raises:
        CapabilityError: PyTorch cannot export one of them.
    """
    for method in methods:
        program = exported_program(method, storage)
        torch.export.save(program, directory / f"{method.name}.pt2")


@in_own_modes
def export_onnx(methods: Sequence[ExportedMethod], storage: TorchStorage, directory: Path) -> None:
    """Write ``<method>.onnx``.

    Raises:
        CapabilityError: packages are missing, or PyTorch cannot export one of them.
    """
    missing = [name for name in ("onnx", "onnxscript") if find_spec(name) is None]
    if missing:
        raise CapabilityError(
            f"exporting to ONNX needs {' and '.join(missing)}: pip install 'rlgraph-torch[onnx]'"
        )
    for method in methods:
        program = exported_program(method, storage)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they are about the exporter itself
                torch.onnx.export(
                    program,
                    f=directory / f"{method.name}.onnx",
                    input_names=[tensor.name for tensor in method.inputs],
                    output_names=[tensor.name for tensor in method.outputs],
                    dynamo=True,
                    verbose=False,
                    external_data=False,
                )
        except Exception as error:  # it documents no errors
            raise CapabilityError(
                f"API method {method.name!r} cannot be exported to ONNX: {first_line(error)}"
            ) from error


def exported_program(method: ExportedMethod, storage: TorchStorage) -> torch.export.ExportedProgram:
    """Export a method as a `torch.export` program.

    Raises:
        CapabilityError: PyTorch cannot export it: it branches on the value of a tensor, or fixes a size.
    """
    module = _with_named_inputs(method, storage)
    sizes: dict[str, int] = {}
    examples = tuple(_example(tensor, sizes) for tensor in method.inputs)
    open_sizes = tuple(_open_sizes(tensor) for tensor in method.inputs)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # they are about the exporter itself
            return torch.export.export(module, examples, dynamic_shapes=open_sizes)
    except Exception as error:  # any error: user code may need the values of tensors
        raise CapabilityError(
            f"API method {method.name!r} cannot be exported from PyTorch: {first_line(error)}"
        ) from error


def _with_named_inputs(method: ExportedMethod, storage: TorchStorage) -> Exported:
    """The module with a `forward` whose parameters are named like the inputs."""
    function = SourceFunction("forward", ["self"])
    names = [function.fresh("".join(c if c.isalnum() else "_" for c in t.name)) for t in method.inputs]
    function.parameters += names
    function.lines.append(f"return self.computed({', '.join(names)})")
    kind = type("Exported", (Exported,), {"forward": function.compile()})
    module: Exported = kind(method, storage)
    return module


def _example(tensor: ExportedTensor, sizes: dict[str, int]) -> Tensor:
    """A tensor of zeros with concrete sizes for open ones; `sizes` maps symbols to the sizes chosen so far."""
    shape = []
    for dim in tensor.spec.shape:
        if isinstance(dim, SymbolicDim):
            for symbol in sorted(dim.symbols):
                sizes.setdefault(symbol, SIZES * (len(sizes) + 1))
            shape.append(int(eval(repr(dim), dict(sizes))))
        else:
            shape.append(dim)
    return torch.zeros(shape, dtype=DTYPES[tensor.spec.dtype])


def _open_sizes(tensor: ExportedTensor) -> dict[int, Any]:
    dims = zip(count(), tensor.spec.shape)
    return {axis: torch.export.Dim.DYNAMIC for axis, dim in dims if isinstance(dim, SymbolicDim)}
