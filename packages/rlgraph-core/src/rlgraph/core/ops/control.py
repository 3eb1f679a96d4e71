"""Control-flow operations inside graph functions, for pure numerics.

Their function arguments take and return tensors, or nested dicts and tuples of tensors. These functions may use all
enclosing tensors and are differentiable; they must not write variables or draw random numbers (use `loop` and
`branch` in API methods for that). A carried value keeps its shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.nest import leaves_of, map_nested
from rlgraph.core.ops.symbolic import SymbolicTensor

#: A tensor, or a nested dict or tuple of tensors.
Nested = Any


@operation("control")
def cond(pred: Any, then: Callable[[], Nested], otherwise: Callable[[], Nested]) -> Nested:
    """``then()`` if `pred` (bool []) is true, else ``otherwise()``; only one of them is computed.

    Both return the same structure, shapes and dtypes.
    """
    _need_flag("ops.cond: pred", pred)
    one = _observed("ops.cond: the result of `then`", then())
    other = _observed("ops.cond: the result of `otherwise`", otherwise())
    if _specs(one) != _specs(other):
        raise InferenceError(
            f"ops.cond: both branches must return the same shapes and dtypes; `then` returns {_specs(one)}, "
            f"`otherwise` {_specs(other)}"
        )
    return map_nested(_either, one, other)


@operation("control")
def while_loop(
    cond: Callable[[Nested], Any],
    body: Callable[[Nested], Nested],
    init: Nested,
    max_iterations: int | None = None,
) -> Nested:
    """Repeat ``carry = body(carry)``, from `init`, while ``cond(carry)`` (bool []) is true; returns the last carry.

    It stops after `max_iterations` at the latest (None: no limit).
    """
    limit = max_iterations
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | SymbolicDim)):
        raise InferenceError(f"ops.while_loop: max_iterations must be an integer or a size, given {limit!r}")

    def step(carry: Nested) -> tuple[Nested, Nested]:
        _need_flag("ops.while_loop: the result of `cond`", cond(carry))
        return body(carry), ()

    return _settle("ops.while_loop", init, step)[0]


@operation("control")
def scan(
    body: Callable[[Nested, Nested], tuple[Nested, Nested]],
    init: Nested,
    xs: Nested,
    reverse: bool = False,
    axis: int = 0,
) -> tuple[Nested, Nested]:
    """``carry, y = body(carry, x)`` for each slice `x` of `xs` along `axis`; returns the last carry and all `y`.

    The `y` are stacked along `axis` in the order of `xs`; `reverse` iterates from the last slice to the first.
    """
    items, size = _slices("ops.scan", xs, axis)

    def step(carry: Nested) -> tuple[Nested, Nested]:
        result = body(carry, items)
        if not isinstance(result, list | tuple) or len(result) != 2:
            raise InferenceError(
                f"ops.scan: body must return (carry, y), given {result!r}; return () as y to collect nothing"
            )
        return result[0], result[1]

    carry, y = _settle("ops.scan", init, step)
    return carry, map_nested(partial(_stacked, "ops.scan", size, axis), y)


@operation("control")
def map_(body: Callable[[Nested], Nested], xs: Nested, axis: int = 0) -> Nested:
    """``body(x)`` for each slice `x` of `xs` along `axis`, stacked along `axis`.

    Operations on whole tensors are faster; use `map` only where they cannot do the job.
    """
    items, size = _slices("ops.map", xs, axis)
    return map_nested(partial(_stacked, "ops.map", size, axis), body(items))


def _settle(
    name: str, init: Nested, step: Callable[[Nested], tuple[Nested, Nested]]
) -> tuple[Nested, Nested]:
    """The final carry and the outputs of a loop over `step`.

    The first pass checks shapes. Passes repeat while a carried value gains aliases, or arguments with respect to
    which it can be differentiated.
    """
    carry = _entering(f"{name}: init", init)
    while True:
        result, y = step(carry)
        left = _entering(f"{name}: the carry that body returns", result)
        if _specs(carry) != _specs(left):
            raise InferenceError(
                f"{name}: a carried value must keep its shape and dtype; it enters the body as {_specs(carry)} "
                f"and leaves it as {_specs(left)}"
            )
        merged = map_nested(_either, carry, left)
        if _flows(merged) == _flows(carry):
            return merged, y
        carry = merged


def _observed(what: str, value: Nested) -> Nested:
    def observe(leaf: Any) -> SymbolicTensor:
        tensor = _tensor(what, leaf)
        return tensor._view(tensor._observe())

    return map_nested(observe, value)


def _entering(what: str, value: Nested) -> Nested:
    """`value` without bounds, which need not hold in every iteration."""
    return map_nested(lambda tensor: tensor._view(tensor.spec.unbounded()), _observed(what, value))


def _either(one: SymbolicTensor, other: SymbolicTensor) -> SymbolicTensor:
    """The tensor that is either `one` or `other` at run time."""
    recorder = one._recorder or other._recorder
    spec = one.spec.bounded_as(other.spec)
    return SymbolicTensor(spec, one.aliases | other.aliases, recorder, one.carries | other.carries)


def _specs(value: Nested) -> Any:
    """The shapes and dtypes of a value."""
    return map_nested(lambda tensor: tensor.spec.unbounded(), value)


def _flows(value: Nested) -> list[Any]:
    return [(tensor.aliases, tensor.carries) for tensor in leaves_of(value)]


def _slices(name: str, xs: Nested, axis: int) -> tuple[Nested, int | SymbolicDim]:
    """One slice of `xs`, and the number of slices."""
    tensors = [_tensor(f"{name}: xs", leaf) for leaf in leaves_of(xs)]
    if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:
        raise InferenceError(f"{name}: axis must be an integer >= 0, given {axis!r}")
    if not tensors or any(len(tensor.spec.shape) <= axis for tensor in tensors):
        raise InferenceError(f"{name}: xs must be tensors with an axis {axis}, given {_specs(xs)}")
    sizes = [tensor.spec.shape[axis] for tensor in tensors]
    if any(size != sizes[0] for size in sizes):
        raise InferenceError(f"{name}: xs differ in size along axis {axis}: {_specs(xs)}")

    def item(tensor: SymbolicTensor) -> SymbolicTensor:
        spec = tensor._observe()
        return tensor._view(spec.with_shape((*spec.shape[:axis], *spec.shape[axis + 1 :])))

    return map_nested(item, xs), sizes[0]


def _stacked(name: str, size: int | SymbolicDim, axis: int, leaf: Any) -> SymbolicTensor:
    tensor = _tensor(f"{name}: the output of body", leaf)
    spec = tensor._observe()
    if len(spec.shape) < axis:
        raise InferenceError(
            f"{name}: {spec} cannot be stacked along axis {axis}; return more axes or use axis=0"
        )
    shape = (*spec.shape[:axis], size, *spec.shape[axis:])
    return SymbolicTensor(spec.with_shape(shape), carries=tensor.carries)


def _tensor(what: str, leaf: Any) -> SymbolicTensor:
    if not isinstance(leaf, SymbolicTensor):
        raise InferenceError(
            f"{what} must be a tensor, or a dict or tuple of tensors, given {type(leaf).__name__} {leaf!r}; "
            "create tensors with ops.zeros or ops.ones"
        )
    return leaf


def _need_flag(what: str, flag: Any) -> None:
    if not isinstance(flag, SymbolicTensor):
        raise InferenceError(
            f"{what} must be a bool tensor without axes, given {flag!r}; for Python values use `if`"
        )
    if flag._observe().dtype != "bool" or flag.spec.shape != ():
        raise InferenceError(f"{what} must be a bool tensor without axes, given {flag.spec}")
