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

from rlgraph.core.errors import CapabilityError, InputError, RLGraphError
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
    Path,
    Ref,
    Source,
    VariablesOf,
    arguments_of,
    label,
)
from rlgraph.core.graph.passes.segments import tensor_leaves
from rlgraph.core.graph.plan import HostStep, Leaf, Plan, Segment
from rlgraph.core.graph.values import Value, describe, is_leaf
from rlgraph.core.graph.variables import Block, GradientList, Slots, Variable, VariableList
from rlgraph.core.ops.tensor_spec import TensorSpec

_serial = count()


class SourceFunction:
    """A function in the making: its lines, and the names they use.

    No two things share a name, whatever a user's arguments, keys and scopes are called.

    Args:
        name: the function's name.
        parameters: names its callers use.
        namespace: what its lines refer to by fixed names.
    """

    def __init__(self, name: str, parameters: Sequence[str] = (), namespace: Mapping[str, Any] | None = None):
        self.name = name
        self.parameters = list(parameters)
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = dict(namespace or {})
        self._taken = {name, *self.parameters, *self.namespace}
        self._leaves: dict[Leaf, str] = {}

    def fresh(self, wanted: str) -> str:
        """`wanted`, or that with a number behind it if it is taken."""
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name

    def bind(self, wanted: str, value: Any) -> str:
        """The name, at best `wanted`, by which the lines can refer to `value`."""
        name = self.fresh(wanted)
        self.namespace[name] = value
        return name

    def share(self, wanted: str, value: Any) -> str:
        """As `bind`; the same value again has the same name."""
        known = (name for name, other in self.namespace.items() if other is value)
        return next(known, None) or self.bind(wanted, value)

    def local(self, leaf: Leaf) -> str:
        """The local name of a tensor."""
        if leaf not in self._leaves:
            self._leaves[leaf] = self.fresh(leaf_name(leaf))
        return self._leaves[leaf]

    def adopt(self, leaf: Leaf, name: str) -> None:
        """Let a tensor have a name that stands already."""
        self._leaves[leaf] = name

    def call(self, function: Any, name: str, arguments: Sequence[tuple[str, str]]) -> str:
        """Source of a call of a graph function bound to `name`."""
        texts = (f"{key}={text}" if key in function.keywords else text for key, text in arguments)
        return f"{name}({', '.join(texts)})"

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
    """What a tensor is called in emitted source, unless the name is taken there."""
    source = leaf.source
    if isinstance(source, Input):
        base = source.name
    else:
        assert isinstance(source, Output)
        base = f"v{source.node}" + (f"_{source.index}" if source.index else "")
    return "_".join([base, *(re.sub(r"\W", "_", str(key)) for key in leaf.path)])


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
        namespace: what these lines refer to, by name; names they assign to stand for None.
    """

    receive: Callable[[str], str]
    give: Callable[[str, bool], str]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    enter_slice: tuple[str, ...] = ()
    leave_slice: tuple[str, ...] = ()
    copy: Callable[[str], str] = "copy({})".format
    namespace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Linker:
    """What the names in emitted source stand for on one backend.

    Attributes:
        backend: the backend's name (declared kernels are looked up under it).
        ops: its `ops` namespace.
        kernels: makers of its own kernels by graph-function key: ``(view, ops) -> function``, called once, so that
            variables and choices are looked up before the plan runs.
        handle: gives what stands for a variable.
        block: gives what stands for a block of variables.
        gradients: ``(variables, blocks, retain) -> f(loss)``, returning one flat derivative per block; `retain` says
            that a later gradient goes through the same nodes.
        use_kernels: False leaves out kernels of every kind.
    """

    backend: str
    ops: Any
    kernels: Mapping[str, Callable[[Any, Any], Callable[..., Any]]]
    handle: Callable[[Variable], Any]
    block: Callable[[Block], Any]
    gradients: Callable[[VariableList, Sequence[Block], bool], Callable[[Any], Any]] | None = None
    use_kernels: bool = True

    def link(self, function: Any, view: Any) -> Callable[..., Any]:
        """A graph function bound to a component's view: its declared kernel, the backend's, or the single source."""
        if self.use_kernels or function.kernels_only:
            if self.backend in function.kernels:
                return partial(function.kernels[self.backend], view, self.ops)
            if function.key in self.kernels:
                return self.kernels[function.key](view, self.ops)
        if function.kernels_only:
            raise CapabilityError(
                f"{view.scope_path}.{function.name} has kernels for {', '.join(sorted(function.kernels))} only: "
                f"it cannot run on {self.backend}"
            )
        return partial(function.function, view, self.ops)


def emit_segment(plan: Plan, segment: Segment, dialect: Dialect, linker: Linker) -> SourceFunction:
    """The source of one segment for one backend."""
    return _SegmentEmitter(plan, segment, dialect, linker).emit()


class _SegmentEmitter:
    def __init__(self, plan: Plan, segment: Segment, dialect: Dialect, linker: Linker):
        self.plan, self.segment, self.dialect, self.linker = plan, segment, dialect, linker
        self.inside = {node.id for node in segment.nodes}
        self.sliced = frozenset[int]().union(*plan.slices.values()) if plan.slices else frozenset()
        self.cuts = self._list_cuts()
        self.function = SourceFunction(f"{plan.name}__{segment.name}", namespace=dialect.namespace)
        self.function.parameters = [self.function.local(leaf) for leaf, _ in segment.inputs]

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
        body.append(
            f"return {', '.join(outputs)}" + ("," if len(outputs) == 1 else "") if outputs else "return ()"
        )
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
        return self.dialect.give(self._part(leaf.source, leaf.path), leaf.source.node in self.sliced)

    def _part(self, source: Source, path: Path) -> str:
        """A part of what a node of this segment computed."""
        return self.function.local(Leaf(source)) + "".join(f"[{key!r}]" for key in path)

    # Nodes.

    def _node(self, node: Node) -> list[str]:
        if isinstance(node, VariablesOf):
            return []
        if isinstance(node, Gradients):
            return [self._gradients(node)]
        function, name = self._bind_function(node)
        call = self.function.call(
            function, name, [(key, self._argument(node, key, e)) for key, e in node.arguments]
        )
        outputs = [self.function.local(Leaf(Output(node.id, i))) for i in range(node.returns)]
        line = f"{', '.join(outputs)} = {call}" if outputs else call
        copied = [i for i in range(node.returns) if Output(node.id, i) in self.plan.copies]
        values = self.plan.built.values
        return [
            line,
            *(f"{outputs[i]} = {self._copied(outputs[i], values[Output(node.id, i)])}" for i in copied),
        ]

    def _copied(self, text: str, value: Value) -> str:
        """A value whose every tensor is a copy."""
        if is_leaf(value):
            return self.dialect.copy(text)
        kind, keys = (dict, value.keys()) if isinstance(value, dict) else (tuple, range(len(value)))
        return _literal(kind, [(key, self._copied(f"{text}[{key!r}]", value[key])) for key in keys])

    def _gradients(self, node: Gradients) -> str:
        assert self.linker.gradients is not None
        variables = self.plan.built.value_of(node.variables)
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        derive = self.linker.gradients(variables, blocks, self._is_retained(node))
        name = self.function.bind(f"gradients_{node.id}", derive)
        return f"{self.function.local(Leaf(Output(node.id)))} = {name}({self._expression(node.loss)})"

    def _is_retained(self, node: Gradients) -> bool:
        slices = self.plan.slices
        position = [n.id for n in self.plan.nodes].index(node.id)
        later = (n.id for n in self.plan.nodes[position + 1 :])
        return any(slices[node.id] & slices[other] for other in later if other in slices)

    def _bind_function(self, node: GraphFunctionCall) -> tuple[Any, str]:
        component, function = self.plan.built.graph.components[node.component], self._function(node)
        blocks = partial(self._blocks, node)
        view = bind(component, self._handle, blocks)
        bound = self.linker.link(function, view)
        return function, self.function.bind(identifier(node.component, node.function), bound)

    def _function(self, node: GraphFunctionCall) -> Any:
        return self.plan.built.graph.components[node.component].graph_functions()[node.function]

    def _handle(self, variable: Variable) -> Any:
        return variable if variable.host else self.linker.handle(variable)

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
            return _literal(expression.kind, [(k, self._expression(e)) for k, e in expression.items])
        source = expression.source
        if isinstance(source, Output) and source.node in self.inside:
            return self._part(source, expression.path)
        return _outside(self.plan, expression, self.function)

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
                        if (
                            isinstance(self.plan.built.graph.nodes.get(producer), Gradients)
                            and producer in cuts
                        ):
                            cuts[producer] |= cuts[node.id]
                            cuts[node.id] |= cuts[producer]
        return cuts

    def _blocks(self, node: GraphFunctionCall, variables: VariableList | Slots) -> list[Any]:
        if self._function(node).per_variable:
            return [self._handle(variable) for variable in variables]
        blocks = self.plan.built.layout.blocks(variables, self.cuts[node.id])
        return [self.linker.block(block) for block in blocks]


def _outside(plan: Plan, ref: Ref, function: SourceFunction) -> str:
    """A value made outside the function: its leaves have names, a container is a literal of them."""
    value = plan.built.value_of(ref)
    if is_leaf(value):
        return function.local(Leaf(ref.source, ref.path))
    items = value.keys() if isinstance(value, dict) else range(len(value))
    kind = dict if isinstance(value, dict) else tuple
    return _literal(kind, [(k, _outside(plan, Ref(ref.source, (*ref.path, k)), function)) for k in items])


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
    function = SourceFunction(plan.name, method.parameters)
    for name in method.parameters:
        function.adopt(Leaf(Input(plan.name, name)), name)
    function.parameters = [
        f"{name}={function.bind(f'default_{name}', method.defaults[name])}"
        if name in method.defaults
        else name
        for name in method.parameters
    ]
    inputs = _used_inputs(plan)
    _emit_parts(function, plan, [leaf for leaf, _ in inputs])
    for leaf, spec in inputs:
        _emit_check(function, leaf, spec, convert(plan.name, leaf, spec))
    for step in plan.steps:
        if isinstance(step, Segment):
            outputs = "".join(f"{function.local(leaf)}, " for leaf, _ in step.outputs)
            name = function.bind(step.name, lowered[step.name])
            call = f"{name}({', '.join(function.local(leaf) for leaf, _ in step.inputs)})"
            function.lines.append(f"{outputs.rstrip()} = {call}" if outputs else call)
        else:
            _emit_host_step(function, plan, step, host_view(step.node.component))
    result = _driver_expression(plan, plan.results, function)
    function.lines.append(f"return {result}" if result != "()" else "return None")
    return function


def _emit_host_step(function: SourceFunction, plan: Plan, step: HostStep, view: Any) -> None:
    node = step.node
    host_function = plan.built.graph.components[node.component].graph_functions()[node.function]
    name = function.bind(identifier(node.component, node.function), partial(host_function.function, view))
    arguments = [(key, _driver_expression(plan, e, function)) for key, e in node.arguments]
    call = function.call(host_function, name, arguments)
    outputs = [Output(node.id, i) for i in range(node.returns)]
    names = ", ".join(function.local(Leaf(output)) for output in outputs)
    function.lines.append(f"{names} = {call}" if names else call)
    copy = function.share("copy_array", np.array) if step.copies else ""
    for output in outputs:
        _emit_host_output(function, plan, output, copy if output.index in step.copies else "")


def _emit_host_output(function: SourceFunction, plan: Plan, output: Output, copy: str) -> None:
    """Give every leaf of a host output its own name; copy it if the host may overwrite it, convert it if need be."""
    where = label(plan.built.graph.nodes[output.node])

    def visit(value: Any, path: Path) -> None:
        if isinstance(value, TensorSpec):
            text, leaf = (
                function.local(Leaf(output)) + "".join(f"[{key!r}]" for key in path),
                Leaf(output, path),
            )
            if path or copy:
                function.lines.append(f"{function.local(leaf)} = {f'{copy}({text})' if copy else text}")
            _emit_check(function, leaf, value, _host_converter(where, value))
            return
        for key in value if isinstance(value, dict) else range(len(value)):
            visit(value[key], (*path, key))

    visit(plan.built.values[output], ())


def _host_converter(where: str, spec: TensorSpec) -> Callable[[Any], np.ndarray]:
    """Makes an array of what a host function returned: a number, an array of another dtype."""

    def convert(value: Any) -> np.ndarray:
        array = np.asarray(value)
        if array.ndim != len(spec.shape) or not np.can_cast(array.dtype, spec.dtype, "same_kind"):
            given = f"{array.dtype}{list(array.shape)}"
            raise RLGraphError(f"host function {where}: it declares {spec} and returned {given}")
        return array.astype(spec.dtype, copy=False)

    return convert


def _used_inputs(plan: Plan) -> list[tuple[Leaf, TensorSpec]]:
    expressions = [e for node in plan.nodes for _, e in arguments_of(node)]
    used = tensor_leaves(plan.built, [*expressions, plan.results])
    return [(leaf, spec) for leaf, spec in used.items() if isinstance(leaf.source, Input)]


def _emit_parts(function: SourceFunction, plan: Plan, leaves: Sequence[Leaf]) -> None:
    """Take the leaves of containers apart; whatever has another structure is refused."""
    for source in dict.fromkeys(leaf.source for leaf in leaves if leaf.path):
        assert isinstance(source, Input)
        refuse = partial(_wrong_structure, plan.name, source.name, describe(plan.built.values[source]))
        function.lines.append("try:")
        for leaf in leaves:
            if leaf.source == source:
                text = source.name + "".join(f"[{key!r}]" for key in leaf.path)
                function.lines.append(f"    {function.local(leaf)} = {text}")
        function.lines.append(f"except {function.share('part_errors', _PART_ERRORS)}:")
        function.lines.append(
            f"    raise {function.bind(f'refuse_{source.name}', refuse)}({source.name}) from None"
        )


_PART_ERRORS = (LookupError, TypeError)


def _wrong_structure(method: str, name: str, expected: str, value: Any) -> InputError:
    return InputError(f"{method}: argument {name}: expected {expected}, given {_structure(value)}")


def _structure(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_structure(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_structure, value)) + ")"
    return type(value).__name__


def _emit_check(
    function: SourceFunction, leaf: Leaf, spec: TensorSpec, convert: Callable[[Any], np.ndarray]
) -> None:
    """Three cheap looks at an array; whatever is not exactly right goes through the careful conversion."""
    name, wanted = function.local(leaf), leaf_name(leaf)
    type_of, ndarray = function.share("type", type), function.share("ndarray", np.ndarray)
    dtype = function.share(f"dtype_{spec.dtype}", np.dtype(spec.dtype))
    conditions = [f"{type_of}({name}) is not {ndarray}", f"{name}.dtype is not {dtype}"]
    fixed = [dim if isinstance(dim, int) else None for dim in spec.shape]
    leading = next((i for i, dim in enumerate(fixed) if dim is not None), len(fixed))
    conditions.append(f"{name}.ndim != {len(fixed)}")
    if leading < len(fixed) and None not in fixed[leading:]:
        tail = f"{name}.shape[{leading}:]" if leading else f"{name}.shape"
        conditions.append(f"{tail} != {tuple(fixed[leading:])!r}")
    function.lines.append(f"if {' or '.join(conditions)}:")
    function.lines.append(f"    {name} = {function.bind(f'convert_{wanted}', convert)}({name})")


def _driver_expression(plan: Plan, expression: Expression, function: SourceFunction) -> str:
    if isinstance(expression, Const):
        return function.bind("constant", expression.value)
    if isinstance(expression, Pack):
        items = [(key, _driver_expression(plan, item, function)) for key, item in expression.items]
        return _literal(expression.kind, items)
    return _outside(plan, expression, function)
