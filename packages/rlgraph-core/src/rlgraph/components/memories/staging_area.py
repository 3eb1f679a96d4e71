"""A staging area for the next element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.memories.handover import Handover
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, BoxSpace, Space, SpaceError


class StagingArea(Handover):
    """Holds one element: one thread stages the next while another one uses the last.

    The Space of an element has no unknown sizes: a batch of 32 has ``add_batch_rank=32``.

    Args:
        timeout: seconds to wait; None: without limit; 0: not at all.

    Raises:
        SpecError: a timeout below 0 or not finite.
        SpaceError: a size of the element is unknown.
    """

    def __init__(self, timeout: float | None = None, scope: str = "staging-area", **kwargs: Any):
        super().__init__(timeout, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for path, box in input_spaces["values"].flatten().items():
            if box.dtype == "str" or None in _sizes(box):
                raise SpaceError(
                    f"{self.scope_path}: values{f'/{path}' if path else ''}: expected numbers of known sizes, a batch "
                    f"of 32 with add_batch_rank=32, given {box!r}"
                )

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        self.element_space: Any = input_spaces["values"]
        self.staged = {
            path: self.get_variable(f"staged/{path}" if path else "staged", _plain(box), host=True)
            for path, box in self.element_space.flatten().items()
        }
        #: Whether an element is staged; [1].
        self.is_full = self.get_variable("is_full", BoolBox(shape=(1,)), initializer=False, host=True)

    @rlgraph_api
    def stage(self, values: Any) -> Any:
        """Stage an element; wait until the previous one is taken.

        Raises:
            QueueClosedError: it is closed.
            QueueTimeoutError: the one before it was not taken in time.
        """
        return self._stage(values)

    @rlgraph_api
    def unstage(self) -> Any:
        """Take the element; wait until one is staged.

        Raises:
            QueueClosedError: it is closed and empty.
            QueueTimeoutError: no element was staged in time.
        """
        return self._unstage()

    @graph_fn(returns=0, host=True, spaces=())
    def _stage(self, values: Any) -> None:
        is_full: Any = self.is_full
        self._wait_until(lambda: not is_full[0], True, "room for an element")
        held: Any = self.staged
        for path, value in self.element_space.flatten_sample(values).items():
            held[path][...] = value
        is_full[0] = True
        self._wake_others()

    @graph_fn(host=True, spaces=lambda self: self.element_space, shares=())
    def _unstage(self) -> Any:
        is_full, held = self.is_full, self.staged
        self._wait_until(lambda: is_full[0], False, "element")  # type: ignore[index]
        values = self.element_space.unflatten_sample({path: np.array(array) for path, array in held.items()})
        is_full[0] = False  # type: ignore[index]
        self._wake_others()
        return values


def _sizes(box: BoxSpace) -> tuple[Any, ...]:
    """The sizes of all axes, those of batch and time first; None for unknown ones."""
    sizes: Any = box.get_shape(with_batch_rank=True, with_time_rank=True)
    return tuple(sizes)


def _plain(box: BoxSpace) -> BoxSpace:
    """The Space of the same arrays, without bounds and ranks."""
    if isinstance(box, BoolBox):
        return BoolBox(shape=_sizes(box))
    return type(box)(shape=_sizes(box), dtype=box.dtype)  # type: ignore[call-arg]
