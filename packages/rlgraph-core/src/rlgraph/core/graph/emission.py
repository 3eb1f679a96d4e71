"""Emission: a plan becomes readable Python source, registered with `linecache` so that tracebacks show it."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from rlgraph.core.graph.binding import bind, slots_of
from rlgraph.core.graph.inference import tensor_arguments
from rlgraph.core.graph.nodes import (
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Input,
    Node,
    Output,
    Pack,
    Ref,
    VariablesOf,
    arguments_of,
)
from rlgraph.core.graph.passes.segments import tensor_leaves
from rlgraph.core.graph.plan import Leaf, Plan, Segment
from rlgraph.core.graph.values import is_leaf
from rlgraph.core.graph.variables import Block, GradientList, Slots, Variable, VariableList
from rlgraph.core.ops.tensor_spec import TensorSpec

_serial = count()


@dataclass
class SourceFunction:
    """A function in the making: its lines and the names they use."""

    name: str
    parameters: list[str]
    lines: list[str] = field(default_factory=list)
    namespace: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        body = "\n".join(f"    {line}" for line in self.lines or ["pass"])
        return f"def {self.name}({', '.join(self.parameters)}):\n{body}\n"

    def compile(self) -> Callable[..., Any]:
        """The function, with its source attached as ``__source__``."""
        filename = f"<rlgraph plan {self.name} #{next(_serial)}>"
        source = self.source
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        scope = dict(self.namespace)
        exec(compile(source, filename, "exec"), scope)
        function: Callable[..., Any] = scope[self.name]
        function.__source__ = source  # type: ignore[attr-defined]
        return function


def identifier(scope: str, function: str) -> str:
    """``policy/dense-0`` and ``_dense`` become ``policy__dense_0__dense``."""
    return re.sub(r"\W", "_", scope.replace("/", "__")) + "__" + function.lstrip("_")


def leaf_name(leaf: Leaf) -> str:
    """The local name of a tensor that crosses the border of a segment."""
    source = leaf.source
    if isinstance(source, Input):
        base = source.name
    else:
        assert isinstance(source, Output)
        base = f"v{source.node}" + (f"_{source.index}" if source.index else "")
    return "_".join([base, *map(str, leaf.path)]) if leaf.path else base


def output_name(node: Node, index: int) -> str:
    """The local name of a node's output inside the segment that computes it."""
    return leaf_name(Leaf(Output(node.id, index)))


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
    """

    receive: Callable[[str], str]
    give: Callable[[str, bool], str]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    enter_slice: tuple[str, ...] = ()
    leave_slice: tuple[str, ...] = ()
    copy: Callable[[str], str] = "copy({})".format


@dataclass(frozen=True)
class Linker:
    """What the names in emitted source stand for on one backend.

    Attributes:
        backend: the backend's name (declared kernels are looked up under it).
        ops: its `ops` namespace.
        kernels: its own kernels by graph-function key.
        handle: gives what stands for a variable.
        block: gives what stands for a block of variables.
        gradients: ``(variables, blocks, retain) -> f(loss)``, returning one flat derivative per block; `retain` says
            that a later gradient goes through the same nodes.
    """

    backend: str
    ops: Any
    kernels: Mapping[str, Callable[..., Any]]
    handle: Callable[[Variable], Any]
    block: Callable[[Block], Any]
    gradients: Callable[[VariableList, Sequence[Block], bool], Callable[[Any], Any]] | None = None

    def implementation(self, function: Any) -> Callable[..., Any]:
        """The declared kernel of a graph function, else the backend's, else the single source."""
        return (  # type: ignore[no-any-return]
            function.kernels.get(self.backend) or self.kernels.get(function.key) or function.function
        )


def emit_segment(plan: Plan, segment: Segment, dialect: Dialect, linker: Linker) -> SourceFunction:
    """The source of one segment for one backend."""
    return _SegmentEmitter(plan, segment, dialect, linker).emit()


class _SegmentEmitter:
    def __init__(self, plan: Plan, segment: Segment, dialect: Dialect, linker: Linker):
        self.plan, self.segment, self.dialect, self.linker = plan, segment, dialect, linker
        self.inside = {node.id for node in segment.nodes}
        self.sliced = frozenset[int]().union(*plan.slices.values()) if plan.slices else frozenset()
        self.cuts = self._list_cuts()
        parameters = [leaf_name(leaf) for leaf, _ in segment.inputs]
        self.function = SourceFunction(f"{plan.name}__{segment.name}", parameters)

    def emit(self) -> SourceFunction:
        received = [(name, self.dialect.receive(name)) for name in self.function.parameters]
        body = [f"{name} = {text}" for name, text in received if text != name]
        in_slice = False
        for node in self.segment.nodes:
            lines = self._node(node)
            if lines:
                wanted = node.id in self.sliced
                if wanted != in_slice and not (in_slice and isinstance(node, Gradients)):
                    body.extend(self.dialect.enter_slice if wanted else self.dialect.leave_slice)
                    in_slice = wanted
                body.extend(lines)
        if in_slice:
            body.extend(self.dialect.leave_slice)
        outputs = [self._give(leaf) for leaf, _ in self.segment.outputs]
        body.append(f"return {', '.join(outputs)}" + ("," if len(outputs) == 1 else "") if outputs else "return ()")
        lines = self.function.lines
        lines.extend(self.dialect.before)
        if self.dialect.after:
            lines.append("try:")
            lines.extend(f"    {line}" for line in body)
            lines.append("finally:")
            lines.extend(f"    {line}" for line in self.dialect.after)
        else:
            lines.extend(body)
        return self.function

    def _give(self, leaf: Leaf) -> str:
        assert isinstance(leaf.source, Output)
        text = leaf_name(Leaf(leaf.source)) + "".join(f"[{key!r}]" for key in leaf.path)
        return self.dialect.give(text, leaf.source.node in self.sliced)

    # Nodes.

    def _node(self, node: Node) -> list[str]:
        if isinstance(node, VariablesOf):
            return []
        if isinstance(node, Gradients):
            return [self._gradients(node)]
        name = self._bind_function(node)
        arguments = ", ".join(self._argument(node, key, e) for key, e in node.arguments)
        call = f"{name}({arguments})"
        outputs = [output_name(node, i) for i in range(node.returns)]
        line = f"{', '.join(outputs)} = {call}" if outputs else call
        copied = [i for i in range(node.returns) if Output(node.id, i) in self.plan.copies]
        return [line, *(f"{outputs[i]} = {self.dialect.copy(outputs[i])}" for i in copied)]

    def _gradients(self, node: Gradients) -> str:
        assert self.linker.gradients is not None
        variables = self.plan.built.value_of(node.variables)
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        name = self._name(f"gradients_{node.id}", self.linker.gradients(variables, blocks, self._is_retained(node)))
        return f"{output_name(node, 0)} = {name}({self._expression(node.loss)})"

    def _is_retained(self, node: Gradients) -> bool:
        slices = self.plan.slices
        position = [n.id for n in self.plan.nodes].index(node.id)
        later = (n.id for n in self.plan.nodes[position + 1 :])
        return any(slices[node.id] & slices[other] for other in later if other in slices)

    def _bind_function(self, node: GraphFunctionCall) -> str:
        component = self.plan.built.graph.components[node.component]
        function = component.graph_functions()[node.function]
        blocks = partial(self._blocks, node)
        view = bind(component, self._handle, blocks)
        bound = partial(self.linker.implementation(function), view, self.linker.ops)
        return self._name(identifier(node.component, node.function), bound)

    def _handle(self, variable: Variable) -> Any:
        return variable if variable.host else self.linker.handle(variable)

    def _name(self, wanted: str, value: Any) -> str:
        name, number = wanted, 2
        while name in self.function.namespace or name in self.function.parameters:
            name, number = f"{wanted}_{number}", number + 1
        self.function.namespace[name] = value
        return name

    # Arguments.

    def _argument(self, node: GraphFunctionCall, key: str, expression: Expression) -> str:
        value = self.plan.built.value_of(expression)
        if isinstance(value, VariableList):
            return self._name(f"{key}_{node.id}", self._blocks(node, value))
        return self._expression(expression)

    def _expression(self, expression: Expression) -> str:
        if isinstance(expression, Const):
            value = expression.value
            if value is None or isinstance(value, bool | int | str):
                return repr(value)
            return self._name("constant", value)
        if isinstance(expression, Pack):
            return _literal(expression.kind, [(k, self._expression(e)) for k, e in expression.items])
        source = expression.source
        if isinstance(source, Output) and source.node in self.inside:
            return leaf_name(Leaf(source)) + "".join(f"[{key!r}]" for key in expression.path)
        return _outside(self.plan, expression)

    # Lists of variables.

    def _list_cuts(self) -> dict[int, set[int]]:
        """Per node the positions at which its lists of variables are cut, so that all lists pair up."""
        layout, components = self.plan.built.layout, self.plan.built.graph.components
        cuts: dict[int, set[int]] = {}
        for node in self.segment.nodes:
            arguments = {name: self.plan.built.value_of(e) for name, e in arguments_of(node)}
            lists: list[Any] = [
                *tensor_arguments(arguments, VariableList),
                *tensor_arguments(arguments, GradientList),
            ]
            if lists and isinstance(node, GraphFunctionCall):
                lists.extend(slots_of(components[node.component]))
            cuts[node.id] = set().union(*(layout.cuts(variables) for variables in lists)) if lists else set()
        for node in self.segment.nodes:
            if isinstance(node, GraphFunctionCall):
                for _, expression in node.arguments:
                    if isinstance(expression, Ref) and isinstance(expression.source, Output):
                        producer = expression.source.node
                        if isinstance(self.plan.built.graph.nodes.get(producer), Gradients) and producer in cuts:
                            cuts[producer] |= cuts[node.id]
                            cuts[node.id] |= cuts[producer]
        return cuts

    def _blocks(self, node: GraphFunctionCall, variables: VariableList | Slots) -> list[Any]:
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        return [self.linker.block(block) for block in blocks]


def _outside(plan: Plan, ref: Ref) -> str:
    """A value made outside the function: its leaves have names, a container is a literal of them."""
    value = plan.built.value_of(ref)
    if is_leaf(value):
        return leaf_name(Leaf(ref.source, ref.path))
    items = value.keys() if isinstance(value, dict) else range(len(value))
    kind = dict if isinstance(value, dict) else tuple
    return _literal(kind, [(k, _outside(plan, Ref(ref.source, (*ref.path, k)))) for k in items])


def _literal(kind: type, items: list[tuple[Any, str]]) -> str:
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in items) + "}"
    return "(" + "".join(f"{text}, " for _, text in items).rstrip() + ")" if items else "()"


def emit_driver(
    plan: Plan,
    lowered: Mapping[str, Callable[..., Any]],
    host_view: Callable[[str], Any],
    convert: Callable[[str, Leaf, TensorSpec], Callable[[Any], np.ndarray]],
) -> SourceFunction:
    """The function a caller of the API method runs: checks inputs, calls host functions and segments.

    Args:
        plan: the plan.
        lowered: segment name -> what the backend made of it; NumPy in, NumPy out.
        host_view: scope -> the view of a component its host functions run on.
        convert: makes the function that turns an unfit input into an array or raises.
    """
    built = plan.built
    method = built.graph.methods[plan.name]
    function = SourceFunction(plan.name, [])
    namespace = function.namespace
    namespace["ndarray"] = np.ndarray
    for name in method.parameters:
        if name in method.defaults:
            namespace[f"default_{name}"] = method.defaults[name]
            function.parameters.append(f"{name}=default_{name}")
        else:
            function.parameters.append(name)
    for leaf, spec in _used_inputs(plan):
        _emit_check(function, plan, leaf, spec, convert)
    for step in plan.steps:
        if isinstance(step, Segment):
            namespace[step.name] = lowered[step.name]
            outputs = "".join(f"{leaf_name(leaf)}, " for leaf, _ in step.outputs)
            call = f"{step.name}({', '.join(leaf_name(leaf) for leaf, _ in step.inputs)})"
            function.lines.append(f"{outputs.rstrip()} = {call}" if outputs else call)
        else:
            node = step.node
            component = built.graph.components[node.component]
            name = identifier(node.component, node.function)
            namespace[name] = partial(component.graph_functions()[node.function].function, host_view(node.component))
            arguments = ", ".join(_driver_expression(plan, e, namespace) for _, e in node.arguments)
            outputs_list = [output_name(node, i) for i in range(node.returns)]
            call = f"{name}({arguments})"
            function.lines.append(f"{', '.join(outputs_list)} = {call}" if outputs_list else call)
            for index in range(node.returns):
                _emit_host_output(function, plan, Output(node.id, index), index in step.copies)
    result = _driver_expression(plan, plan.results, namespace)
    function.lines.append(f"return {result}" if result != "()" else "return None")
    return function


def _emit_host_output(function: SourceFunction, plan: Plan, output: Output, copied: bool) -> None:
    """Give every leaf of a host output its own name; copy it if the host may overwrite it."""

    def visit(value: Any, path: tuple[Any, ...]) -> None:
        if isinstance(value, TensorSpec):
            text = leaf_name(Leaf(output)) + "".join(f"[{key!r}]" for key in path)
            if copied:
                function.namespace["copy_array"] = np.array
                text = f"copy_array({text})"
            if path or copied:
                function.lines.append(f"{leaf_name(Leaf(output, path))} = {text}")
            return
        for key in value if isinstance(value, dict) else range(len(value)):
            visit(value[key], (*path, key))

    visit(plan.built.values[output], ())


def _used_inputs(plan: Plan) -> list[tuple[Leaf, TensorSpec]]:
    expressions = [e for node in plan.nodes for _, e in arguments_of(node)]
    used = tensor_leaves(plan.built, [*expressions, plan.results])
    return [(leaf, spec) for leaf, spec in used.items() if isinstance(leaf.source, Input)]


def _emit_check(
    function: SourceFunction,
    plan: Plan,
    leaf: Leaf,
    spec: TensorSpec,
    convert: Callable[[str, Leaf, TensorSpec], Callable[[Any], np.ndarray]],
) -> None:
    """Three cheap looks at an input; whatever is not exactly right goes through the careful conversion."""
    assert isinstance(leaf.source, Input)
    name = leaf_name(leaf)
    if leaf.path:
        path = "".join(f"[{key!r}]" for key in leaf.path)
        function.lines.append(f"{name} = {leaf.source.name}{path}")
    function.namespace[f"convert_{name}"] = convert(plan.name, leaf, spec)
    function.namespace[f"dtype_{name}"] = np.dtype(spec.dtype)
    conditions = [f"type({name}) is not ndarray", f"{name}.dtype is not dtype_{name}"]
    fixed = [dim if isinstance(dim, int) else None for dim in spec.shape]
    leading = next((i for i, dim in enumerate(fixed) if dim is not None), len(fixed))
    conditions.append(f"{name}.ndim != {len(fixed)}")
    if leading < len(fixed) and None not in fixed[leading:]:
        tail = f"{name}.shape[{leading}:]" if leading else f"{name}.shape"
        conditions.append(f"{tail} != {tuple(fixed[leading:])!r}")
    function.lines.append(f"if {' or '.join(conditions)}:")
    function.lines.append(f"    {name} = convert_{name}({name})")


def _driver_expression(plan: Plan, expression: Expression, namespace: dict[str, Any]) -> str:
    if isinstance(expression, Const):
        name = f"constant_{len(namespace)}"
        namespace[name] = expression.value
        return name
    if isinstance(expression, Pack):
        items = [(key, _driver_expression(plan, item, namespace)) for key, item in expression.items]
        return _literal(expression.kind, items)
    return _outside(plan, expression)
