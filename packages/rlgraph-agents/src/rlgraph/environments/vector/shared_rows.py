"""Rows in memory that several processes share.

The memory is an anonymous mapping (`multiprocessing.RawArray`): its name is removed before the first process starts,
so that nothing remains however the processes end.
"""

from __future__ import annotations

from multiprocessing.context import BaseContext
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.environments.rows import Rows, map_rows
from rlgraph.environments.vector.buffers import Buffers
from rlgraph.spaces import Space

_ALIGNMENT = 64


class SharedRows:
    """Two sets of `Buffers` and one batch of actions, in shared memory.

    It can be passed to a process when that is started.

    Args:
        state_space, action_space: of one environment.
        size: the number of environments.
        context: how processes are started.

    Raises:
        SpecError: values of a Space have no fixed size (text).
    """

    def __init__(self, state_space: Space, action_space: Space, size: int, context: BaseContext) -> None:
        self._templates = (state_space, action_space, size)
        end = _Placement(None)
        _lay_out(end, *self._templates)
        self._memory = context.RawArray("b", end.offset)
        self._view()

    def _view(self) -> None:
        place = _Placement(np.frombuffer(self._memory, np.uint8))
        self.buffers, self.actions = _lay_out(place, *self._templates)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._templates, self._memory

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._templates, self._memory = state
        self._view()


class _Placement:
    """Places one array after another; without memory it only computes the size needed."""

    def __init__(self, memory: np.ndarray[Any, Any] | None) -> None:
        self.memory, self.offset = memory, 0

    def __call__(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if array.dtype.hasobject or array.dtype.kind in "US":
            raise SpecError("text has no fixed size and cannot be shared; use 'sequential'", path="processes")
        start = self.offset
        self.offset = -(-(start + array.nbytes) // _ALIGNMENT) * _ALIGNMENT
        if self.memory is None:
            return array
        return self.memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)


def _lay_out(
    place: _Placement, state_space: Space, action_space: Space, size: int
) -> tuple[tuple[Buffers, Buffers], Rows]:
    return (_buffers(place, state_space, size), _buffers(place, state_space, size)), map_rows(
        place, action_space.zeros(size)
    )


def _buffers(place: _Placement, state_space: Space, size: int) -> Buffers:
    own = Buffers.zeros(state_space, size)
    return Buffers(
        map_rows(place, own.states),
        map_rows(place, own.final_states),
        place(own.rewards),
        place(own.terminated),
        place(own.truncated),
    )
