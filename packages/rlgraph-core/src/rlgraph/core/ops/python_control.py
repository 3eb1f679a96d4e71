"""Control flow in Python, for backends that compute eagerly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from rlgraph.core.ops.nest import leaves_of, map_nested, nested_like

Nested = Any


class PythonControl(ABC):
    """The control-flow operations (see `rlgraph.core.ops.control`); part of a backend's `ops`."""

    @staticmethod
    @abstractmethod
    def unstack(x: Any, axis: int) -> Sequence[Any]:
        """The slices of `x` along `axis`."""

    @staticmethod
    def cond(pred: Any, then: Callable[[], Nested], otherwise: Callable[[], Nested]) -> Nested:
        return then() if pred else otherwise()

    @staticmethod
    def while_loop(
        cond: Callable[[Nested], Any],
        body: Callable[[Nested], Nested],
        init: Nested,
        max_iterations: int | None = None,
    ) -> Nested:
        carry = init
        for _ in count() if max_iterations is None else range(max_iterations):
            if not cond(carry):
                break
            carry = body(carry)
        return carry

    def scan(
        self,
        body: Callable[[Nested, Nested], tuple[Nested, Nested]],
        init: Nested,
        xs: Nested,
        reverse: bool = False,
        axis: int = 0,
    ) -> tuple[Nested, Nested]:
        carry, ys = init, []
        items = self._items(xs, axis)
        for item in reversed(items) if reverse else items:
            carry, y = body(carry, item)
            ys.append(y)
        if not items:
            return init, self._nothing(body(init, self._zeros(xs, axis))[1], axis)
        return carry, self._stacked(ys[::-1] if reverse else ys, axis)

    def map(self, body: Callable[[Nested], Nested], xs: Nested, axis: int = 0) -> Nested:
        items = self._items(xs, axis)
        if not items:
            return self._nothing(body(self._zeros(xs, axis)), axis)
        return self._stacked([body(item) for item in items], axis)

    def _items(self, xs: Nested, axis: int) -> list[Nested]:
        rows = zip(*(self.unstack(x, axis) for x in leaves_of(xs)), strict=True)
        return [nested_like(xs, row) for row in rows]

    def _stacked(self, ys: list[Nested], axis: int) -> Nested:
        return map_nested(lambda *parts: self.stack(parts, axis), *ys)  # type: ignore[attr-defined]

    # Without slices, a call of the body on zeros tells the structure and shapes of its results.

    def _zeros(self, xs: Nested, axis: int) -> Nested:
        return map_nested(lambda x: self.sum(x, axis), xs)  # type: ignore[attr-defined]

    def _nothing(self, y: Nested, axis: int) -> Nested:
        return map_nested(lambda part: part[(slice(None),) * axis + (slice(0),)], self._stacked([y], axis))
