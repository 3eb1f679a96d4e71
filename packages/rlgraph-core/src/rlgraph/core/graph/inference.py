"""Space inference: one graph function is evaluated on specs; gives its output specs and its effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from rlgraph.core.errors import BuildError, InferenceError, type_and_text
from rlgraph.core.graph.binding import bind
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.graph.trace import NotAssembling
from rlgraph.core.graph.values import Value, describe, is_leaf, leaves, map_leaves, space_of
from rlgraph.core.graph.variables import GradientList, Variable, VariableList
from rlgraph.core.ops import (
    EffectRecorder,
    Effects,
    SymbolicDim,
    SymbolicOps,
    SymbolicTensor,
    SymbolicVariable,
    TensorSpec,
    stream_name,
    to_specs,
)
from rlgraph.spaces import BoxSpace, Space, SpaceError


def infer(
    component: Any, node: GraphFunctionCall, arguments: dict[str, Value], float_dtype: str
) -> tuple[tuple[Value, ...], Effects]:
    """Output values and effects of one call.

    Raises:
        BuildError: the function fails on these Spaces or does not return what it declares.
        SpaceError: the function refuses a Space itself.
    """
    function = component.graph_function(node.function)
    shown = ", ".join(f"{name}: {describe(value)}" for name, value in arguments.items())
    where = f"{node.component}.{node.function}({shown})"
    try:
        if function.kernels_only and function.spaces is None:
            backends = ", ".join(sorted(function.kernels))
            raise InferenceError(
                f"it has kernels only ({backends}): declare its outputs, @graph_fn(spaces=...)"
            )
        if function.spaces is not None:
            return _declared(component, function, node, arguments, float_dtype)
        return _evaluated(component, function, node, arguments, float_dtype)
    except NotAssembling as error:
        raise BuildError(
            f"{where} calls {error.what}: a graph function computes, and calls neither API methods nor other graph "
            "functions. Call it in an API method and pass on what it returns, or share a plain function"
        ) from error
    except SpaceError as error:
        raise error.under(node.component) from error
    except (InferenceError, TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise BuildError(f"{where} failed: {type_and_text(error)}") from error


def names_sizes(node: GraphFunctionCall, outputs: tuple[Value, ...]) -> bool:
    """Whether a size of `outputs` is a symbol of this one call: only its values decide it."""
    shown = [repr(leaf) for output in outputs for _, leaf in leaves(output)]
    return any(symbol in text for text in shown for symbol in _own_symbols(node))


def _own_symbols(node: GraphFunctionCall) -> tuple[str, str]:
    """How the names begin of sizes that only the values of this call decide: in general, and along time."""
    return f"N{node.id}", f"T{node.id}"


def _evaluated(
    component: Any, function: Any, node: GraphFunctionCall, arguments: dict[str, Value], float_dtype: str
) -> tuple[tuple[Value, ...], Effects]:
    recorder = EffectRecorder(stream_name(node.component))

    def listed(variables: Iterable[Variable]) -> list[SymbolicVariable]:
        if function.per_variable:
            return [SymbolicVariable(variable.name, variable.spec, recorder) for variable in variables]
        return [_flat_variable(variable, recorder) for variable in variables]

    # An argument is an alias of itself, so that what shares its memory is known by its name.
    def symbolic(name: str, value: Any) -> Any:
        if isinstance(value, TensorSpec):
            return SymbolicTensor(value, frozenset((name,)), carries=frozenset((name,)))
        if isinstance(value, VariableList):
            return listed(value)
        if isinstance(value, GradientList):
            if function.per_variable:
                raise InferenceError("derivatives come in blocks: a function of them cannot be per_variable")
            return [SymbolicTensor(_flat(variable), carries=frozenset((name,))) for variable in value]
        return value

    view = bind(
        component,
        lambda v: v if v.host else SymbolicVariable(v.name, v.spec, recorder),
        listed,
    )
    operands = {name: map_leaves(partial(symbolic, name), value) for name, value in arguments.items()}
    result = function.function(view, SymbolicOps(recorder, float_dtype, _own_symbols(node)[0]), **operands)
    outputs = _outputs(result, node.returns)
    lists = [leaf for leaf in arguments.values() if isinstance(leaf, GradientList)]
    specs = tuple(_derivatives(output, lists) or _spec_tree(output) for output in outputs)
    shared = [_union(output, "aliases") for output in outputs]
    effects = Effects(
        frozenset(recorder.reads),
        frozenset(recorder.writes),
        hazard=recorder.hazard,
        aliases=tuple(names - arguments.keys() for names in shared),
        views=tuple(names & arguments.keys() for names in shared),
        same=() if function.kernels else tuple(_same(output, operands) for output in outputs),
        carries=_union(outputs, "carries"),
        whole_reads=frozenset(recorder.whole_reads),
        overwrites=frozenset(recorder.overwrites),
        families=frozenset(recorder.families),
        noise=tuple(recorder.noise),
    )
    return specs, effects


def _derivatives(output: Any, lists: Iterable[GradientList]) -> GradientList | None:
    """The one of `lists`, which a function was given, that `output` is a changed version of."""
    if not isinstance(output, list) or not all(isinstance(item, SymbolicTensor) for item in output):
        return None
    specs = [item._observe().unbounded() for item in output]
    return next((given for given in lists if list(map(_flat, given)) == specs), None)


def _same(output: Any, operands: dict[str, Any]) -> str:
    """The name of the argument that `output` is; empty if it is none, or of several tensors."""
    names = (name for name, operand in operands.items() if operand is output)
    return next(names, "") if isinstance(output, SymbolicTensor) else ""


def _flat(variable: Variable) -> TensorSpec:
    return TensorSpec((variable.size,), variable.spec.dtype)


def _flat_variable(variable: Variable, recorder: EffectRecorder) -> SymbolicVariable:
    return SymbolicVariable(variable.name, _flat(variable), recorder)


def _outputs(result: Any, returns: int) -> tuple[Any, ...]:
    if returns == 0:
        if result is not None:
            raise InferenceError(f"it declares returns=0 and returned {result!r}")
        return ()
    if returns == 1:
        return (result,)
    if not isinstance(result, tuple) or len(result) != returns:
        given = f"{len(result)} values" if isinstance(result, tuple) else repr(result)
        raise InferenceError(f"it declares returns={returns} and returned {given}")
    return result


def _spec_tree(output: Any) -> Value:
    if isinstance(output, SymbolicVariable):
        raise InferenceError(f"it returns the variable {output.name} itself: return ops.read(variable)")
    if isinstance(output, SymbolicTensor):
        return output._observe()
    if isinstance(output, dict):
        return {key: _spec_tree(output[key]) for key in sorted(output)}
    if isinstance(output, tuple | list):
        return tuple(_spec_tree(item) for item in output)
    hint = "; several outputs are declared with @graph_fn(returns=n)" if output is None else ""
    raise InferenceError(f"an output must be a tensor or a dict or tuple of tensors, given {output!r}{hint}")


def _union(output: Any, attribute: str) -> frozenset[str]:
    """An attribute of all tensors in `output` together."""
    if isinstance(output, SymbolicTensor):
        return getattr(output, attribute)
    items = output.values() if isinstance(output, dict) else output
    return frozenset[str]().union(*(_union(item, attribute) for item in items))


def _declared(
    component: Any, function: Any, node: GraphFunctionCall, arguments: dict[str, Value], float_dtype: str
) -> tuple[tuple[Value, ...], Effects]:
    if not node.host and function.is_empty and not function.kernels:
        raise InferenceError("it has neither a body nor a kernel")
    given = tuple(_given_spaces(function, arguments))
    spaces = _resolved(function.spaces, component, given)
    one = isinstance(spaces, GradientList) or not isinstance(spaces, tuple)
    single = one and (node.returns == 1 or isinstance(spaces, BoxSpace))
    declared = () if node.returns == 0 else (spaces,) if single else tuple(spaces)
    if len(declared) != node.returns or not all(map(_are_spaces, declared)):
        raise InferenceError(f"spaces= must give {node.returns} Space(s), given {spaces!r}")
    # All outputs of one call share one fresh batch size.
    batch, time = _own_symbols(node)
    specs = map_leaves(
        lambda leaf: leaf if isinstance(leaf, GradientList) else to_specs(leaf, float_dtype, batch, time),
        declared,
    )
    kind = "host" if node.host else "kernel-only"
    for value in arguments.values():
        for _, leaf in leaves(value):
            if is_leaf(leaf) and not isinstance(leaf, TensorSpec | GradientList if node.host else TensorSpec):
                raise InferenceError(
                    f"a {kind} function gets tensors, not variables: pass what it needs as arguments"
                )
    if function.kernels_only or function.same_ranks:
        specs = map_leaves(partial(_with_ranks_of, arguments, batch, time), specs)
    # What its outputs share memory with cannot be seen: unless it says so, what it was given and what it can read.
    read = frozenset(v.name for v in component.declared_variables.values() if not (node.host or v.host))
    written = frozenset(_variables_of("writes", component, function, given))
    shared = (
        read if function.shares is None else frozenset(_variables_of("shares", component, function, given))
    )
    draws = {stream_name(node.component)} if _resolved(function.draws, component, given) else set()
    return specs, Effects(
        reads=read,
        writes=written | draws,
        host=node.host,
        hazard=bool(written),
        aliases=(shared,) * len(declared),
        views=tuple(frozenset(arguments) for _ in declared),
        carries=frozenset(arguments),
    )


def _are_spaces(declared: Any) -> bool:
    """Whether an output is declared as a Space, or as a dict or tuple of Spaces: their ranks may differ.

    What a host function does with derivatives is declared as the list that it was given.
    """
    return isinstance(declared, GradientList) or all(isinstance(leaf, Space) for _, leaf in leaves(declared))


def _resolved(declared: Any, component: Any, spaces: tuple[Any, ...]) -> Any:
    """What is declared; asked for, where that is a function of the input Spaces."""
    return declared(component, *spaces) if isinstance(declared, Callable) else declared  # type: ignore[arg-type]


def _variables_of(option: str, component: Any, function: Any, spaces: tuple[Any, ...]) -> Iterator[str]:
    """Names of the variables that an option of a function without a body declares."""
    for item in _resolved(getattr(function, option), component, spaces):
        value = getattr(component, item) if isinstance(item, str) else item
        held = value.values() if isinstance(value, dict) else value
        for variable in held if isinstance(held, Iterable) else [held]:
            own = isinstance(variable, Variable) and variable.name in component.declared_variables
            if not own or variable.host:
                raise InferenceError(
                    f"{option}= must name attributes that hold variables of {component.scope_path}, given {item!r}: "
                    f"{variable!r}"
                )
            yield variable.name


def _with_ranks_of(arguments: dict[str, Value], batch: str, time: str, spec: TensorSpec) -> TensorSpec:
    """`spec` with the unknown batch and time sizes of the first arguments that have such."""
    known: dict[Any, SymbolicDim] = {}
    for _, leaf in (pair for value in arguments.values() for pair in leaves(value)):
        if isinstance(leaf, TensorSpec):
            space = leaf.to_space()
            ranks = [batch] * space.has_batch_rank + [time] * space.has_time_rank
            for rank, size in zip(reversed(ranks) if space.time_major else ranks, leaf.shape, strict=False):
                if isinstance(size, SymbolicDim):
                    known.setdefault(SymbolicDim.symbol(rank), size)
    return spec.with_shape(tuple(known.get(dim, dim) for dim in spec.shape))


def _given_spaces(function: Any, arguments: dict[str, Value]) -> Iterator[Any]:
    """What a function that gives the output Spaces is called with: Spaces; of flat arguments dicts of them."""
    for name, value in arguments.items():
        if isinstance(value, dict) and function.options.flattens(name):
            yield {key: space_of(part) for key, part in value.items()}
        else:
            yield space_of(value)


def tensor_arguments(arguments: dict[str, Value], kind: type) -> list[Any]:
    """The leaves of a kind (`VariableList`, `GradientList`) among the arguments of a node."""
    return [leaf for value in arguments.values() for _, leaf in leaves(value) if isinstance(leaf, kind)]
