"""Exports: API methods of a built root, made ready to leave it.

A backend exports a method as one program without host functions. Host functions that are called with nothing but the
method's arguments are its **host prefix**: they are left out, and what they return becomes inputs of the program. So do
the random numbers of a method that writes no variable: its program is a function of its inputs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from rlgraph.core.errors import CapabilityError, InputError
from rlgraph.core.graph.emission.source import identifier
from rlgraph.core.graph.nodes import (
    Expression,
    GraphFunctionCall,
    Input,
    Output,
    Pack,
    Path,
    Ref,
    arguments_of,
    label,
    outputs_of,
    references,
    walk_nodes,
)
from rlgraph.core.graph.passes.draws_ahead import draw_ahead
from rlgraph.core.graph.plan import DrawStep, HostStep, Leaf, Plan, Segment, tensor_leaves, walk_steps
from rlgraph.core.graph.values import leaves
from rlgraph.core.ops.random import Noise
from rlgraph.core.ops.tensor_spec import TensorSpec

FORMAT_VERSION = 1
DESCRIPTION = "graph.json"


@dataclass(frozen=True)
class ExportedTensor:
    """One input or output of an exported method.

    Attributes:
        name: of an input the parameter, of an output ``output``; parts of containers append a path,
            ``states/camera``, ``output/0``. What a host function returned is named after it: ``memory__get_records``;
            random numbers are ``noise``, or ``noise/0`` and so on.
        leaf: what it is in the plan.
        spec: its shape and dtype.
        noise: which random numbers it is; None: it is something else.
    """

    name: str
    leaf: Leaf
    spec: TensorSpec
    noise: Noise | None = None


@dataclass(frozen=True)
class LeftOut:
    """A host function that runs before an exported program: its scoped name, and the inputs that it used to make."""

    function: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class ExportedMethod:
    """An API method as one program without host functions.

    Attributes:
        plan: its plan.
        segment: what is to be lowered: the plan after its draws and its host prefix. An output may be an input.
        inputs, outputs: those of `segment`, in its order.
        left_out: its host prefix.
    """

    plan: Plan
    segment: Segment
    inputs: tuple[ExportedTensor, ...]
    outputs: tuple[ExportedTensor, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def effects(self) -> frozenset[str]:
        """What it does beside reading variables: ``writes``, ``draws``, ``gradients``."""
        found = {"writes": self.plan.writes, "draws": self.plan.draws, "gradients": self.plan.needs_gradients}
        return frozenset(name for name, does in found.items() if does)

    def describe(self) -> dict[str, Any]:
        """All there is to know for calling it; JSON-able."""
        return {
            "inputs": [_describe(tensor) for tensor in self.inputs],
            "outputs": [_describe(tensor) for tensor in self.outputs],
            "effects": sorted(self.effects),
            "left_out": [{"function": left.function, "inputs": list(left.inputs)} for left in self.left_out],
        }


def _describe(tensor: ExportedTensor) -> dict[str, Any]:
    spec = tensor.spec
    try:
        space = spec.to_space().to_spec()
    except ValueError:  # sizes that no Space can express
        space = None
    shape = [dim if isinstance(dim, int) else str(dim) for dim in spec.shape]
    described = {"name": tensor.name, "dtype": spec.dtype, "shape": shape, "space": space}
    if tensor.noise is not None:
        parameters = [x if isinstance(x, int | float) else str(x) for x in tensor.noise.parameters]
        described["noise"] = {"kind": tensor.noise.kind, "parameters": parameters}
    return described


# What is exported.


def choose_methods(
    backend: str,
    can: frozenset[str] | None,
    plan_of: Callable[[str], Plan],
    known: Iterable[str],
    wanted: Sequence[str] | None,
) -> list[ExportedMethod]:
    """The methods of an export.

    Args:
        backend: the backend's name.
        can: what its exported programs may do beside reading variables; None: it exports nothing.
        plan_of: the plan of an API method.
        known: names of all API methods.
        wanted: names of those to be exported; None: all that read only (and may draw) and can be.

    Raises:
        CapabilityError: one that is wanted cannot be exported, or there is none that can.
    """
    if can is None:
        raise CapabilityError(f"the {backend} backend does not export graphs; build with one that does")
    if isinstance(wanted, str):
        raise InputError(f"export_graph: expected a list of API methods, given {wanted!r}")
    if wanted is not None:
        return [_exportable(backend, can, plan_of(name)) for name in wanted]
    found, reasons = [], []
    for name in sorted(known):
        try:
            # What also writes is exported when it is asked for.
            found.append(_exportable(backend, can & {"draws"}, plan_of(name)))
        except CapabilityError as error:
            reasons.append(str(error))
    if not found:
        raise CapabilityError("\n  ".join(["no API method only reads and can be exported:", *reasons]))
    return found


def _exportable(backend: str, can: frozenset[str], plan: Plan) -> ExportedMethod:
    method = exported_method(plan)
    if lacking := sorted(method.effects - can):
        what = {"writes": "writes variables", "draws": "draws random numbers", "gradients": "takes gradients"}
        raise CapabilityError(
            f"API method {plan.name!r} cannot be exported from the {backend} backend: "
            f"{_cause(plan, lacking[0])} {what[lacking[0]]}"
        )
    return method


def _cause(plan: Plan, effect: str) -> str:
    """The scoped name of what has an effect first."""
    for node in walk_nodes(plan.nodes):
        effects = plan.built.effects[node.id]
        has = {
            "gradients": node.id in plan.slices,
            "draws": bool(effects.draws),
            "writes": bool(effects.writes - effects.draws),
        }
        if isinstance(node, GraphFunctionCall) == (effect != "gradients") and has[effect]:
            return label(node)
    raise AssertionError(effect)


def exported_method(plan: Plan) -> ExportedMethod:
    """`plan` without its host prefix; if it writes no variable, its random numbers are inputs.

    Raises:
        CapabilityError: it calls another host function, or all learners of a group, or nothing else is left.
    """
    if plan.collectives:
        raise CapabilityError(
            f"API method {plan.name!r} cannot be exported: {label(plan.collectives[0])}(...) waits for other "
            "learners. Build without a group"
        )
    if not plan.writes:
        plan = draw_ahead(plan)
    *prefix, last = plan.steps or (None,)
    inside: set[int] = set()
    for step in plan.steps:
        if isinstance(step, HostStep):
            _check_prefix(plan, step, inside)
            inside.add(step.node.id)
        elif not isinstance(step, DrawStep) and (not isinstance(step, Segment) or step is not last):
            _refuse(plan, next(s.node for s in _host_steps(plan) if s.node.id not in inside))
    if not isinstance(last, Segment):
        raise CapabilityError(
            f"API method {plan.name!r} cannot be exported: it computes nothing on the backend"
            + (": it only calls host functions" if prefix or last else "")
        )
    names = _names_of_inputs(plan)
    outputs = tuple(_outputs(plan))
    needed = tensor_leaves(plan.built, (e for n in last.nodes for _, e in arguments_of(n)))
    needed |= {tensor.leaf: tensor.spec for tensor in outputs}
    noise = {leaf: noise for leaf, noise, _ in _draws(plan)}
    inputs = tuple(
        ExportedTensor(name, leaf, needed[leaf], noise.get(leaf))
        for leaf, name in names.items()
        if leaf in needed
    )
    segment = replace(
        last,
        inputs=tuple((tensor.leaf, tensor.spec) for tensor in inputs),
        outputs=tuple((tensor.leaf, tensor.spec) for tensor in outputs),
    )
    return ExportedMethod(plan, segment, inputs, outputs, tuple(_left_out(plan, inputs)))


def _host_steps(plan: Plan) -> Iterator[HostStep]:
    return (step for step in walk_steps(plan.steps) if isinstance(step, HostStep))


def _draws(plan: Plan) -> Sequence[tuple[Leaf, Noise, str]]:
    return [draw for step in plan.steps if isinstance(step, DrawStep) for draw in step.draws]


def _check_prefix(plan: Plan, step: HostStep, inside: set[int]) -> None:
    for _, expression in step.node.arguments:
        for ref in references(expression):
            if isinstance(ref.source, Output) and ref.source.node not in inside:
                _refuse(plan, step.node)


def _refuse(plan: Plan, node: GraphFunctionCall) -> None:
    raise CapabilityError(
        f"API method {plan.name!r} cannot be exported: the host function {label(node)} runs in the middle of it. "
        "Only host functions that need nothing but the method's arguments can be left out; export a method without it"
    )


def _names_of_inputs(plan: Plan) -> dict[Leaf, str]:
    """The names of all that may enter, in the order of the parameters, of the host functions and of the draws."""
    built, names = plan.built, dict[Leaf, str]()
    for parameter in built.graph.methods[plan.name].parameters:
        source = Input(plan.name, parameter)
        if source in built.values:
            for path, _ in leaves(built.values[source]):
                names[Leaf(source, path)] = _joined(parameter, path)
    taken = set(names.values())
    for step in _host_steps(plan):
        outputs = outputs_of(step.node)
        base = _fresh(identifier(step.node.component, step.node.function), taken)
        for output in outputs:
            own = (output.index,) if len(outputs) > 1 else ()
            for path, _ in leaves(built.values[output]):
                names[Leaf(output, path)] = _joined(base, (*own, *path))
    draws, base = _draws(plan), _fresh("noise", taken)
    for i, (leaf, _, _) in enumerate(draws):
        names[leaf] = _joined(base, (i,) if len(draws) > 1 else ())
    return names


def _fresh(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while any(other.split("/")[0] == name for other in taken):
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name


def _joined(name: str, path: Path) -> str:
    return "/".join([name, *map(str, path)])


def _outputs(plan: Plan) -> Iterator[ExportedTensor]:
    """The tensors a method returns; constants among its results are left out."""

    def visit(expression: Expression, path: Path) -> Iterator[ExportedTensor]:
        if isinstance(expression, Pack):
            for key, item in expression.items:
                yield from visit(item, (*path, key))
        elif isinstance(expression, Ref):
            for inner, spec in leaves(plan.built.value_of(expression)):
                if isinstance(spec, TensorSpec):
                    leaf = Leaf(expression.source, expression.path + inner)
                    yield ExportedTensor(_joined("output", (*path, *inner)), leaf, spec)

    return visit(plan.results, ())


def _left_out(plan: Plan, inputs: Iterable[ExportedTensor]) -> Iterator[LeftOut]:
    for step in _host_steps(plan):
        made = set(outputs_of(step.node))
        yield LeftOut(label(step.node), tuple(tensor.name for tensor in inputs if tensor.leaf.source in made))


# Where it is exported to.


def write_export(
    directory: str | FilePath,
    backend: str,
    methods: Sequence[ExportedMethod],
    write: Callable[[FilePath], None],
) -> FilePath:
    """A directory with what `write` puts there and the description; an earlier export is replaced when all is done.

    Raises:
        InputError: there is something else in the directory.
    """
    target = FilePath(directory).absolute()
    if (
        target.exists()
        and not (target / DESCRIPTION).is_file()
        and (target.is_file() or any(target.iterdir()))
    ):
        raise InputError(
            f"export_graph: {target} holds something else than an earlier export; name a new directory"
        )
    aside = target.with_name(f".{target.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        write(aside)
        (aside / DESCRIPTION).write_text(json.dumps(_description(backend, methods), indent=2) + "\n")
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _description(backend: str, methods: Sequence[ExportedMethod]) -> Mapping[str, Any]:
    return {
        "format": "rlgraph-graph",
        "version": FORMAT_VERSION,
        "backend": backend,
        "methods": {method.name: method.describe() for method in methods},
    }
