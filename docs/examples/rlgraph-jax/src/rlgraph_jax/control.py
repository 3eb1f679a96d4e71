"""Control flow over data: the operations `cond`, `while_loop`, `scan` and `map`, and a loop that can be differentiated.

XLA compiles loops whose length only run time knows, but reverse-mode differentiation goes through loops of a known
length only. What needs a value that is not known while a program is traced asks for it (``int(count)``); JAX then
raises an error, and the backend runs the segment operation by operation instead (`rlgraph_jax.backend`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import jax
from jax import Array, lax
from jax import numpy as jnp

from rlgraph.core.handle import value_of
from rlgraph.core.ops import leaves_of, map_nested

#: A tensor, or a nested dict or tuple of tensors.
Nested = Any

_differentiated: ContextVar[bool] = ContextVar("differentiated", default=False)


@contextmanager
def differentiated() -> Iterator[None]:
    """Around the tracing of what is differentiated."""
    token = _differentiated.set(True)
    try:
        yield
    finally:
        _differentiated.reset(token)


def is_differentiated() -> bool:
    """Whether what is being traced will be differentiated."""
    return _differentiated.get()


class Control:
    """The family control."""

    @staticmethod
    def cond(
        pred: Array, then: Callable[[], Nested], otherwise: Callable[[], Nested]
    ) -> Nested:
        return lax.cond(
            value_of(pred), lambda: tensors(then()), lambda: tensors(otherwise())
        )

    @staticmethod
    def while_loop(
        cond: Callable[[Nested], Array],
        body: Callable[[Nested], Nested],
        init: Nested,
        max_iterations: int | None = None,
    ) -> Nested:
        return repeat(
            max_iterations, cond, lambda carry: tensors(body(carry)), tensors(init)
        )

    @staticmethod
    def scan(
        body: Callable[[Nested, Nested], tuple[Nested, Nested]],
        init: Nested,
        xs: Nested,
        reverse: bool = False,
        axis: int = 0,
    ) -> tuple[Nested, Nested]:
        def step(carry: Nested, x: Nested) -> tuple[Nested, Nested]:
            carry, y = body(carry, x)
            return tensors(carry), tensors(y)

        rows = map_nested(lambda x: jnp.moveaxis(x, axis, 0), tensors(xs))
        carry, ys = scan_rows(step, tensors(init), rows, reverse)
        return carry, map_nested(lambda y: jnp.moveaxis(y, 0, axis), ys)

    @classmethod
    def map(cls, body: Callable[[Nested], Nested], xs: Nested, axis: int = 0) -> Nested:
        return cls.scan(lambda carry, x: (carry, body(x)), (), xs, axis=axis)[1]


def scan_rows(
    step: Callable[[Nested, Nested], tuple[Nested, Nested]],
    carry: Nested,
    rows: Nested,
    reverse: bool,
) -> tuple[Nested, Nested]:
    """`lax.scan`, which refuses to scan no rows where programs run operation by operation: there it is compiled."""
    empty = any(len(row) == 0 for row in leaves_of(rows))
    with jax.disable_jit(False) if empty else nullcontext():
        found: tuple[Nested, Nested] = lax.scan(step, carry, rows, reverse=reverse)
        return found


def repeat(
    limit: int | None,
    goes_on: Callable[[Nested], Array],
    step: Callable[[Nested], Nested],
    carry: Nested,
) -> Nested:
    """``carry = step(carry)`` as long as ``goes_on(carry)`` holds, at most `limit` times."""
    if is_differentiated() and limit is not None:

        def step_or_keep(carry: Nested, _: None) -> tuple[Nested, None]:
            return lax.cond(goes_on(carry), step, lambda carry: carry, carry), None

        return lax.scan(step_or_keep, carry, length=limit)[0] if limit > 0 else carry
    if is_differentiated():
        bool(
            goes_on(carry)
        )  # asks for a value (see above): where it is known, JAX unrolls the loop

    def condition(state: tuple[Array, Nested]) -> Array:
        number, carry = state
        going = jnp.asarray(goes_on(carry))
        return going if limit is None else going & (number < limit)

    start = (jnp.zeros((), jnp.int64), carry)
    return lax.while_loop(
        condition, lambda state: (state[0] + 1, step(state[1])), start
    )[1]


def tensors(value: Nested) -> Nested:
    """`value` with arrays for all its leaves; lists become tuples."""
    return map_nested(lambda leaf: jnp.asarray(value_of(leaf)), value)
