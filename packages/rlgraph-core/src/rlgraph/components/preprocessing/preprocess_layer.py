"""The base class of preprocessing layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import BoxSpace, Dict, FloatBox, IntBox, Space, SpaceError, TextBox, from_spec

#: Bounds further apart, such as 1e6, say that a number has none; pictures of 16 bits have these.
WIDEST = 65535.0
#: Bounds that were computed in floats may be this much beyond 1.
ROUNDING = 1e-6


class PreprocessLayer(Component):
    """A step of preprocessing, applied to every leaf of its input.

    It has an API method ``call(inputs)``. One with state has ``call(inputs, internal_states=None)`` in its place, which
    returns ``{"output", "internal_states"}``, and `get_internal_states_space`; where states are zero, or None, an
    episode begins. One that learns also has an API method ``apply``, which is ``call`` without learning, and overrides
    `reset`.

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

    @rlgraph_api
    def reset(self) -> Any:
        """Forget what the layer learned; a layer that does not learn has nothing to forget."""

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


def scale_of(box: BoxSpace) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """``(low, high - low)`` of numbers whose bounds are a scale; None: the numbers are taken unchanged.

    Bounds are a scale if all elements have both, some are outside -1..1, and none are more than `WIDEST` apart. Those
    of floats also have to be 0 or more: others are centred, as standardized numbers are. The bounds of ``uint8``
    without bounds are 0 and 255. Elements with only one value have a range of 1.
    """
    low, high = float_bounds(box)
    if box.dtype == "uint8":
        low, high = 0.0 if low is None else low, 255.0 if high is None else high
    if low is None or high is None:
        return None
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    span = high - low
    within_1 = np.all(np.maximum(np.abs(low), np.abs(high)) <= 1.0 + ROUNDING)
    centred = isinstance(box, FloatBox) and np.any(low < 0.0)
    if not np.all(span <= WIDEST) or within_1 or centred:
        return None
    return low, np.where(span == 0.0, 1.0, span)


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
