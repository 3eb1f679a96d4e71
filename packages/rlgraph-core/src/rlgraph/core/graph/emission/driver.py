"""Emission of the driver: what a caller of an API method runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NoReturn, Protocol

import numpy as np

from rlgraph.core.errors import InputError, RLGraphError
from rlgraph.core.graph.emission.control_flow import Writer, emit_branch, emit_loop
from rlgraph.core.graph.emission.source import SourceFunction, from_leaves, identifier, leaf_name, literal
from rlgraph.core.graph.nodes import (
    Branch,
    Const,
    Expression,
    GraphFunctionCall,
    Input,
    Loop,
    Output,
    Pack,
    Path,
    Ref,
    label,
    outputs_of,
)
from rlgraph.core.graph.passes.draws_ahead import size_text
from rlgraph.core.graph.passes.packing import summands
from rlgraph.core.graph.plan import (
    BranchStep,
    CollectiveStep,
    DrawStep,
    FlatStep,
    HostStep,
    Leaf,
    LoopStep,
    Plan,
    Segment,
    Step,
    tensor_leaves,
)
from rlgraph.core.graph.values import Value, as_tensors, describe, leaves
from rlgraph.core.numpy.random import DRAWS
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec


def emit_driver(
    plan: Plan,
    lowered: Mapping[str, Callable[..., Any]],
    host_view: Callable[[str], Any],
    convert: Callable[[str, Leaf, TensorSpec], Callable[[Any], np.ndarray]],
    guard: Callable[[FlatStep], Any] = lambda step: None,
    stream: Callable[[str], Any] = lambda name: None,
    group: LearnerGroup | None = None,
    receive: Callable[[np.ndarray], Any] | None = None,
) -> SourceFunction:
    """The function a caller of the API method runs: checks inputs, calls host functions and segments.

    Args:
        plan: the plan.
        lowered: segment name -> what the backend made of it; NumPy in, NumPy out.
        host_view: scope -> the view of a component its host functions run on.
        convert: makes the function that turns an unfit input into an array or raises.
        guard: the context manager in which a step runs, if it needs one.
        stream: name -> the NumPy generator from which a `DrawStep` draws.
        group: how this learner reaches the others; None: a plan with collectives is shown, not run.
        receive: makes the backend's tensor of an argument that stays one; None: there are no such tensors.
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
    inputs = plan.inputs
    _emit_parts(function, plan, [leaf for leaf, _ in inputs])
    steps = _Steps(function, plan, lowered, host_view, guard, stream, group)
    steps.emit_fast_path()
    for leaf, spec in inputs:
        _emit_check(function, leaf, spec, convert(plan.name, leaf, spec))
    for names in method.size_groups or (method.parameters,):
        sized = [(leaf, spec) for leaf, spec in inputs if leaf.source in {Input(plan.name, n) for n in names}]
        _emit_sizes(function, plan.name, sized, InputError)
    with _together(function, plan, group):
        steps.emit_tensors(receive)
        steps.emit(plan.steps)
        result = _driver_expression(plan, plan.results, function)
        function.lines.append(f"return {result}" if result != "()" else "return None")
    return function


class LearnerGroup(Protocol):
    """How the programs of a learner reach the others."""

    def together(self, plan: Plan) -> AbstractContextManager[Any]:
        """What a whole plan with collectives runs in: alone in this learner, on all learners."""

    def reduction(
        self,
        shapes: Sequence[tuple[int, ...]],
        divided_by: Sequence[int | None],
        numbers: int,
        large_by: Sequence[int | None],
    ) -> Callable[..., Sequence[np.ndarray]]:
        """``f(flat, *large) -> sums`` over all learners.

        Args:
            shapes: of the small arrays, which are one after the other in `flat`, with the numbers at its end.
            divided_by: for each of them the position of the number by whose sum its sum is divided.
            numbers: how many numbers there are.
            large_by: as `divided_by`, for each large array.
        """


def _together(
    function: SourceFunction, plan: Plan, group: LearnerGroup | None
) -> AbstractContextManager[None]:
    if group is None or not plan.collectives:
        return nullcontext()
    return function.block(f"with {function.bind('together', group.together(plan))}:")


class _Steps:
    """Writes steps into a driver."""

    def __init__(
        self,
        function: SourceFunction,
        plan: Plan,
        lowered: Mapping[str, Callable[..., Any]],
        host_view: Callable[[str], Any],
        guard: Callable[[FlatStep], Any],
        stream: Callable[[str], Any],
        group: LearnerGroup | None,
    ):
        self.function, self.plan, self.lowered, self.host_view = function, plan, lowered, host_view
        self.guard, self.stream, self.group = guard, stream, group
        self.tensors: dict[Leaf, str] = {}
        text = partial(_driver_expression, plan, function=function)
        self.writer = Writer(function, plan.built, text, self._copied, self._copied, self._stack)

    def emit_fast_path(self) -> None:
        """If the plan is one call whose function has a fast path, emit that first, before all checks."""
        node = _only_call(self.plan)
        given = None if node is None else _given_leaves(self.plan, Pack(tuple, node.arguments))
        if node is None or given is None:
            return
        function = self.plan.built.graph.components[node.component].graph_function(node.function)
        view = self.host_view(node.component)
        fast = None if function.make_fast is None or view is None else function.make_fast(view)
        if fast is None:
            return
        name = self.function.bind(f"fast_{identifier(node.component, node.function)}", fast)
        call = f"{name}({', '.join(map(self.function.local, given))})"
        with self._guarded(HostStep(node, frozenset())):
            self.function.lines.extend([f"if {call}:", "    return None"])

    def emit_tensors(self, receive: Callable[[np.ndarray], Any] | None) -> None:
        """Convert the arguments that segments use repeatedly; host functions get the arrays."""
        for leaf, _ in self.plan.inputs:
            if receive is not None and leaf in self.plan.kept:
                name = self.function.local(leaf)
                self.tensors[leaf] = self.function.fresh(f"{name}_tensor")
                to_tensor = self.function.share("to_tensor", receive)
                self.function.lines.append(f"{self.tensors[leaf]} = {to_tensor}({name})")

    def emit(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, FlatStep):
                self._emit_guarded(step)
                continue
            if isinstance(step, LoopStep):
                self._emit_loop(step)
            else:
                self._emit_branch(step)
            self._emit_copies(step.node)

    def _emit_guarded(self, step: FlatStep) -> None:
        with self._guarded(step):
            if isinstance(step, Segment):
                self._emit_segment(step)
            elif isinstance(step, DrawStep):
                self._emit_draws(step)
            elif isinstance(step, CollectiveStep):
                self._emit_collective(step)
            else:
                _emit_host_step(self.function, self.plan, step, self.host_view(step.node.component))

    def _guarded(self, step: FlatStep) -> AbstractContextManager[None]:
        """What is written inside runs in the guard of a step, if that has one."""
        guard = self.guard(step)
        if guard is None:
            return nullcontext()
        return self.function.block(f"with {self.function.share(f'lock_{_name(step)}', guard)}:")

    def _emit_draws(self, step: DrawStep) -> None:
        function = self.function
        names = {
            symbol: f"{function.local(leaf)}.shape[{axis}]" if axis else f"len({function.local(leaf)})"
            for symbol, (leaf, axis) in step.sizes.items()
        }
        for leaf, noise, stream in step.draws:
            draw = function.bind(
                f"draw_{noise.kind}", partial(DRAWS[noise.kind], self.stream(stream), noise.dtype)
            )
            shape = literal(tuple, [(i, size_text(dim, names)) for i, dim in enumerate(noise.shape)])
            arguments = [shape, *(size_text(value, names) for value in noise.parameters)]
            function.lines.append(f"{function.local(leaf)} = {draw}({', '.join(arguments)})")

    def _emit_segment(self, segment: Segment) -> None:
        function = self.function
        outputs = "".join(f"{function.local(leaf)}, " for leaf, _ in segment.outputs)
        name = function.bind(segment.name, self.lowered[segment.name])
        inputs = ", ".join(self.tensors.get(leaf) or function.local(leaf) for leaf, _ in segment.inputs)
        call = f"{name}({inputs})"
        line = f"{outputs.rstrip()} = {call}" if outputs else call
        if not any(_is_bounded(spec) for _, spec in segment.inputs):
            function.lines.append(line)
            return
        with function.block("try:"):
            function.lines.append(line)
        with function.block("except Exception as error:"):
            refuse = function.bind(f"refuse_{segment.name}", partial(_refuse_beyond, self.plan, segment))
            function.lines.extend([f"{refuse}(error, {inputs})", "raise"])

    def _emit_collective(self, step: CollectiveStep) -> None:
        function = self.function
        given, numbers = summands(self.plan.built, step.nodes)
        small, large = ([x for x in given if x.is_large is is_large] for is_large in (False, True))
        reduction: Any = _shown
        if self.group is not None:
            by = [
                [None if x.number is None else numbers.index(x.number) for x in some]
                for some in (small, large)
            ]
            reduction = self.group.reduction([x.shape for x in small], by[0], len(numbers), by[1])
        flat = "None"
        if step.packed is not None:
            flat = function.local(step.packed)
        elif small or numbers:
            parts = ", ".join(function.local(leaf) for leaf in (*(x.given for x in small), *numbers))
            flat = f"{function.share('joined', _joined)}({parts})"
        arguments = ", ".join([flat, *(function.local(x.given) for x in large)])
        made = literal(tuple, list(enumerate(function.local(x.made) for x in (*small, *large))))
        function.lines.append(f"{made} = {function.bind('all_reduce', reduction)}({arguments})")

    def _emit_loop(self, step: LoopStep) -> None:
        emit_loop(self.writer, step.node, lambda _region: self.emit(step.steps))

    def _emit_branch(self, step: BranchStep) -> None:
        sides = iter((step.then, step.otherwise))
        emit_branch(self.writer, step.node, lambda _region: self.emit(next(sides)))

    def _emit_copies(self, node: Loop | Branch) -> None:
        for output in outputs_of(node):
            if output in self.plan.copies:
                names = [self.function.local(leaf) for leaf, _ in self.writer.leaves(output)]
                self.function.lines.extend(f"{name} = {self._copied(name)}" for name in names)

    def _copied(self, name: str) -> str:
        return f"{self.function.share('copy_array', np.array)}({name})"

    def _stack(self, name: str) -> str:
        # Of equal arrays the same as `np.stack`, in a quarter of the time.
        return f"{self.function.share('copy_array', np.array)}({name})"


def _joined(*arrays: np.ndarray) -> np.ndarray:
    return np.concatenate([array.reshape(-1) for array in arrays])


def _shown(*_: Any) -> NoReturn:
    raise RLGraphError("this plan is of a group, and is shown, not run")


def _name(step: FlatStep) -> str:
    if isinstance(step, HostStep):
        return identifier(step.node.component, step.node.function)
    return step.name if isinstance(step, Segment) else "draws"


def _only_call(plan: Plan) -> GraphFunctionCall | None:
    """The host call that a plan consists of, if it does nothing else and returns nothing."""
    if len(plan.steps) != 1 or tensor_leaves(plan.built, [plan.results]):
        return None
    (step,) = plan.steps
    return step.node if isinstance(step, HostStep) else None


def _given_leaves(plan: Plan, expression: Expression) -> list[Leaf] | None:
    """The leaves of an argument, if all of them come from the caller."""
    if isinstance(expression, Pack):
        parts = [_given_leaves(plan, item) for _, item in expression.items]
        return None if None in parts else [leaf for part in parts for leaf in part]  # type: ignore[union-attr]
    if not isinstance(expression, Ref) or not isinstance(expression.source, Input):
        return None
    paths = (path for path, _ in leaves(plan.built.value_of(expression)))
    return [Leaf(expression.source, (*expression.path, *path)) for path in paths]


def _emit_host_step(function: SourceFunction, plan: Plan, step: HostStep, view: Any) -> None:
    node = step.node
    host_function = plan.built.graph.components[node.component].graph_function(node.function)
    name = function.bind(identifier(node.component, node.function), partial(host_function.function, view))
    arguments = [(key, _driver_expression(plan, e, function)) for key, e in node.arguments]
    call = function.call(host_function, name, arguments)
    outputs = [Output(node.id, i) for i in range(node.returns)]
    names = ", ".join(function.local(Leaf(output)) for output in outputs)
    if names:
        function.lines.append(f"{names} = {call}")
    else:
        given = function.fresh("given")
        refuse = function.bind(f"refuse_{name}", partial(_refuse_output, label(node)))
        function.lines.extend([f"{given} = {call}", f"if {given} is not None:", f"    {refuse}({given})"])
    copy = function.share("copy_array", np.array) if step.copies else ""
    for output in outputs:
        _emit_host_output(function, plan, output, copy if output.index in step.copies else "")
    made = tensor_leaves(plan.built, map(Ref, outputs))
    _emit_sizes(function, f"host function {label(node)}", list(made.items()), RLGraphError)


def _refuse_output(where: str, given: Any) -> NoReturn:
    raise RLGraphError(
        f"host function {where}: it declares returns=0 and returned a {type(given).__name__}; return nothing, or "
        "declare the number of outputs and their spaces="
    )


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

    visit(as_tensors(plan.built.values[output]), ())


def _host_converter(where: str, spec: TensorSpec) -> Callable[[Any], np.ndarray]:
    """Makes an array of what a host function returned: a number, an array of another dtype."""

    def convert(value: Any) -> np.ndarray:
        array = np.asarray(value)
        sizes = zip(array.shape, spec.shape, strict=False)
        fits = array.ndim == len(spec.shape) and all(a == b for a, b in sizes if isinstance(b, int))
        if not fits or not np.can_cast(array.dtype, spec.dtype, "same_kind"):
            given = f"{array.dtype}{list(array.shape)}"
            raise RLGraphError(f"host function {where}: it declares {spec} and returned {given}")
        return array.astype(spec.dtype, copy=False)

    return convert


def _emit_sizes(
    function: SourceFunction,
    where: str,
    tensors: Sequence[tuple[Leaf, TensorSpec]],
    kind: type[RLGraphError],
) -> None:
    """Refuse tensors whose sizes of one name differ, B above all, with an error of this kind."""
    places: dict[SymbolicDim, list[tuple[str, int]]] = {}
    for leaf, spec in tensors:
        for axis, dim in enumerate(spec.shape):
            if isinstance(dim, SymbolicDim):
                places.setdefault(dim, []).append((function.local(leaf), axis))
    conditions = [_same_size(found) for found in places.values() if len(found) > 1]
    if conditions:
        names = [function.local(leaf) for leaf, _ in tensors]
        refuse = function.bind("refuse_sizes", partial(_differing_sizes, kind, where, tensors))
        function.lines.append(f"if not ({' and '.join(conditions)}):")
        function.lines.append(f"    raise {refuse}({', '.join(names)})")


def _same_size(places: Sequence[tuple[str, int]]) -> str:
    """The comparison of an axis of each array with that of the next; `len` is the shortest way to the first one."""
    return " == ".join(f"{name}.shape[{axis}]" if axis else f"len({name})" for name, axis in places)


def _differing_sizes(
    kind: type[RLGraphError], where: str, tensors: Sequence[tuple[Leaf, TensorSpec]], *arrays: np.ndarray
) -> RLGraphError:
    sizes: dict[SymbolicDim, dict[int, list[str]]] = {}
    for (leaf, spec), array in zip(tensors, arrays, strict=True):
        source = leaf.source
        first = source.name if isinstance(source, Input) else f"output {source.index}"  # type: ignore[union-attr]
        name = ".".join([first, *map(str, leaf.path)])
        for dim, size in zip(spec.shape, array.shape, strict=True):
            if isinstance(dim, SymbolicDim):
                places = sizes.setdefault(dim, {}).setdefault(size, [])
                places.append(f"{name} {list(array.shape)} for {spec}")
    given = ", ".join(
        f"{dim} is " + " and ".join(f"{size} in {', '.join(names)}" for size, names in found.items())
        for dim, found in sizes.items()
        if len(found) > 1
    )
    return kind(
        f"{where}: sizes of one name differ: {given}. Give them equal sizes, or let a Space name its own batch rank: "
        'add_batch_rank="other"'
    )


def _is_bounded(spec: TensorSpec) -> bool:
    return spec.is_int and (spec.low is not None or spec.high is not None)


def _refuse_beyond(plan: Plan, segment: Segment, error: Exception, *arrays: Any) -> None:
    """A segment has failed: if an integer argument is outside its Space, report that instead of `error`.

    Such a number is an index that is out of range. To look at all numbers ahead of every call would take time.
    """
    if isinstance(error, RLGraphError):
        return
    for (leaf, spec), array in zip(segment.inputs, map(np.asarray, arrays), strict=True):
        if not _is_bounded(spec) or not array.size:
            continue
        least, most = spec.low, None if spec.high is None else spec.high - 1
        low, high = array.min(), array.max()
        if (least is not None and low < least) or (most is not None and high > most):
            wanted = f"{'any' if least is None else least} to {'any' if most is None else most}"
            raise InputError(
                f"{plan.name}: {_origin(plan, leaf)}: expected integers of its Space, {wanted}, given {low} to {high}"
            ) from error


def _origin(plan: Plan, leaf: Leaf) -> str:
    """Where a tensor comes from that enters a segment, for messages."""
    source = leaf.source
    if isinstance(source, Input):
        return f"argument {'.'.join([source.name, *map(str, leaf.path)])}"
    where = label(plan.built.graph.nodes[source.node]) if isinstance(source, Output) else "a loop"
    return " ".join(["what", where, "gave", *(["as", ".".join(map(str, leaf.path))] if leaf.path else [])])


def _emit_parts(function: SourceFunction, plan: Plan, used: Sequence[Leaf]) -> None:
    """Take the leaves of containers apart; whatever has another structure is refused."""
    for source in dict.fromkeys(leaf.source for leaf in used if leaf.path):
        assert isinstance(source, Input)
        refuse = partial(_wrong_structure, plan.name, source.name, plan.built.values[source])
        function.lines.append("try:")
        for leaf in used:
            if leaf.source == source:
                text = source.name + "".join(f"[{key!r}]" for key in leaf.path)
                function.lines.append(f"    {function.local(leaf)} = {text}")
        # Unexpected parts are a mistake, too: the weights of a larger network, say.
        length, surplus = function.share("len", len), function.share("part_error", LookupError)
        lengths = _lengths(plan.built.values[source])
        conditions = [
            f"{length}({source.name}{''.join(f'[{key!r}]' for key in path)}) != {number}"
            for path, number in lengths.items()
        ]
        function.lines.append(f"    if {' or '.join(conditions)}:")
        function.lines.append(f"        raise {surplus}")
        function.lines.append(f"except {function.share('part_errors', _PART_ERRORS)}:")
        function.lines.append(
            f"    raise {function.bind(f'refuse_{source.name}', refuse)}({source.name}) from None"
        )


def _lengths(value: Value) -> dict[Path, int]:
    """The number of parts of every container in a value."""
    parts: dict[Path, set[str | int]] = {}
    for path, _ in leaves(value):
        for depth, key in enumerate(path):
            parts.setdefault(path[:depth], set()).add(key)
    return {path: len(keys) for path, keys in parts.items()}


_PART_ERRORS = (LookupError, TypeError)


def _wrong_structure(method: str, name: str, expected: Value, value: Any) -> InputError:
    given = "; ".join([_structure(value), *_differences(expected, value)])
    return InputError(f"{method}: argument {name}: expected {describe(expected)}, given {given}")


def _differences(expected: Any, value: Any, path: Path = ()) -> Iterator[str]:
    """Which parts of a container are missing, and which are too many."""
    wanted, given = _container_parts(expected), _container_parts(value)
    for key in {**wanted, **given} if wanted and given else ():
        place = "/".join(map(str, (*path, key)))
        if key not in given:
            yield f"{place!r} is missing"
        elif key not in wanted:
            yield f"{place!r} is not expected"
        else:
            yield from _differences(wanted[key], given[key], (*path, key))


def _container_parts(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, Mapping) else {}


def _structure(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_structure(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_structure, value)) + ")"
    return type(value).__name__


def _emit_check(
    function: SourceFunction, leaf: Leaf, spec: TensorSpec, convert: Callable[[Any], np.ndarray]
) -> None:
    """Three cheap checks of an array; one that is not exactly right is converted carefully."""
    name, wanted = function.local(leaf), leaf_name(leaf)
    type_of, ndarray = function.share("type", type), function.share("ndarray", np.ndarray)
    dtype = function.share(f"dtype_{spec.dtype}", np.dtype(spec.dtype))
    conditions = [f"{type_of}({name}) is not {ndarray}", f"{name}.dtype is not {dtype}"]
    fixed = [dim if isinstance(dim, int) else None for dim in spec.shape]
    leading = next((i for i, dim in enumerate(fixed) if dim is not None), len(fixed))
    if leading or not fixed or None in fixed:  # else the shape says it
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
        return literal(expression.kind, items)
    return from_leaves(plan.built.value_of(expression), expression, function)
