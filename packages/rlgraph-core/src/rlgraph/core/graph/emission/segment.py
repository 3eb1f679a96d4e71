"""Emission of a segment: nodes become lines, in the dialect of a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any

from rlgraph.core.errors import PluginError
from rlgraph.core.graph.binding import bind, slots_of
from rlgraph.core.graph.emission.control_flow import Writer, carried_names, emit_branch, emit_loop
from rlgraph.core.graph.emission.differentiation import last_span
from rlgraph.core.graph.emission.given_draws import GivenDraws
from rlgraph.core.graph.emission.linking import Dialect, Linker, LoopShape, Tape, Transform
from rlgraph.core.graph.emission.placement import device_of, first_devices
from rlgraph.core.graph.emission.source import SourceFunction, from_leaves, identifier, literal
from rlgraph.core.graph.inference import tensor_arguments
from rlgraph.core.graph.nodes import (
    ApiCall,
    Branch,
    Carried,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    JoinedVariables,
    Loop,
    Node,
    Output,
    Pack,
    Packed,
    Ref,
    Region,
    VariablesOf,
    arguments_of,
    outputs_of,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.core.graph.passes.draws_ahead import takes_noise
from rlgraph.core.graph.plan import Leaf, Plan, Segment
from rlgraph.core.graph.values import Value, is_leaf, leaves
from rlgraph.core.graph.variables import GradientList, Slots, Variable, VariableList
from rlgraph.core.ops.tensor_spec import TensorSpec


def emit_segment(plan: Plan, segment: Segment, dialect: Dialect, linker: Linker) -> SourceFunction:
    """The source of one segment for one backend."""
    return _SegmentEmitter(plan, segment, dialect, linker).emit()


class _SegmentEmitter:
    def __init__(self, plan: Plan, segment: Segment, dialect: Dialect, linker: Linker):
        if isinstance(linker.gradients, Tape) and dialect.detach is None:
            raise PluginError(
                f"the dialect of backend {linker.backend!r} has no `detach`: a backend whose gradients are a Tape must "
                "say how a tensor loses its record, e.g. detach='{}.detach()'.format"
            )
        self.plan, self.segment, self.dialect, self.linker = plan, segment, dialect, linker
        self.detach = dialect.detach or "{}".format
        self.transforms = isinstance(linker.gradients, Transform)
        nodes = list(walk_nodes(segment.nodes))
        # Each result of these has one name; of all other values the leaves have names.
        self.called = {node.id for node in nodes if isinstance(node, GraphFunctionCall | Gradients)}
        self.sliced = plan.sliced
        self.data = {output for output in plan.data if output.node in {node.id for node in nodes}}
        self.in_slice = False
        self.depth = 1  # of the API calls that are open, the root's own one among them
        self.cuts = self._list_cuts(nodes)
        self.function = SourceFunction(f"{plan.name}__{segment.name}", namespace=dialect.namespace)
        self.function.parameters = [self.function.local(leaf) for leaf, _ in segment.inputs]
        self.writer = Writer(
            self.function,
            plan.built,
            self._handed_over,
            lambda name: dialect.copy(dialect.receive(name)),
            dialect.index,
            self._stack,
        )

    def emit(self) -> SourceFunction:
        lines = self.function.lines
        lines.extend(self.dialect.before)
        if self.dialect.after:
            with self.function.block("try:"):
                self._emit_body()
            with self.function.block("finally:"):
                self.function.lines.extend(self.dialect.after)
        else:
            self._emit_body()
        return self.function

    def _emit_body(self) -> None:
        inputs = (leaf for leaf, _ in self.segment.inputs if leaf not in self.plan.kept)
        received = [(name, self.dialect.receive(name)) for name in map(self.function.local, inputs)]
        self.function.lines.extend(f"{name} = {text}" for name, text in received if text != name)
        if self.dialect.arrive is not None:
            self._emit_arrivals(self.dialect.arrive)
        for leaf, _ in self.segment.inputs:
            if isinstance(leaf.source, Output):
                self._emit_blocks(leaf.source)
        self._emit_nodes(self.segment.nodes)
        outputs = [self._give(leaf) for leaf, _ in self.segment.outputs]
        self.function.lines.append(
            f"return {', '.join(outputs)}{',' * (len(outputs) == 1)}" if outputs else "return ()"
        )

    def _emit_arrivals(self, arrive: Callable[[str, str], str]) -> None:
        devices = first_devices(self.plan.built, self.segment.nodes)
        arriving: dict[str, list[str]] = {}
        for leaf, _ in self.segment.inputs:
            if leaf in devices:
                arriving.setdefault(devices[leaf], []).append(self.function.local(leaf))
        for device, names in arriving.items():
            together = ", ".join(names)
            self.function.lines.append(f"[{together}] = {arrive(together, device)}")

    def _give(self, leaf: Leaf) -> str:
        if isinstance(leaf.source, Packed):
            return self.dialect.give(self._packed(leaf.source))
        text = self._flat(Ref(leaf.source, leaf.path))
        # An exported segment may hand an input on.
        sliced = isinstance(leaf.source, Output) and leaf.source.node in self.sliced
        text = self.detach(text) if sliced else text
        return text if leaf in self.plan.kept else self.dialect.give(text)

    # Nodes.

    def _emit_nodes(self, nodes: Sequence[Node]) -> None:
        nodes = [node for node in nodes if not isinstance(node, VariablesOf | JoinedVariables)]
        span = last_span(nodes, self.plan.slices) if self.transforms else None
        if span is None:
            self._emit_run(nodes)
        else:
            first, last = span
            self._emit_nodes(nodes[:first])
            self._emit_differentiated(nodes[first : last + 1])
            self._emit_run(nodes[last + 1 :])

    def _emit_run(self, nodes: Sequence[Node]) -> None:
        if self.plan.built.contracted or self.transforms:
            self._emit_flat(nodes)
            return
        for call, run in groupby(nodes, self._inner_call):
            if call is None:
                self._emit_flat(list(run))
            else:
                self._emit_call(self.plan.built.graph.calls[call], list(run))

    def _emit_flat(self, nodes: Sequence[Node]) -> None:
        around = self.in_slice
        for node in nodes:
            if not (self.in_slice and isinstance(node, Gradients)):
                self._switch(node.id in self.sliced)
            if isinstance(node, Gradients):
                self.function.lines.append(self._gradients(node))
            elif isinstance(node, Loop | Branch):
                with self._data_of(node):
                    self._emit_loop(node) if isinstance(node, Loop) else self._emit_branch(node)
            elif isinstance(node, GraphFunctionCall):
                self.function.lines.append(self._call(node))
                for output in outputs_of(node) if node.host else ():
                    self._emit_blocks(output)
            for output in outputs_of(node):
                if output in self.plan.copies:
                    self._emit_copy(output)
        self._switch(around)

    def _emit_differentiated(self, nodes: Sequence[Node]) -> None:
        """The function of a derivative, and the derivative, which is the last of `nodes`."""
        *inside, derivative = nodes
        assert isinstance(derivative, Gradients)
        function = self.function
        name = function.fresh(f"differentiated_{derivative.id}")
        with function.block(f"def {name}():"):
            self._emit_nodes(inside)
            # Only now: an emitted loop decides what its results are called.
            made = [n for node in inside for output in outputs_of(node) for n in self._names(Ref(output))]
            results = literal(tuple, list(enumerate(made)))
            function.lines.append(f"return {self._expression(derivative.loss)}, {results}")
        derive = function.bind(f"gradients_{derivative.id}", self._derive(derivative))
        function.lines.append(f"{results}, {function.local(Leaf(Output(derivative.id)))} = {derive}({name})")

    # Calls of API methods that stay calls.

    def _inner_call(self, node: Node) -> int | None:
        """The API call next further in on the way to `node`; None if it is here."""
        calls, caller, chain = self.plan.built.graph.calls, node.caller, list[int]()
        while caller is not None:
            chain.append(caller)
            caller = calls[caller].caller
        return chain[-1 - self.depth] if len(chain) > self.depth else None

    def _emit_call(self, call: ApiCall, nodes: Sequence[Node]) -> None:
        function = self.function
        name = function.fresh(identifier(call.component, call.method))
        made = [output for node in nodes for output in outputs_of(node)]
        used = [
            ref for n in nodes for _, e in arguments_of(n) for ref in references(e) if ref.source not in made
        ]
        parameters = ", ".join(dict.fromkeys(name for ref in used for name in self._names(ref)))
        with function.block(f"def {name}({parameters}):"):
            self.depth += 1
            self._emit_nodes(nodes)
            self.depth -= 1
            results = ", ".join(name for output in made for name in self._names(Ref(output)))
            function.lines.append(f"return {results}")
        function.lines.append(f"{results} = {name}({parameters})" if results else f"{name}({parameters})")

    def _names(self, ref: Ref) -> list[str]:
        """The local names that hold a value."""
        if isinstance(ref.source, Output) and ref.source.node in self.called:
            return [self.function.local(Leaf(ref.source))]
        found = leaves(self.plan.built.value_of(ref), ref.path)
        return [
            self.function.local(Leaf(ref.source, path))
            for path, spec in found
            if isinstance(spec, TensorSpec)
        ]

    def _switch(self, in_slice: bool) -> None:
        if in_slice != self.in_slice:
            self.function.lines.extend(self.dialect.enter_slice if in_slice else self.dialect.leave_slice)
            self.in_slice = in_slice

    def _call(self, node: GraphFunctionCall) -> str:
        function, name = self._bind_function(node)
        argument = (lambda _node, _key, e: self._flat(e)) if node.host else self._argument
        call = self.function.call(
            function, name, [(key, argument(node, key, e)) for key, e in node.arguments]
        )
        outputs = [self.function.local(Leaf(output)) for output in outputs_of(node)]
        return f"{', '.join(outputs)} = {call}" if outputs else call

    # Lists of derivatives outside of the segment.

    def _flat(self, expression: Expression) -> str:
        """A value as it leaves the segment: lists of derivatives are flat tensors."""
        if isinstance(expression, Pack):
            return literal(expression.kind, [(key, self._flat(item)) for key, item in expression.items])
        text = self._expression(expression)
        derivatives = self.plan.built.value_of(expression)
        if not isinstance(derivatives, GradientList):
            return text
        assert isinstance(expression, Ref) and isinstance(expression.source, Output)
        if len(self.plan.built.layout.blocks(derivatives, self.cuts[expression.source.node])) == 1:
            return f"{text}[0]"
        return f"{self.function.share('concat', self.linker.ops.concat)}({text})"

    def _packed(self, source: Packed) -> str:
        """Several tensors as one flat one."""
        reshape, concat = (
            self.function.share(name, getattr(self.linker.ops, name)) for name in ("reshape", "concat")
        )
        parts = []
        for part in source.parts:
            text, value = self._expression(part), self.plan.built.value_of(part)
            if isinstance(value, GradientList):
                parts.append(f"*{text}")
            else:
                parts.append(text if len(value.shape) == 1 else f"{reshape}({text}, (-1,))")
        made = {part.source.node for part in source.parts if isinstance(part.source, Output)}
        text = f"{concat}([{', '.join(parts)}])"
        return self.detach(text) if made & self.sliced else text

    def _emit_blocks(self, output: Output) -> None:
        """Cut a flat tensor that enters the segment into the blocks of a list of derivatives, if it is one."""
        derivatives = self.plan.built.values[output]
        if isinstance(derivatives, GradientList):
            name, start, pieces = self.function.local(Leaf(output)), 0, list[str]()
            blocks = self.plan.built.layout.blocks(derivatives, self.cuts[output.node])
            for block in blocks:
                stop = start + block.stop - block.start
                pieces.append(f"{name}[{start}:{stop}]" if len(blocks) > 1 else name)
                start = stop
            self.function.lines.append(f"{name} = {literal(tuple, list(enumerate(pieces)))}")

    def _emit_copy(self, output: Output) -> None:
        for leaf, text in self._changed(output, self.dialect.copy):
            self.function.lines.append(f"{self.function.local(leaf)} = {text}")

    def _changed(self, output: Output, change: Callable[[str], str]) -> Iterator[tuple[Leaf, str]]:
        """What has a name of an output, with every tensor in it changed."""
        if output.node in self.called:
            leaf = Leaf(output)
            yield leaf, _mapped(change, self.function.local(leaf), self.plan.built.values[output])
        else:
            for leaf, _ in self.writer.leaves(output):
                yield leaf, change(self.function.local(leaf))

    def _derive(self, node: Gradients) -> Callable[[Any], Any]:
        """The backend's function that takes a derivative."""
        variables = self.plan.built.value_of(node.variables)
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        gradients = self.linker.gradients
        if isinstance(gradients, Transform):
            return gradients.derive(blocks)
        assert gradients is not None
        return gradients.derive(blocks, self._is_retained(node))

    def _gradients(self, node: Gradients) -> str:
        name = self.function.bind(f"gradients_{node.id}", self._derive(node))
        return f"{self.function.local(Leaf(Output(node.id)))} = {name}({self._expression(node.loss)})"

    def _is_retained(self, node: Gradients) -> bool:
        slices = self.plan.slices
        ids = [n.id for n in walk_nodes(self.plan.nodes)]
        later = ids[ids.index(node.id) + 1 :]
        return any(slices[node.id] & slices[other] for other in later if other in slices)

    def _bind_function(self, node: GraphFunctionCall) -> tuple[Any, str]:
        component, function = self.plan.built.graph.components[node.component], self._function(node)
        name = identifier(node.component, node.function)
        if node.host:
            assert self.linker.host is not None
            return function, self.function.bind(name, self.linker.host(node))
        effects, place = self.plan.built.effects[node.id], self.linker.place

        def bound(
            move: Callable[[Any], Any] = lambda handle: handle, ops: Any = self.linker.ops
        ) -> Callable[..., Any]:
            view = bind(
                component,
                lambda variable: variable if variable.host else move(self._handle(variable)),
                lambda slots: [move(block) for block in self._blocks(node, slots)],
            )
            if takes_noise(node):
                given = GivenDraws(ops)
                return given.taking(replace(self.linker, ops=given).link(function, view))
            linker = self.linker if ops is self.linker.ops else replace(self.linker, ops=ops)
            return linker.link(function, view, effects.draws)

        device = device_of(self.plan.built, node)
        writes = bool(effects.writes - effects.draws)
        linked = place(bound, device, writes) if place is not None and device else bound()
        return function, self.function.bind(name, linked)

    def _function(self, node: GraphFunctionCall) -> Any:
        return self.plan.built.graph.components[node.component].graph_function(node.function)

    def _handle(self, variable: Variable) -> Any:
        return variable if variable.host else self.linker.handle(variable)

    # Control flow.

    def _emit_loop(self, node: Loop) -> None:
        if self.linker.loop is None:
            emit_loop(self.writer, node, self._emit_region)
            return
        function, writer = self.function, self.writer
        carried = writer.leaves(Carried(node.id))
        collected = writer.leaves(Output(node.id, 1)) if node.collected is not None else []
        shape = LoopShape(
            tuple(spec for _, spec in carried),
            tuple(spec for _, spec in collected),
            self.plan.built.effects[node.id],
        )
        start = list(enumerate(writer.parts(node.carried, carried)))
        names = carried_names(writer, node)
        index, body = function.local(Leaf(Index(node.id))), function.fresh(f"body{node.id}")
        with function.block(f"def {body}({', '.join([index, *names])}):"):
            self._emit_region(node.region)
            parts = [
                literal(tuple, list(enumerate(writer.parts(node.leaving, carried)))),
                literal(tuple, list(enumerate(writer.parts(node.collected or Const(None), collected)))),
                "None" if node.stop is None else writer.tensor(node.stop, TensorSpec((), "bool")),
            ]
            function.lines.append(f"return {', '.join(parts)}")
        run = function.bind(f"loop{node.id}", self.linker.loop(shape))
        left = [
            literal(tuple, [(n, n) for n in some])
            for some in (names, [function.local(x) for x, _ in collected])
        ]
        call = f"{run}({self._expression(node.count)}, {body}, {literal(tuple, start)})"
        function.lines.append(f"{', '.join(left)} = {call}")

    def _emit_branch(self, node: Branch) -> None:
        if self.linker.branch is None:
            emit_branch(self.writer, node, self._emit_region)
            return
        function = self.function
        outputs = self.writer.leaves(Output(node.id))
        sides = []
        for side, region in (("then", node.then), ("otherwise", node.otherwise)):
            sides.append(function.fresh(f"{side}{node.id}"))
            with function.block(f"def {sides[-1]}():"):
                self._emit_region(region)
                parts = self.writer.parts(region.results, outputs)
                function.lines.append(f"return {literal(tuple, list(enumerate(parts)))}")
        effects = self.plan.built.effects[node.id]
        run = function.bind(
            f"branch{node.id}", self.linker.branch(tuple(spec for _, spec in outputs), effects)
        )
        left = literal(tuple, [(0, function.local(leaf)) for leaf, _ in outputs])
        function.lines.append(f"{left} = {run}({self._expression(node.predicate)}, {', '.join(sides)})")

    def _emit_region(self, region: Region) -> None:
        self._emit_nodes(region.nodes)

    @contextmanager
    def _data_of(self, node: Loop | Branch) -> Iterator[None]:
        """What is data to the derivatives taken inside has names of its own there, and no record of how it was made."""
        taken = any(isinstance(inner, Gradients) for region in regions_of(node) for inner in region.nodes)
        captured = dict.fromkeys(ref.source for ref in references(node.captured)) if taken else {}
        around: dict[Leaf, str] = {}
        for source in captured:
            if isinstance(source, Output) and source in self.data:
                for leaf, text in self._changed(source, self.detach):
                    around[leaf] = self.function.local(leaf)
                    self.function.adopt(leaf, self.function.fresh(f"data_{around[leaf]}"))
                    self.function.lines.append(f"{self.function.local(leaf)} = {text}")
        yield
        for leaf, name in around.items():
            self.function.adopt(leaf, name)

    def _handed_over(self, expression: Expression) -> str:
        """What enters or leaves a region. Outside of slices it takes no record of how it was made along."""
        text = self._expression(expression)
        made = {ref.source.node for ref in references(expression) if isinstance(ref.source, Output)}
        return self.detach(text) if made & self.sliced and not self.in_slice else text

    def _stack(self, name: str) -> str:
        return f"{self.function.share('stack', self.linker.ops.stack)}({name})"

    # Arguments.

    def _argument(self, node: GraphFunctionCall, key: str, expression: Expression) -> str:
        value = self.plan.built.value_of(expression)
        if isinstance(value, VariableList):
            return self.function.bind(f"{key}_{node.id}", self._blocks(node, value))
        return self._expression(expression)

    def _expression(self, expression: Expression) -> str:
        if isinstance(expression, Const):
            value = expression.value
            if value is None or isinstance(value, bool | int | str):
                return repr(value)
            return self.function.bind("constant", value)
        if isinstance(expression, Pack):
            return literal(expression.kind, [(k, self._expression(e)) for k, e in expression.items])
        source = expression.source
        if isinstance(source, Output) and source.node in self.called:
            return self.function.local(Leaf(source)) + "".join(f"[{key!r}]" for key in expression.path)
        return from_leaves(self.plan.built.value_of(expression), expression, self.function)

    # Lists of variables.

    def _list_cuts(self, nodes: Sequence[Node]) -> dict[int, set[int]]:
        """Per node the positions at which its lists of variables are cut, so that all lists pair up."""
        layout, components = self.plan.built.layout, self.plan.built.graph.components
        cuts: dict[int, set[int]] = {}
        for node in nodes:
            arguments = {name: self.plan.built.value_of(e) for name, e in arguments_of(node)}
            lists: list[Any] = [
                *tensor_arguments(arguments, VariableList),
                *tensor_arguments(arguments, GradientList),
            ]
            if lists and isinstance(node, GraphFunctionCall):
                lists.extend(slots_of(components[node.component]))
            cuts[node.id] = set().union(*(layout.cuts(variables) for variables in lists)) if lists else set()
        handed_on = [
            (ref.source.node, node.id)
            for node in nodes
            for _, expression in arguments_of(node)
            for ref in references(expression)
            if isinstance(ref.source, Output)
            if isinstance(self.plan.built.value_of(ref), GradientList)
        ]
        for producer, _ in handed_on:
            cuts.setdefault(producer, set())  # of another segment
        # From its last use back to where a list of derivatives is made, and from there on again.
        for producer, user in [*reversed(handed_on), *handed_on]:
            cuts[producer] |= cuts[user]
            cuts[user] |= cuts[producer]
        return cuts

    def _blocks(self, node: GraphFunctionCall, variables: VariableList | Slots) -> list[Any]:
        if self._function(node).per_variable:
            return [self._handle(variable) for variable in variables]
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        return [self.linker.block(block) for block in blocks]


def _mapped(change: Callable[[str], str], text: str, value: Value) -> str:
    """A value of which every tensor is changed, from its source."""
    if is_leaf(value):
        return change(text)
    kind, keys = (dict, value.keys()) if isinstance(value, dict) else (tuple, range(len(value)))
    return literal(kind, [(key, _mapped(change, f"{text}[{key!r}]", value[key])) for key in keys])
