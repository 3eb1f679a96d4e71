"""Loops and branches in a build: what enters a region, what may leave it, and what it does as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Expression,
    Index,
    Loop,
    Output,
    Path,
    Region,
    Source,
    arguments_of,
    label,
    outputs_of,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.core.graph.values import Value, describe, first_difference, map_leaves
from rlgraph.core.ops import Effects, SymbolicDim, TensorSpec
from rlgraph.core.ops.dims import RankSize
from rlgraph.core.ops.effects import together


def check_reach(graph: ComponentGraph) -> None:
    """Check that what is made inside a loop or branch is used there only.

    Raises:
        BuildError: it is used outside, or in another API method.
    """
    for method in graph.methods.values():
        nodes = tuple(graph.nodes[id_] for id_ in method.nodes)
        body = Region(nodes, graph.results_of(method.name))
        _check_region(graph, body, set(), f"what {graph.root}.{method.name} returns")


def _check_region(graph: ComponentGraph, region: Region, reached: set[Source], returned: str) -> None:
    def check(where: str, expression: Expression) -> None:
        for source in (ref.source for ref in references(expression)):
            if isinstance(source, Output | Carried | Index) and source not in reached:
                maker = source.node if isinstance(source, Output) else source.loop
                raise BuildError(
                    f"{where}: it uses a value of {label(graph.nodes[maker])} that was made inside of a loop or "
                    "branch, or in another API method: return it from there, a body as carried or collected"
                )

    reached = set(reached)
    for node in region.nodes:
        operands = arguments_of(node)
        for _, expression in operands[:-1] if regions_of(node) else operands:
            check(label(node), expression)
        for inside in regions_of(node):
            own: set[Source] = {Carried(node.id), Index(node.id)}
            _check_region(graph, inside, reached | own, f"what the body of {label(node)} returns")
        reached.update(outputs_of(node))
    check(returned, region.results)


def tensors_of(value: Value, float_dtype: str, where: str) -> Value:
    """A value in which numbers have become tensors, so that they can cross a region's border.

    Raises:
        BuildError: a leaf is neither a tensor nor a number.
    """

    def tensor(leaf: Any) -> TensorSpec:
        if isinstance(leaf, TensorSpec):
            return leaf
        dtypes = {bool: "bool", int: "int64", float: float_dtype}
        if type(leaf) not in dtypes:
            raise BuildError(
                f"{where}: only tensors and numbers enter or leave a region, given {describe(leaf)}; "
                "lists of variables can be asked for inside"
            )
        return TensorSpec((), dtypes[type(leaf)])

    return map_leaves(tensor, value)


def enter_loop(node: Loop, count: Value, carried: Value, float_dtype: str) -> tuple[Value, TensorSpec]:
    """What the body sees: the carried values and the number of the iteration.

    Raises:
        BuildError: the count is not one integer, or something is carried that is no tensor.
    """
    if isinstance(count, TensorSpec):
        fits = count.is_int and count.shape == ()
    else:
        fits = type(count) is int and count >= 1
    if not fits:
        raise BuildError(f"{label(node)}: the count must be one integer, at least 1, given {describe(count)}")
    high = count if isinstance(count, int) else None
    return tensors_of(carried, float_dtype, label(node)), TensorSpec((), "int64", 0, high)


def widened(entering: Value, leaving: Value) -> Value:
    """What the body must see instead, if it does not keep the bounds of what it is given: `entering` without these.

    Args:
        entering: the carried values as the body sees them.
        leaving: the same as they leave it, of the same structure, shapes and dtypes.
    """
    if isinstance(entering, TensorSpec):
        kept = isinstance(leaving, TensorSpec) and _holds(leaving, entering)
        return entering if kept else entering.unbounded()
    if isinstance(entering, dict):
        return {key: widened(item, leaving[key]) for key, item in entering.items()}
    return tuple(widened(item, other) for item, other in zip(entering, leaving, strict=True))


def _holds(spec: TensorSpec, bounds: TensorSpec) -> bool:
    """Whether what `spec` allows is within the bounds of another spec."""
    low = bounds.low is None or (spec.low is not None and spec.low >= bounds.low)
    return low and (bounds.high is None or (spec.high is not None and spec.high <= bounds.high))


def leave_loop(
    node: Loop,
    count: Value,
    entering: Value,
    iteration: tuple[Value, Value, Value],
    effects: Mapping[int, Effects],
    float_dtype: str,
) -> tuple[tuple[Value, ...], Effects]:
    """The outputs and effects of a whole loop.

    Args:
        node: the loop.
        count: a number, or the spec of one.
        entering: the carried values as the body sees them.
        iteration: the carried values as they leave the body, what it collects (or None), whether it stops (or None).
        effects: of the nodes inside.
        float_dtype: the execution's floating dtype.

    Raises:
        BuildError: a carried Space changes, or `until` is not one bool.
    """
    leaving, collected, stop = iteration
    where = label(node)
    difference = first_difference(entering, tensors_of(leaving, float_dtype, where))
    if difference:
        path, before, after = difference
        raise BuildError(
            f"{where}: carried value {_shown(path)} enters the loop as {describe(before)} and leaves the body as "
            f"{describe(after)}: every iteration must hand on what it was given{_hint(before, after)}"
        )
    if stop is not None and not _is_one_bool(tensors_of(stop, float_dtype, where)):
        raise BuildError(f"{where}: until= must give one bool, given {describe(stop)}")
    outputs = [entering]
    if node.collected is not None:
        size = count if isinstance(count, int) else SymbolicDim.symbol(f"N{node.id}")
        items = tensors_of(collected, float_dtype, where)
        outputs.append(map_leaves(lambda spec: replace(spec, shape=(_steps(size, spec), *spec.shape)), items))
    # An iteration's values are copied where they could be a variable's memory; those of the start are what they are.
    views = (frozenset({"carried", "captured"}), *(frozenset[str]() for _ in outputs[1:]))
    return tuple(outputs), _effects_within(node, effects, len(outputs), views)


def _steps(size: int | SymbolicDim, spec: TensorSpec) -> int | SymbolicDim:
    """The axis of what a loop collects: time, in front of a batch of fixed size."""
    is_batch = bool(spec.shape) and isinstance(spec.shape[0], RankSize)
    return RankSize(size, "time") if is_batch and isinstance(size, int) else size


def join_branch(
    node: Branch,
    predicate: Value,
    sides: Sequence[Value],
    effects: Mapping[int, Effects],
    float_dtype: str,
) -> tuple[tuple[Value, ...], Effects]:
    """The output and effects of a branch whose regions give `sides`.

    Raises:
        BuildError: the predicate is not one bool, or the sides give different Spaces.
    """
    where = label(node)
    if not _is_one_bool(predicate):
        raise BuildError(f"{where}: the predicate must be one bool, given {describe(predicate)}")
    then, otherwise = (tensors_of(side, float_dtype, where) for side in sides)
    difference = first_difference(then, otherwise)
    if difference:
        path, first, second = difference
        raise BuildError(
            f"{where}: {f'value {_shown(path)}' if path else 'the result'} is {describe(first)} on the one side and "
            f"{describe(second)} on the other: both must give the same Spaces{_hint(first, second)}"
        )
    return (_either(then, otherwise),), _effects_within(node, effects, 1, (frozenset({"captured"}),))


def _either(then: Value, otherwise: Value) -> Value:
    """What is known of the result of either side: the bounds that hold for both."""
    if isinstance(then, TensorSpec):
        return then.bounded_as(otherwise)
    if isinstance(then, dict):
        return {key: _either(item, otherwise[key]) for key, item in then.items()}
    return tuple(_either(item, other) for item, other in zip(then, otherwise, strict=True))


def _effects_within(
    node: Loop | Branch, effects: Mapping[int, Effects], outputs: int, views: tuple[frozenset[str], ...]
) -> Effects:
    """What a loop or branch does is what its nodes do."""
    whole = together(effects[n.id] for n in walk_nodes([node]) if n is not node)
    # What the body of a loop has written, the next iteration finds written.
    overwrites = whole.whole_reads & whole.writes if isinstance(node, Loop) else whole.overwrites
    return replace(
        whole,
        aliases=tuple(frozenset[str]() for _ in range(outputs)),
        views=views,
        carries=frozenset({"carried", "captured"}),
        overwrites=overwrites,
    )


def _is_one_bool(value: Value) -> bool:
    return isinstance(value, TensorSpec) and value.dtype == "bool" and value.shape == ()


def _hint(first: Value, second: Value) -> str:
    """What to do where two tensors differ only in sizes that run time knows."""
    if not (isinstance(first, TensorSpec) and isinstance(second, TensorSpec)):
        return ""
    if first.dtype != second.dtype or len(first.shape) != len(second.shape):
        return ""
    differing = [pair for pair in zip(first.shape, second.shape, strict=True) if pair[0] != pair[1]]
    if not all(
        isinstance(dim, SymbolicDim) and str(dim).isidentifier() for pair in differing for dim in pair
    ):
        return ""
    return '. If these sizes are equal, let the Spaces they come from name them: add_batch_rank="name"'


def _shown(path: Path) -> str:
    return ".".join(map(str, path))
