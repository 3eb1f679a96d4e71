"""Draws of one backend given to another: what is random can then be compared number by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import numpy as np

from rlgraph.core import GraphExecutor, RLGraphError
from rlgraph.core.ops import OPERATIONS

Tap = Callable[[np.ndarray], np.ndarray]


def record_draws(executor: GraphExecutor) -> list[np.ndarray]:
    """A list to which every draw of the executor's graph functions is appended from now on, in program order.

    Draws of acting methods are not among them: they are the same on every backend.

    Raises:
        RLGraphError: an API method has run already.
    """
    draws: list[np.ndarray] = []

    def record(value: np.ndarray) -> np.ndarray:
        draws.append(np.array(value))
        return value

    _tap(executor, record)
    return draws


def replay_draws(executor: GraphExecutor, draws: Iterable[np.ndarray]) -> None:
    """Let the executor's graph functions get `draws`, one after the other, in place of their own.

    A draw that is not there, or has another shape or dtype, ends the run with an error.

    Raises:
        RLGraphError: an API method has run already.
    """
    remaining = enumerate(draws)

    def replay(value: np.ndarray) -> np.ndarray:
        number, given = next(remaining, (0, None))
        assert given is not None, "there are fewer recorded draws than the program makes"
        wanted, found = (f"{array.dtype}{list(np.shape(array))}" for array in (value, given))
        assert wanted == found, f"draw {number}: the program draws {wanted}, recorded is {found}"
        return given

    _tap(executor, replay)


def _tap(executor: GraphExecutor, tap: Tap) -> None:
    if executor.programs.of_methods:
        raise RLGraphError(
            f"the API methods {sorted(executor.programs.of_methods)} have run already: tap a new executor"
        )
    backend: Any = executor.backend
    backend.ops = _tapped(backend.ops, tap)


def _tapped(ops: Any, tap: Tap) -> Any:
    """`ops` with every draw going through `tap`."""

    def tapped(draw: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *args, **kwargs: self.through_host(draw(self, *args, **kwargs), tap)

    names = [name for name, operation in OPERATIONS.items() if operation.family == "random"]
    result = copy(ops)
    result.__class__ = type(
        "Tapped", (type(ops),), {name: tapped(getattr(type(ops), name)) for name in names}
    )
    return result
