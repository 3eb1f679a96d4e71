"""Loops and branches around API calls, as `lax.scan`, `lax.while_loop` and `lax.cond`.

Unlike the operations of `rlgraph_jax.control` their bodies may write variables and draw. What a body writes is carried
along with the values that it is meant to carry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax import Array, lax
from jax import numpy as jnp

from rlgraph.core import InputError
from rlgraph.core.graph.emission import EMPTY, LoopShape
from rlgraph.core.handle import value_of
from rlgraph.core.ops import Effects, TensorSpec
from rlgraph_jax.control import is_differentiated, repeat
from rlgraph_jax.state import SegmentState, Values

Tensors = tuple[Array, ...]


def loop(
    state: SegmentState, shape: LoopShape
) -> Callable[..., tuple[Tensors, Tensors]]:
    """``f(count, body, carried) -> (carried, collected)``, see `rlgraph.core.graph.emission.Linker`."""

    def run(
        count: Any, body: Callable[..., Any], carried: Sequence[Any]
    ) -> tuple[Tensors, Tensors]:
        if shape.collected or is_differentiated():
            count = int(
                count
            )  # not known while tracing, if run time decides: see `rlgraph_jax.control`
        if shape.collected and count < 1:
            raise InputError(EMPTY)

        def iteration(i: Array, values: Values, carried: Tensors) -> tuple[Any, ...]:
            with state.holding(values):
                leaving, items, stop = body(i, *carried)
                return (
                    state.written(shape.effects),
                    typed(leaving, shape.carried),
                    items,
                    stop,
                )

        start = (state.written(shape.effects), typed(carried, shape.carried))
        run_loop = collecting if shape.collected else stopping
        (values, left), collected = run_loop(count, iteration, start)
        state.values.update(values)
        return left, collected

    def collecting(count: int, iteration: Callable[..., Any], start: Any) -> Any:
        def step(carry: Any, i: Array) -> Any:
            values, carried, items, _ = iteration(i, *carry)
            return (values, carried), typed(items, shape.collected)

        return lax.scan(step, start, jnp.arange(count, dtype=jnp.int64))

    def stopping(count: Any, iteration: Callable[..., Any], start: Any) -> Any:
        def step(carry: Any) -> Any:
            i, _, *rest = carry
            values, carried, _, stop = iteration(i, *rest)
            return i + 1, jnp.asarray(True if stop is None else ~stop), values, carried

        limit = count if isinstance(count, int) else None
        first = (jnp.zeros((), jnp.int64), jnp.asarray(True), *start)
        _, _, *left = repeat(
            limit, lambda carry: carry[1] & (carry[0] < count), step, first
        )
        return left, ()

    return run


def branch(
    state: SegmentState, specs: tuple[TensorSpec, ...], effects: Effects
) -> Callable[..., Tensors]:
    """``f(predicate, then, otherwise) -> tensors``, see `rlgraph.core.graph.emission.Linker`."""

    def run(
        predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]
    ) -> Tensors:
        def side(function: Callable[[], Any]) -> Callable[[Values], Any]:
            def run_side(values: Values) -> Any:
                with state.holding(values):
                    found = typed(function(), specs)
                    return state.written(effects), found

            return run_side

        before = state.written(effects)
        values, found = lax.cond(
            value_of(predicate), side(then), side(otherwise), before
        )
        state.values.update(values)
        return found

    return run


def typed(values: Sequence[Any], specs: Sequence[TensorSpec]) -> Tensors:
    """`values` as arrays in the dtypes of `specs`."""
    return tuple(
        jnp.asarray(value_of(v), spec.dtype)
        for v, spec in zip(values, specs, strict=True)
    )
