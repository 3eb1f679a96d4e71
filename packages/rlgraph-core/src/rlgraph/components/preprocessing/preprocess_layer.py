"""The base class of preprocessing layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rlgraph.core import Component
from rlgraph.spaces import BoxSpace, Dict, FloatBox, IntBox, Space, SpaceError, TextBox, from_spec


class PreprocessLayer(Component):
    """A step of preprocessing, applied to every leaf of its input.

    It has an API method ``call(inputs)``. One with state has ``call(inputs, internal_states=None)`` in its place, which
    returns ``{"output", "internal_states"}``, and `get_internal_states_space`; where states are zero, or None, an
    episode begins. One that learns also has an API method ``apply``, which is ``call`` without learning.

    Attributes:
        has_state: whether its output depends on earlier inputs of the episode.
        learns: whether `call` changes its variables.
        boxes: the leaves of its input Space by path, once it is built; with the ranks of the first call.
    """

    has_state: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    boxes: dict[str, BoxSpace]

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.get_preprocessed_space(input_spaces["inputs"])
        self.boxes = input_spaces["inputs"].flatten()

    def box_of(self, key: str, space: Space) -> BoxSpace:
        """The leaf at `key` with the ranks of `space`; for use in graph functions with ``space_of="inputs"``."""
        return self.boxes[key].with_extra_ranks(space.batch_rank, space.time_rank, space.time_major)

    def get_preprocessed_space(self, space: Any) -> Space:
        """The output Space for the input Space `space`; ranks do not change.

        Raises:
            SpaceError: the layer does not accept such a Space; names the path of the leaf.
        """
        return from_spec(space).map(self._preprocessed_leaf)

    def get_internal_states_space(self, space: Any) -> Dict:
        """The Space of the states of a layer with state, with a batch rank, for inputs of `space`."""
        raise NotImplementedError(f"{type(self).__name__} has no state")

    def _preprocessed_leaf(self, path: str, box: BoxSpace) -> BoxSpace:
        try:
            return self.preprocessed_box(box)
        except SpaceError as error:
            named = error if str(error).startswith(self.scope_path) else error.under(self.scope_path)
            raise named.under(path) if path else named from error

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        """`get_preprocessed_space` of a leaf; a layer for whole containers has its own `get_preprocessed_space`."""
        raise NotImplementedError(
            f"{type(self).__name__} does not define its output Space: implement preprocessed_box"
        )


def float_bounds(box: BoxSpace) -> tuple[Any, Any]:
    """The bounds of a leaf, both inclusive, as floats or arrays of them; None without a bound."""
    if isinstance(box, IntBox):
        high = None if box.high is None else np.asarray(box.high, np.float64) - 1.0
        return _plain(box.low), _plain(high)
    if isinstance(box, FloatBox):
        return box.low, box.high
    return 0.0, 1.0


def _plain(bound: Any) -> Any:
    return None if bound is None else np.asarray(bound, np.float64).tolist()


def with_shape(box: BoxSpace, shape: tuple[int, ...], keep_bounds: bool = True) -> BoxSpace:
    """A Space of other elements of the same kind; bounds stay if all elements share them."""
    options: dict[str, Any] = box.ranks.options()
    if isinstance(box, IntBox | FloatBox):
        shared = not isinstance(box.low, np.ndarray) and not isinstance(box.high, np.ndarray)
        low, high = (box.low, box.high) if shared and keep_bounds else (None, None)
        return type(box)(low, high, shape=shape, dtype=box.dtype, **options)
    return type(box)(shape=shape, **options)  # type: ignore[call-arg]


def scaled_box(box: BoxSpace, factor: float, where: str) -> FloatBox:
    """The Space of ``box * factor``, in floats.

    Raises:
        SpaceError: text.
    """
    check_numeric(box, where)
    low, high = (None if bound is None else np.asarray(bound) * factor for bound in float_bounds(box))
    if factor < 0.0:
        low, high = high, low
    return FloatBox(low, high, shape=box.shape, **box.ranks.options())


def check_numeric(box: BoxSpace, where: str) -> None:
    """Raise `SpaceError` for text."""
    if isinstance(box, TextBox):
        raise SpaceError(f"{where}: expected numbers, given {box!r}")
