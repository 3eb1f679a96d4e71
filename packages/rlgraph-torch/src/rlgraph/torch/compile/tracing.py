"""Traces a segment to one graph of aten operations, including its gradients and writes to variables.

The emitted source of the segment runs once on fake tensors. The group buffers are inputs that the graph writes
in place; a variable is a view of its buffer, as at run time. Random numbers are inputs as well: they depend only on
shapes, so they can be drawn before the program runs, in the same order from the same streams.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.fx import GraphModule

from rlgraph.core.graph.emission import Dialect, Linker, Tape, emit_segment
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.torch.compile.rewriting import DECOMPOSITIONS, store_repeated
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.random import SEQUENTIAL
from rlgraph.torch.storage import TorchStorage


@dataclass(frozen=True)
class Draw:
    """Random numbers that a program needs: the stream and the draw (see `rlgraph.torch.random.DRAWS`)."""

    stream: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    parameters: tuple[float, ...] = ()


@dataclass(frozen=True)
class Inputs:
    """The inputs of a program, in this order.

    Attributes:
        arrays: positions among the segment's inputs.
        groups: names of the groups whose buffers it reads and writes.
        draws: random numbers.
        constants: tensors of the source.
    """

    arrays: tuple[int, ...]
    groups: tuple[str, ...]
    draws: tuple[Draw, ...]
    constants: tuple[Tensor, ...]


@dataclass(frozen=True)
class Traced:
    """The graph of a segment and its inputs."""

    graph: GraphModule
    inputs: Inputs

    @property
    def has_custom_operations(self) -> bool:
        """Whether it calls custom operations."""
        calls = (node.target for node in self.graph.graph.nodes if node.op == "call_function")
        return any(getattr(target, "namespace", "aten") not in ("aten", "prims") for target in calls)


class JoinedDraws:
    """Draws of a program in as few calls as give the same numbers: a call costs more than some hundred numbers.

    Args:
        draws: in the order of the program.

    Attributes:
        draws: equal draws that have their stream to themselves are one draw, with a new first axis.
    """

    def __init__(self, draws: Sequence[Draw]):
        counts = Counter(draws)
        kinds = Counter(draw.stream for draw in counts)  # of draws, on each stream
        places: dict[Draw, int] = {}
        rows = defaultdict[Draw, Iterator[int]](count)
        joined: list[Draw] = []
        self._parts: list[tuple[int, int | None]] = []
        for draw in draws:
            if counts[draw] == 1 or kinds[draw.stream] > 1 or draw.kind not in SEQUENTIAL:
                self._parts.append((len(joined), None))
                joined.append(draw)
                continue
            if draw not in places:
                places[draw] = len(joined)
                joined.append(replace(draw, shape=(counts[draw], *draw.shape)))
            self._parts.append((places[draw], next(rows[draw])))
        self.draws = tuple(joined)

    def parts(self, numbers: Sequence[Tensor]) -> Iterator[Tensor]:
        """The numbers of each original draw, from those of `draws`."""
        for position, row in self._parts:
            yield numbers[position] if row is None else numbers[position][row]


class TracedOps(TorchOps):
    """The operations during tracing: draws are recorded and become inputs."""

    stream: Any  # its name

    def __init__(self, float_dtype: str, noted: list[Draw], drawn: Iterator[Tensor] | None = None):
        super().__init__(float_dtype)
        self.noted, self.drawn = noted, drawn

    def draw(self, kind: str, shape: Sequence[int], dtype: torch.dtype, *parameters: float) -> Tensor:
        name = str(dtype).removeprefix("torch.")
        self.noted.append(Draw(self.stream, kind, tuple(map(int, shape)), name, parameters))
        return torch.empty(tuple(shape), dtype=dtype) if self.drawn is None else next(self.drawn)


def tracing_dialect(dialect: Dialect) -> Dialect:
    """`dialect` with tensors as inputs and outputs."""
    return replace(
        dialect,
        receive="received({})".format,
        give="{}".format,
        namespace={**dialect.namespace, "received": _received},
    )


def _received(value: Any) -> Tensor:
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim == 0:  # a tensor of known values would be one that inductor cannot stack with others
        return torch.full((), value.item(), dtype=getattr(torch, value.dtype.name))
    return torch.tensor(value)


def tensor_of_array(array: np.ndarray) -> Tensor:
    """A contiguous tensor, in the memory of `array` where torch allows it."""
    return torch.from_numpy(array if array.flags.carray else np.array(array, order="C"))


class Tracer:
    """Traces one segment.

    Args:
        plan, segment: the segment.
        storage: the variables.
        dialect: how the backend emits segments.
        float_dtype: the execution's floating dtype.
    """

    def __init__(
        self, plan: Plan, segment: Segment, storage: TorchStorage, dialect: Dialect, float_dtype: str
    ):
        self.plan, self.segment, self.storage = plan, segment, storage
        self.dialect, self.float_dtype = tracing_dialect(dialect), float_dtype
        self.groups = sorted(segment.reads | segment.writes)

    def trace(self, arrays: Sequence[Tensor]) -> Traced:
        """Trace the segment for inputs of these sizes.

        Raises:
            Exception: any error of code that cannot be traced, mostly a branch on the value of a tensor.
        """
        noted: list[Draw] = []
        graph = self._graph(arrays, noted)
        joined = JoinedDraws(noted)
        if noted:
            graph = self._graph(arrays, [], joined)
        store_repeated(graph)
        groups = len(arrays) + len(self.groups)
        used = _drop_unused_inputs(graph, groups)
        return Traced(
            graph,
            Inputs(
                tuple(i for i in used if i < len(arrays)),
                tuple(self.groups[i - len(arrays)] for i in used if len(arrays) <= i < groups),
                joined.draws,
                _constants_as_inputs(graph),
            ),
        )

    def _graph(
        self, arrays: Sequence[Tensor], noted: list[Draw], joined: JoinedDraws | None = None
    ) -> GraphModule:
        from torch.fx.experimental.proxy_tensor import make_fx  # slow to import

        buffers = [self.storage.groups[name] for name in self.groups]
        draws = joined.draws if joined else ()
        numbers = [torch.empty(draw.shape, dtype=getattr(torch, draw.dtype)) for draw in draws]

        def program(*inputs: Tensor) -> Any:
            given = iter(inputs)
            received = [next(given) for _ in arrays]
            storage = TorchStorage(self.storage.layout, self.storage.variables, self.storage.seed)
            for name in self.groups:
                storage.adopt_group(name, next(given))
            drawn = joined.parts(list(given)) if joined else None
            return self._emitted(storage, TracedOps(self.float_dtype, noted, drawn))(*received)

        with torch.no_grad():
            make = make_fx(program, decomposition_table=DECOMPOSITIONS, tracing_mode="fake")
            return make(*arrays, *buffers, *numbers)

    def _emitted(self, storage: TorchStorage, ops: TorchOps) -> Any:
        groups = map(self.storage.layout.groups.__getitem__, self.groups)
        touched = {variable.name for group in groups for variable in group.variables}
        linker = Linker(
            lambda variable: storage.handle(variable) if variable.name in touched else None,
            lambda block: storage.block(block) if block.group in self.groups else None,
            Tape(storage.gradients),
            backend="torch",
            ops=ops,
            stream=str,
            use_kernels=False,
        )
        return emit_segment(self.plan, self.segment, self.dialect, linker).compile()


def _constants_as_inputs(module: GraphModule) -> tuple[Tensor, ...]:
    """Replace the constants of a graph by further inputs; returns them. Parameters, fake and sparse tensors stay."""
    graph, constants = module.graph, []
    for name in [*module._buffers, *module._parameters]:
        if not graph.find_nodes(op="get_attr", target=name):
            delattr(module, name)
    body = next(node for node in graph.nodes if node.op not in ("placeholder", "get_attr"))
    for name in dict.fromkeys(node.target for node in graph.find_nodes(op="get_attr")):
        constant = getattr(module, name)
        if type(constant) is not Tensor or constant.layout != torch.strided:
            continue
        with graph.inserting_before(body):
            given = graph.placeholder(name)
        for node in graph.find_nodes(op="get_attr", target=name):
            given.meta = dict(node.meta)
            node.replace_all_uses_with(given)
            graph.erase_node(node)
        constants.append(constant)
        delattr(module, name)
    module.recompile()
    return tuple(constants)


def _drop_unused_inputs(module: GraphModule, number: int) -> list[int]:
    """Remove unused inputs among the first `number`; returns the positions of the remaining inputs."""
    module.graph.eliminate_dead_code()
    left = []
    for position, node in enumerate(module.graph.find_nodes(op="placeholder")):
        if node.users or position >= number:
            left.append(position)
        else:
            module.graph.erase_node(node)
    module.recompile()
    return left
