"""What a backend brings to the emission of a segment: its own lines, and what the names in the source stand for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rlgraph.core.errors import CapabilityError
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.graph.variables import Block, Variable, VariableList
from rlgraph.core.ops import Effects
from rlgraph.core.ops.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Dialect:
    """What a backend adds to the emitted source of a segment.

    Attributes:
        receive: source of the conversion of an incoming array, from its name.
        give: source of the conversion of an outgoing tensor, from its expression and whether it comes out of a
            gradient slice.
        before: lines ahead of the body.
        after: lines that run in any case behind it.
        enter_slice: lines ahead of nodes that are differentiated.
        leave_slice: lines behind them.
        copy: source of a copy, from an expression.
        index: source of the tensor of an iteration's number, from the name of a Python integer.
        detach: source of a tensor without the record of how it was made, from an expression.
        arrive: source of an incoming tensor on the device where it is needed first, from its name and the device's.
            None: where a tensor is does not matter.
        namespace: what these lines refer to, by name; names they assign to stand for None.
    """

    receive: Callable[[str], str]
    give: Callable[[str, bool], str]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    enter_slice: tuple[str, ...] = ()
    leave_slice: tuple[str, ...] = ()
    copy: Callable[[str], str] = "copy({})".format
    index: Callable[[str], str] = "{}".format
    detach: Callable[[str], str] = "{}".format
    arrive: Callable[[str, str], str] | None = None
    namespace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoopShape:
    """What is known of a loop before it runs.

    Attributes:
        carried: specs of the carried tensors.
        collected: specs of what leaves the loop stacked, the first axis included.
        stops: an iteration may end the loop.
        effects: the variables it reads and writes.
    """

    carried: tuple[TensorSpec, ...]
    collected: tuple[TensorSpec, ...]
    stops: bool
    effects: Effects


@dataclass(frozen=True)
class Linker:
    """What the names in emitted source stand for on one backend.

    Attributes:
        backend: the backend's name (declared kernels are looked up under it).
        ops: its `ops` namespace.
        kernels: makers of its own kernels by graph-function key: ``(view, ops) -> function``, called once, so that
            variables and choices are looked up before the plan runs. None: the single source is better here.
        handle: gives what stands for a variable.
        block: gives what stands for a block of variables.
        gradients: ``(variables, blocks, retain) -> f(loss)``, returning one flat derivative per block; `retain` says
            that a later gradient goes through the same nodes.
        differentiate: instead of `gradients`, for a backend that takes derivatives of functions: ``(variables, blocks)
            -> f(function)``, where ``function() -> (loss, results)`` computes the loss and a tuple of all values made
            on the way, and ``f(function) -> (results, derivatives)``. Functions of derivatives that share a part of
            their way contain one another.
        place: ``(bind, device, writes) -> f``: makes a graph function run on a device. ``bind(move, ops)`` binds it to
            variables that went through `move` and to another `ops`, both if given; `writes` says that it writes some of
            them. It is asked only where a device is named. None: everything runs where it is called.
        use_kernels: False leaves out kernels of every kind.
        stream: gives the random stream of a name; a graph function that draws gets an `ops` with it as ``ops.stream``.
        loop: makes ``f(count, body, carried) -> (carried, collected)`` of a loop's shape, where
            ``body(index, *carried) -> (carried, collected, stop)``; all but `count` and `stop` are tuples of tensors.
            None: loops are Python loops.
        branch: makes ``f(predicate, then, otherwise) -> tensors`` of the results' specs and the effects, where
            ``then()`` and ``otherwise()`` give tuples of tensors. None: branches are Python branches.
        host: makes what calls a host function from inside of a segment; only for a segment that holds such calls.
    """

    backend: str
    ops: Any
    kernels: Mapping[str, Callable[[Any, Any], Callable[..., Any] | None]]
    handle: Callable[[Variable], Any]
    block: Callable[[Block], Any]
    gradients: Callable[[VariableList, Sequence[Block], bool], Callable[[Any], Any]] | None = None
    use_kernels: bool = True
    stream: Callable[[str], Any] | None = None
    loop: Callable[[LoopShape], Callable[..., Any]] | None = None
    branch: Callable[[tuple[TensorSpec, ...], Effects], Callable[..., Any]] | None = None
    differentiate: Callable[[VariableList, Sequence[Block]], Callable[[Any], Any]] | None = None
    host: Callable[[GraphFunctionCall], Callable[..., Any]] | None = None
    place: Callable[[Callable[..., Callable[..., Any]], str, bool], Callable[..., Any]] | None = None

    def link(self, function: Any, view: Any, draws: Collection[str] = ()) -> Callable[..., Any]:
        """A graph function bound to a component's view: its declared kernel, the backend's, or the single source.

        Args:
            function: the graph function.
            view: the component's view.
            draws: the name of the stream it draws from, if it does.
        """
        ops = self.ops
        if draws and self.stream is not None:
            (name,) = draws
            ops = copy(ops)
            ops.stream = self.stream(name)
        if self.use_kernels or function.kernels_only:
            if self.backend in function.kernels:
                return partial(function.kernels[self.backend], view, ops)
            made = self.kernels[function.key](view, ops) if function.key in self.kernels else None
            if made is not None:
                return made
        if function.kernels_only:
            raise CapabilityError(
                f"{view.scope_path}.{function.name} has kernels for {', '.join(sorted(function.kernels))} only: "
                f"it cannot run on {self.backend}"
            )
        return partial(function.function, view, ops)
