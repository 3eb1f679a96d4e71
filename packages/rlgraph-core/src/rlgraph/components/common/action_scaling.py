"""Actions in the units of networks that take them as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, Space


class ActionScaling(Component):
    """Maps floats from their bounds to -1..1, element by element, and back; all other actions pass unchanged.

    A network that takes actions as inputs learns as fast for bounds 1000..1001 as for -1..1. Elements without both
    bounds, parts that are no floats, and floats with the bounds -1..1 do not change at all.

    Args:
        action_space: of one action; default: that of the build, without which no action changes.
    """

    def __init__(self, action_space: Space | None = None, scope: str = "action-scaling", **kwargs: Any):
        self.action_space = action_space
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        given = input_spaces["actions"].flatten()
        action_space = self.action_space or action_space
        self.middle: dict[str, Any] = {}
        self.half: dict[str, Any] = {}
        for path, box in {} if action_space is None else action_space.flatten().items():
            if isinstance(box, FloatBox) and path in given and given[path].shape == box.shape:
                middle, half = middle_and_half(box)
                if middle.any():
                    self.middle[path] = self._constant("middle", path, middle)
                if (half != 1.0).any():
                    self.half[path] = self._constant("half", path, half)

    def _constant(self, name: str, path: str, values: NDArray[np.float64]) -> Any:
        """A number, or a variable if elements differ."""
        if np.ptp(values) == 0.0:
            return float(values.flat[0])
        name = f"{name}-{path.replace('/', '-')}" if path else name
        return self.get_variable(name, FloatBox(shape=values.shape), initializer=values, trainable=False)

    @property
    def changes_actions(self) -> bool:
        """Whether some element has other bounds than -1..1."""
        return bool(self.middle or self.half)

    @rlgraph_api
    def scale(self, actions: Any) -> Any:
        """Actions as the environment takes them ``[B, ...]`` in -1..1."""
        return self._scale(actions)

    @rlgraph_api(must_be_complete=False)
    def restore(self, actions: Any) -> Any:
        """The inverse of `scale`."""
        return self._restore(actions)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _scale(self, ops: Any, key: str, actions: Any) -> Any:
        # The difference of two near floats is exact; a quotient minus a quotient would not be.
        centred = actions - _value(ops, self.middle[key]) if key in self.middle else actions
        return centred / _value(ops, self.half[key]) if key in self.half else centred

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _restore(self, ops: Any, key: str, actions: Any) -> Any:
        stretched = actions * _value(ops, self.half[key]) if key in self.half else actions
        return stretched + _value(ops, self.middle[key]) if key in self.middle else stretched


def middle_and_half(box: FloatBox) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle and the half of the range of each element; 0 and 1 for elements without both bounds.

    The half of an empty range is 1, so that divisions by it stay finite.
    """
    low, high = (
        np.broadcast_to(np.asarray(missing if bound is None else bound, np.float64), box.shape)
        for bound, missing in ((box.low, -np.inf), (box.high, np.inf))
    )
    bounded = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
    return (low + high) / 2, np.where(low < high, (high - low) / 2, 1.0)


def scaled_space(space: Space) -> Space:
    """The Space of the actions that `ActionScaling` makes of those of `space`, one action."""

    def scaled(_: str, box: BoxSpace) -> BoxSpace:
        if not isinstance(box, FloatBox):
            return box
        middle, half = middle_and_half(box)
        low, high = (None if bound is None else (bound - middle) / half for bound in (box.low, box.high))
        return FloatBox(low, high, shape=box.shape, dtype=box.dtype)

    return space.map(scaled)


def log_half_ranges(space: Space) -> float:
    """The sum of the logarithms of the halves: what scaling adds to the log-density of an action."""
    floats = [box for box in space.flatten().values() if isinstance(box, FloatBox)]
    return float(sum(np.log(middle_and_half(box)[1]).sum() for box in floats))


def _value(ops: Any, constant: Any) -> Any:
    return constant if isinstance(constant, float) else ops.read(constant)
