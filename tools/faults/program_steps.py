"""The steps that random programs are made of: calls of the conformance suite, slices, control flow, draws, writes."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from vary_operations import operations

from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.core.ops.symbolic import SymbolicVariable
from rlgraph.testing.conformance.calls import drawn_calls, specs_of
from rlgraph.testing.operations import Ascending, Call, Indices

#: Calls of each operation that steps are made of.
CALLS = 12
#: Keys of slices.
KEYS: tuple[Any, ...] = (
    *(0, -1, None, ..., slice(1, None), slice(None, -1), slice(0, 1), slice(-1, None), slice(None, None, 2)),
    *((slice(None), 0), (slice(None), slice(1, None)), (..., 0), (..., -1), (..., None), (..., slice(0, 2))),
    *((None, ..., None), (0, ..., None), (slice(None), None), slice(2, 1), (slice(-2, None),)),
)
#: What bodies of control flow compute, by kind of number; the dtype stays.
UNARY: Mapping[str, Sequence[tuple[str, Callable[[Any, Any], Any]]]] = {
    "f": (
        ("tanh(x)", lambda ops, x: ops.tanh(x)),
        ("0.5 * x + 1.0", lambda ops, x: 0.5 * x + 1.0),
        ("minimum(x, 0.5)", lambda ops, x: ops.minimum(x, 0.5)),
        ("where(x > 0.0, x, -x)", lambda ops, x: ops.where(x > 0.0, x, -x)),
        ("x", lambda ops, x: x),
    ),
    "i": (
        ("x + 1", lambda ops, x: x + 1),
        ("x * 2", lambda ops, x: x * 2),
        ("maximum(x, 0)", lambda ops, x: ops.maximum(x, 0)),
        ("x", lambda ops, x: x),
    ),
    "b": (("~x", lambda ops, x: ~x), ("x", lambda ops, x: x)),
}
JOIN: Mapping[str, Callable[[Any, Any], Any]] = {"f": operator.add, "i": operator.add, "b": operator.or_}

Pool = list[Any]


@dataclass(frozen=True)
class Step:
    """One step: what it says, and ``run(ops, pool)``, a tensor, a tuple of tensors, or None of a write."""

    text: str
    run: Callable[[Any, Pool], Any]


def drawn_step(rng: random.Random, pool: Pool) -> Step | None:
    """A step that may fit; None if what was drawn does not."""
    index = len(pool) - 1 if rng.random() < 0.6 else rng.randrange(len(pool))
    if rng.random() < 0.65:
        return operation_step(rng, pool, index)
    return rng.choice(SPECIAL)(rng, pool, index)


# Steps of one operation, from its calls in the conformance suite.


@cache
def calls() -> list[tuple[str, Callable[..., Any], list[Call]]]:
    """Name, what runs it, and calls of every operation."""
    return [(name, run, drawn_calls(cases.calls, CALLS)) for name, run, cases, _ in operations()]


def operation_step(rng: random.Random, pool: Pool, index: int) -> Step | None:
    """One of the calls, its first tensor replaced by that of the pool, and its sizes and dtype by those of this."""
    name, run, templates = rng.choice(calls())
    x = pool[index].spec
    fitting = [call for call in templates if _fits(call, x)]
    if not fitting:
        return None
    call = rng.choice(fitting)
    # Of integers divided by zero each framework has its own number, or none.
    args = Adapted(rng, pool, index, next(specs_of(call.args), None), constants=name in ("//", "%"))
    adapted = args.of(call.args)
    options = args.of(call.kwargs)

    def step(ops: Any, pool: Pool) -> Any:
        return run(
            ops,
            *(made(part, ops, pool) for part in adapted),
            **{key: made(part, ops, pool) for key, part in options.items()},
        )

    shown = [*map(repr, adapted), *(f"{key}={part!r}" for key, part in options.items())]
    return Step(f"{name}({', '.join(shown)})", step)


def _fits(call: Call, x: TensorSpec) -> bool:
    first = next(specs_of(call.args), None)
    if first is None:
        return bool(x.shape) or not any(_symbols(part) for part in (*call.args, *call.kwargs.values()))
    if isinstance(first, Ascending):
        return False
    if isinstance(first, Indices) and not (x.low == 0 and x.high is not None and x.high <= first.size):
        return False  # its numbers may be outside
    return len(first.shape) == len(x.shape) and kind(first) == kind(x)


def kind(spec: TensorSpec) -> str:
    """``"f"``, ``"i"`` or ``"b"``."""
    return "f" if spec.is_float else "i" if spec.is_int else "b"


def _symbols(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_symbols, value))
    return isinstance(value, SymbolicDim)


@dataclass(frozen=True)
class Of:
    """A tensor of the pool."""

    index: int

    def __repr__(self) -> str:
        return f"p{self.index}"


@dataclass(frozen=True)
class Size:
    """A size that is made of those of a tensor of the pool: an expression in symbols, and the axes of these."""

    text: str
    index: int
    axes: Mapping[str, int]

    def __repr__(self) -> str:
        return f"<{self.text} of p{self.index}>"


@dataclass(frozen=True)
class Fill:
    """A constant tensor; `range` is the numbers from 0 on."""

    shape: tuple[Any, ...]
    dtype: str
    value: Any

    def __repr__(self) -> str:
        return f"full({self.shape}, {self.value}, {self.dtype})"


def made(part: Any, ops: Any, pool: Pool) -> Any:
    """An argument at build or run time."""
    if isinstance(part, Of):
        return pool[part.index]
    if isinstance(part, Size):
        sizes = ops.shape(pool[part.index])
        names = {name: sizes[axis] for name, axis in part.axes.items()}
        return eval(part.text, {"__builtins__": {}}, names)
    if isinstance(part, Fill):
        return ops.full(tuple(made(size, ops, pool) for size in part.shape), part.value, part.dtype)
    return type(part)(made(item, ops, pool) for item in part) if isinstance(part, list | tuple) else part


class Adapted:
    """Changes the arguments of a call to those that go with a tensor of the pool."""

    def __init__(self, rng: random.Random, pool: Pool, index: int, first: TensorSpec | None, constants: bool):
        self.rng, self.pool, self.index, self.first, self.constants = rng, pool, index, first, constants
        self.x: TensorSpec = pool[index].spec
        self.axes = {repr(dim): axis for axis, dim in reversed(list(enumerate(first.shape if first else ())))}
        self._is_placed = False

    def of(self, value: Any) -> Any:
        """`value` with parts that `made` makes."""
        if isinstance(value, TensorSpec):
            if value is self.first and not self._is_placed:
                self._is_placed = True
                return Of(self.index)
            return self._tensor(value)
        if isinstance(value, SymbolicDim):
            return self._size(value)
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        return type(value)(map(self.of, value)) if isinstance(value, list | tuple) else value

    def _size(self, dim: int | SymbolicDim) -> Any:
        """A size of the call by those of the tensor at the same place; without one by its first."""
        if isinstance(dim, int):
            return self.x.shape[self.axes[repr(dim)]] if self._has_number(dim) else dim
        axes = {name: self.axes.get(name, 0) for name in dim.symbols}
        return Size(repr(dim), self.index, axes) if self.x.shape else 2

    def _has_number(self, dim: int) -> bool:
        axis = self.axes.get(repr(dim))
        return axis is not None and dim > 1 and isinstance(self.x.shape[axis], int)

    def _tensor(self, spec: TensorSpec) -> Any:
        """A tensor of the pool with the wanted shape and dtype, or a constant."""
        sizes = [self._known(dim) for dim in spec.shape]
        dtype = self.x.dtype if self.first and spec.dtype == self.first.dtype else spec.dtype
        if not (self.constants or isinstance(spec, Indices | Ascending)) and self.rng.random() < 0.85:
            like = [
                i
                for i, each in enumerate(self.pool)
                if each.spec.dtype == dtype and list(each.spec.shape) == sizes
            ]
            if like:
                return Of(self.rng.choice(like))
        value: Any = 0 if isinstance(spec, Indices) else self.rng.choice((1, 2))
        shape = tuple(self._at(dim) for dim in spec.shape)
        return Fill(shape, dtype, value > 0 if dtype == "bool" else value)

    def _known(self, dim: int | SymbolicDim) -> Any:
        axis = self.axes.get(repr(dim))
        return dim if axis is None else self.x.shape[axis]

    def _at(self, dim: int | SymbolicDim) -> Any:
        axis = self.axes.get(repr(dim))
        if axis is None:
            return dim if isinstance(dim, int) else 2
        size = self.x.shape[axis]
        return size if isinstance(size, int) else Size("n", self.index, {"n": axis})


# Steps of several operations, slices, control flow, draws, and variables.


def _slice(rng: random.Random, pool: Pool, index: int) -> Step:
    key = rng.choice(KEYS)
    return Step(f"p{index}[{key}]", lambda ops, pool: pool[index][key])


def _flag(ops: Any, x: Any) -> Any:
    return ops.any(x) if x.dtype == "bool" else ops.sum(x) > 0


def _like(rng: random.Random, pool: Pool, index: int) -> int:
    """A tensor of the same shape and dtype, perhaps the same one."""
    wanted = pool[index].spec.unbounded()
    return rng.choice([i for i, each in enumerate(pool) if each.spec.unbounded() == wanted])


def _cond(rng: random.Random, pool: Pool, index: int) -> Step:
    (one, then), (two, otherwise) = rng.choices(UNARY[kind(pool[index].spec)], k=2)
    other = _like(rng, pool, index)
    return Step(
        f"cond(any(p{index} > 0), {one} of p{index}, ({two}) of p{other})",
        lambda ops, pool: ops.cond(
            _flag(ops, pool[index]), lambda: then(ops, pool[index]), lambda: otherwise(ops, pool[other])
        ),
    )


def _while(rng: random.Random, pool: Pool, index: int) -> Step:
    (text, body), number, limit = (
        rng.choice(UNARY[kind(pool[index].spec)]),
        rng.randint(0, 3),
        rng.choice((None, 0, 2)),
    )

    def run(ops: Any, pool: Pool) -> Any:
        return ops.while_loop(
            lambda carry: carry["i"] < number,
            lambda carry: {"i": carry["i"] + 1, "x": body(ops, carry["x"])},
            {"i": ops.full((), 0, "int64"), "x": pool[index]},
            limit,
        )["x"]

    return Step(f"while_loop({number} times, at most {limit}: {text}, p{index})", run)


def _scan(rng: random.Random, pool: Pool, index: int) -> Step:
    spec = pool[index].spec
    (text, body), axis, reverse = rng.choice(UNARY[kind(spec)]), rng.randint(0, 1), rng.random() < 0.5
    join = JOIN[kind(spec)]
    collected = rng.choice(("item", "carry", "both"))

    def run(ops: Any, pool: Pool) -> Any:
        def one(carry: Any, item: Any) -> Any:
            carry = join(body(ops, carry), item)
            return carry, {"item": item, "carry": carry, "both": (carry, item)}[collected]

        return ops.scan(one, ops.zeros_like(ops.take(pool[index], 0, axis)), pool[index], reverse, axis)

    return Step(f"scan({text}, p{index}, {reverse=}, {axis=}, {collected=})", run)


def _map(rng: random.Random, pool: Pool, index: int) -> Step:
    (text, body), axis = rng.choice(UNARY[kind(pool[index].spec)]), rng.randint(0, 1)
    return Step(
        f"map({text}, p{index}, {axis=})",
        lambda ops, pool: ops.map(lambda item: body(ops, item), pool[index], axis),
    )


def _fold(rng: random.Random, pool: Pool, index: int) -> Step:
    shape = rng.choice(
        ("(-1,)", "(s[0], -1)", "(s[0] * s[1], -1)", "(-1, 1)", "(1, *s)", "(*s, 1)", "s[::-1]")
    )
    return Step(
        f"reshape(p{index}, {shape})",
        lambda ops, pool: ops.reshape(pool[index], _shape(ops, pool[index], shape)),
    )


def _shape(ops: Any, x: Any, text: str) -> Any:
    sizes = ops.shape(x)
    while len(sizes) < 2:
        sizes = (*sizes, 1)
    return eval(text, {"__builtins__": {}}, {"s": sizes})


def _random(rng: random.Random, pool: Pool, index: int) -> Step:
    return Step(
        f"random_uniform(shape(p{index}))", lambda ops, pool: ops.random_uniform(ops.shape(pool[index]))
    )


def _variable(rng: random.Random, pool: Pool, index: int) -> Step | None:
    places = [i for i, each in enumerate(pool) if isinstance(each, SymbolicVariable)]
    if not places:
        return None
    place = rng.choice(places)
    kind_of_write = rng.choice(("read", "assign", "assign_add", "scatter_update", "scatter_add"))
    if kind_of_write == "read":
        return Step(f"read(p{place})", lambda ops, pool: ops.read(pool[place]))
    if kind_of_write.startswith("assign"):
        value = rng.choice([_like(rng, pool, place), index])
        return Step(
            f"{kind_of_write}(p{place}, p{value})",
            lambda ops, pool: getattr(ops, kind_of_write)(pool[place], pool[value]),
        )
    rows = rng.randrange(len(pool))
    return Step(
        f"{kind_of_write}(p{place}, [0], p{rows}[:1])",
        lambda ops, pool: getattr(ops, kind_of_write)(
            pool[place], ops.full((1,), 0, "int64"), pool[rows][:1]
        ),
    )


SPECIAL: Sequence[Callable[[random.Random, Pool, int], Step | None]] = (
    *(_slice, _slice, _slice, _cond, _while, _scan, _scan, _map, _fold, _fold, _random, _variable, _variable),
)
