"""The component graph for TensorBoard's graph page, on any backend: scopes are components, nodes graph functions.

Written with TensorBoard's own records, without a framework.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rlgraph.core.errors import RLGraphError
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.devices import resolve_devices
from rlgraph.core.graph.nodes import (
    Branch,
    Expression,
    GraphFunctionCall,
    Input,
    Loop,
    Node,
    Output,
    Ref,
    Source,
    VariablesOf,
    arguments_of,
    label,
    outputs_of,
    references,
)
from rlgraph.core.graph.values import leaves
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.draw.drawing import check_method, contracted_graph
from rlgraph.draw.elements import flat
from rlgraph.draw.graph_view import View
from rlgraph.draw.regions import CARRIED, NEXT, Regions

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.\-/]")


def write_tensorboard_graph(graph: Any, folder: str | Path, *, method: str | None = None) -> Path:
    """Write an event file for TensorBoard's graph page.

    Components are name scopes. Every call of a graph function is a node with its Spaces as attributes, its device, with
    edges from the sources of its arguments and from the variables of its component. ``get_actions.inputs`` and
    ``get_actions.results`` are the ends of an API method of the root.

    Args:
        graph: as for `draw`: a build, a component graph, a graph executor, or an unbuilt root component.
        folder: for the event file; created if missing. TensorBoard shows it with ``--logdir``.
        method: only this API method of the root.

    Returns:
        The file.

    Raises:
        RLGraphError: the API method is unknown, `graph` has no graph, or TensorBoard is not installed.
    """
    definition = graph_definition(graph, method=method)
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    now = time.time()
    file = Path(folder, f"events.out.tfevents.{int(now)}.graph")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        writer = RecordWriter(stream)
        writer.write(Event(wall_time=now, file_version="brain.Event:2").SerializeToString())
        writer.write(Event(wall_time=now, graph_def=definition).SerializeToString())
        writer.flush()
    return file


def graph_definition(graph: Any, *, method: str | None = None) -> bytes:
    """The component graph as a serialized ``GraphDef``, as `write_tensorboard_graph` writes it."""
    component_graph, built = contracted_graph(graph)
    if method is not None:
        check_method(component_graph, method)
    methods = sorted(component_graph.methods) if method is None else [method]
    depth = len(component_graph.components)
    values, placed = (built.values, built.devices) if built else (None, resolve_devices(component_graph))
    view = View(component_graph, values, placed, methods, depth)
    return bytes(_Definition(view, built).message.SerializeToString())


class _Definition:
    def __init__(self, view: View, built: BuiltGraph | None) -> None:
        try:
            from tensorboard.compat.proto.graph_pb2 import GraphDef
        except ImportError as error:
            raise RLGraphError(
                "TensorBoard's graph page needs tensorboard, which is not installed: "
                'pip install "rlgraph-core[tensorboard]"'
            ) from error
        self.message = GraphDef()
        self.message.versions.producer = 22
        self.view, self.graph, self.built = view, view.graph, built
        self.regions = Regions(view)
        self._taken: set[str] = set()
        self._sources: dict[Source, str] = {}
        self._borders: dict[tuple[int, str], str] = {}
        self._name_everything()
        self._add_variables()
        self._add_ends()
        for node in view.nodes.values():
            if isinstance(node, Loop | Branch):
                self._add_borders(node)
            else:
                self._add_call(node)

    # Names first, since loops refer to later nodes.

    def _name_everything(self) -> None:
        for method in self.view.methods:
            for name in self.graph.methods[method].parameters:
                self._sources[Input(method, name)] = self._name(f"{method}.inputs/{name}")
        for node in self.view.nodes.values():
            scope, _, function = label(node).rpartition(".")
            name = self._name(f"{scope}/{function}")
            if not isinstance(node, Loop | Branch):
                for source in outputs_of(node):
                    self._sources[source] = f"{name}:{source.index}" if source.index else name
                self._sources[Output(node.id)] = name
                continue
            for place in self.regions.places(node):
                self._borders[node.id, place] = f"{name}/{place}"

    def _name(self, wanted: str) -> str:
        """`wanted`, with a number appended if it is taken."""
        wanted = name = _FORBIDDEN.sub("_", wanted)
        number = 0
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _origin(self, ref: Ref) -> str | None:
        border = self.regions.border(ref.source)
        if border is not None:
            return self._borders[border[0].id, border[1]]
        return self._sources.get(ref.source)

    def _origins(self, expressions: Iterable[Expression]) -> Iterator[str]:
        names = (self._origin(ref) for expression in expressions for ref in references(expression))
        return (name for name in dict.fromkeys(names) if name is not None)

    # Nodes.

    def _add(self, name: str, op: str, inputs: Iterable[str] = (), device: str = "", **texts: str) -> Any:
        node = self.message.node.add(name=name, op=op, device=device)
        node.input.extend(dict.fromkeys(inputs))
        for key, text in texts.items():
            if text:
                node.attr[key].s = text.encode()
        return node

    def _add_variables(self) -> None:
        for scope in self.view.shown:
            storage = self.view.devices(scope)[1]
            for variable in self.graph.components[scope].declared_variables.values():
                trained = "trainable" if variable.trainable else "host" if variable.host else "not trainable"
                node = self._add(
                    self._name(variable.name),
                    "VariableV2",
                    (),
                    storage,
                    space=repr(variable.spec),
                    kind=trained,
                )
                _add_shape(node, variable.spec)

    def _add_ends(self) -> None:
        for method in self.view.methods:
            for parameter in self.graph.methods[method].parameters:
                source = Input(method, parameter)
                node = self._add(self._sources[source], "Placeholder", space=self.view.describe(Ref(source)))
                self._add_shapes(node, [source])
            for name, expression in flat(self.graph.results_of(method)):
                texts = {"space": ", ".join(self.view.describe(ref) for ref in references(expression))}
                self._add(
                    self._name(f"{method}.results/{name or 'result'}"),
                    "Identity",
                    self._origins([expression]),
                    **texts,
                )

    def _add_call(self, node: Node) -> None:
        scope, sources = node.component, outputs_of(node)
        name = self._sources[Output(node.id)]
        arguments = dict(arguments_of(node))
        inputs = [*self._origins(arguments.values()), *self._variables(node)]
        texts = {f"argument {key}": self._described(e) for key, e in arguments.items()}
        texts["spaces"] = ", ".join(self.view.describe(Ref(source)) for source in sources)
        texts["component"] = type(self.graph.components[scope]).__name__
        made = self._add(name, _operation(node), inputs, self.view.devices(scope)[0], **texts)
        self._add_shapes(made, sources)

    def _add_borders(self, node: Loop | Branch) -> None:
        """Add the nodes where values enter and leave a loop or branch; its calls stay in their components' scopes."""
        inflows: dict[str, list[Expression]] = {place: [] for place in self.regions.places(node)}
        for place, expression in self.regions.inflows(node):
            inflows.get(place, []).append(expression)
        for place, expressions in inflows.items():
            inputs = list(self._origins(expressions))
            if place == CARRIED:
                inputs.append(f"^{self._borders[node.id, NEXT]}")
            self._add(self._borders[node.id, place], f"{type(node).__name__}{place.title()}", inputs)

    def _variables(self, node: Node) -> list[str]:
        """The variables of its own component that a call reads or writes, or those in a list of variables."""
        if isinstance(node, VariablesOf):
            scopes = self.graph.below(node.component)
            below = [v for s in scopes for v in self.graph.components[s].declared_variables.values()]
            return [_FORBIDDEN.sub("_", v.name) for v in below if not v.host]
        if self.built is None:
            return []
        own = self.graph.components[node.component].declared_variables
        effects = self.built.effects[node.id]
        # The variables of a host function are not among the recorded effects.
        names = {v.name for v in own.values() if v.host} if effects.host else effects.reads | effects.writes
        return [_FORBIDDEN.sub("_", name) for name in sorted(names) if name in own]

    def _described(self, expression: Expression) -> str:
        return ", ".join(filter(None, (self.view.describe(ref) for ref in references(expression))))

    def _add_shapes(self, node: Any, sources: Iterable[Source]) -> None:
        """Add the shapes that TensorBoard shows on edges; for a container that of its first tensor."""
        for source in sources:
            tensors = [
                leaf for _, leaf in leaves(self.view.known(Ref(source))) if isinstance(leaf, TensorSpec)
            ]
            if tensors:
                _add_shape(node, tensors[0])


def _add_shape(node: Any, spec: TensorSpec) -> None:
    shape = node.attr["_output_shapes"].list.shape.add()
    for size in spec.shape:
        shape.dim.add(size=size if isinstance(size, int) else -1)


def _operation(node: Node) -> str:
    if isinstance(node, GraphFunctionCall):
        return "HostFunction" if node.host else "GraphFunction"
    return type(node).__name__
