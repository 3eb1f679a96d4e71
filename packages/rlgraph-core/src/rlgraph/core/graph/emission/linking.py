"""What a backend brings to the emission of a segment: its own lines, and what the names in the source stand for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rlgraph.core.errors import CapabilityError
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.graph.variables import Block, Variable
from rlgraph.core.ops import Effects
from rlgraph.core.ops.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Dialect:
    """What a backend adds to the emitted source of a segment. Source comes in and goes out as text.

    Attributes:
        receive: converts an incoming NumPy array, from its name.
        give: converts an outgoing tensor to a NumPy array, from its expression.
        copy: copies a tensor whose memory a later write to a variable would change. Where arrays never change it
            only replaces a handle by its value.
        detach: drops the record of how a tensor was made. A backend with a `Tape` needs it: a tensor that leaves a
            gradient slice, or enters a loop as data, must not keep the tape alive or take derivatives along.
        index: makes a tensor of an iteration's number, from the name of a Python integer.
        before: lines before the body.
        after: lines that run at the end in any case.
        enter_slice: lines before nodes that are differentiated, e.g. to start recording.
        leave_slice: lines after them.
        arrive: moves incoming tensors to the device that needs them first, from their names, with commas between them,
            and the device's; a sequence. None: the framework moves tensors, or there is one device.
        namespace: what these lines refer to, by name; names they assign to are there with None.
    """

    receive: Callable[[str], str]
    give: Callable[[str], str]
    copy: Callable[[str], str]
    detach: Callable[[str], str] | None = None
    index: Callable[[str], str] = "{}".format
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    enter_slice: tuple[str, ...] = ()
    leave_slice: tuple[str, ...] = ()
    arrive: Callable[[str, str], str] | None = None
    namespace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoopShape:
    """What is known of a loop before it runs.

    Attributes:
        carried: specs of the carried tensors.
        collected: specs of what leaves the loop stacked, the first axis included.
        effects: the variables it reads and writes.
    """

    carried: tuple[TensorSpec, ...]
    collected: tuple[TensorSpec, ...]
    effects: Effects


@dataclass(frozen=True)
class Tape:
    """Derivatives for a framework that records what it computes.

    Attributes:
        derive: ``(blocks, retain) -> f(loss) -> derivatives``: one flat derivative per block, zeros where the loss does
            not depend on it. `retain` says that a later derivative goes through the same nodes: keep the record.
    """

    derive: Callable[[Sequence[Block], bool], Callable[[Any], Sequence[Any]]]


@dataclass(frozen=True)
class Transform:
    """Derivatives for a framework that differentiates functions.

    Attributes:
        derive: ``blocks -> f(function) -> (results, derivatives)``, where ``function() -> (loss, results)`` computes
            the loss and a tuple of all values made on the way. Functions of derivatives that share a part of their way
            contain one another.
    """

    derive: Callable[[Sequence[Block]], Callable[[Callable[[], tuple[Any, Any]]], tuple[Any, Sequence[Any]]]]


@dataclass(frozen=True)
class Linker:
    """What the names in emitted source stand for on one backend; `rlgraph.core.Backend.linker` makes it.

    Attributes:
        handle: gives what stands for a variable.
        block: gives what stands for a block of variables.
        gradients: how derivatives are taken. None: the backend has none.
        backend: the backend's name (declared kernels are looked up under it).
        ops: its `ops` namespace.
        kernels: makers of its own kernels by graph-function key: ``(view, ops) -> function``, called once, so that
            variables and choices are looked up before the plan runs. None: the single source is better here.
        use_kernels: False leaves out kernels of every kind.
        stream: gives the random stream of a name; a graph function that draws gets an `ops` with it as ``ops.stream``.
        loop: makes ``f(count, body, carried) -> (carried, collected)`` of a loop's shape, where
            ``body(index, *carried) -> (carried, collected, stop)``; all but `count` and `stop` are tuples of tensors.
            None: loops are Python loops.
        branch: makes ``f(predicate, then, otherwise) -> tensors`` of the results' specs and the effects, where
            ``then()`` and ``otherwise()`` give tuples of tensors. None: branches are Python branches.
        place: ``(bind, device, writes) -> f``: makes a graph function run on a device. ``bind(move, ops)`` binds it to
            variables that went through `move` and to another `ops`, both if given; `writes` says that it writes some of
            them. It is asked only where a device is named. None: everything runs where it is called.
        host: makes what calls a host function from inside a segment; only for a segment that holds such calls.
    """

    handle: Callable[[Variable], Any]
    block: Callable[[Block], Any]
    gradients: Tape | Transform | None = None
    backend: str = ""
    ops: Any = None
    kernels: Mapping[str, Callable[[Any, Any], Callable[..., Any] | None]] = field(default_factory=dict)
    use_kernels: bool = True
    stream: Callable[[str], Any] | None = None
    loop: Callable[[LoopShape], Callable[..., Any]] | None = None
    branch: Callable[[tuple[TensorSpec, ...], Effects], Callable[..., Any]] | None = None
    place: Callable[[Callable[..., Callable[..., Any]], str, bool], Callable[..., Any]] | None = None
    host: Callable[[GraphFunctionCall], Callable[..., Any]] | None = None

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
