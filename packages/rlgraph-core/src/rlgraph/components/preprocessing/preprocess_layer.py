"""The base classes of preprocessing layers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import Component, InputError
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space, SpaceError, TextBox, from_spec
from rlgraph.spaces.errors import mismatch


class PreprocessLayer(Component):
    """A step of preprocessing, applied to every leaf of its input.

    A layer without state has an API method ``call(inputs)``; one with state ``call(inputs, env_indices)`` and
    ``reset(env_indices)`` (see `StatefulLayer`).

    Attributes:
        has_state: whether it keeps state of past inputs.
        boxes: the leaves of its input Space by path, once it is built; with the ranks of the first call.
    """

    has_state: ClassVar[bool] = False
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


class StatefulLayer(PreprocessLayer):
    """A layer with state for each of up to `num_environments` environments.

    Args:
        num_environments: largest number of environments; their indices are 0 to ``num_environments - 1``.
        scope: name among its siblings.
    """

    has_state = True
    ranks_may_differ = False
    other_names = MappingProxyType({"batch_size": "num_environments"})

    def __init__(self, num_environments: int = 64, scope: str = "", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)
        self.num_environments = check_whole(num_environments, f"{self.scope}.num_environments", least=1)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        inputs, indices = input_spaces["inputs"], input_spaces.get("env_indices")
        if not inputs.has_batch_rank or inputs.has_time_rank:
            hint = "a state of each environment at a time, before they become sequences"
            raise mismatch("inputs", "a batch rank and no time rank", repr(inputs), hint)
        if indices is None:
            return
        single = isinstance(indices, IntBox) and not indices.shape
        if not single or not indices.has_batch_rank or indices.has_time_rank:
            raise mismatch("env_indices", "IntBox(add_batch_rank=True), one for each state", repr(indices))

    def rows_of(self, env_indices: np.ndarray, number: int) -> slice | np.ndarray:
        """The index into host variables ``[num_environments, ...]``; a slice for consecutive indices.

        Raises:
            InputError: the number of indices is not `number`, or one is out of range or duplicate.
        """
        given: list[int] = env_indices.tolist()
        if len(given) != number:
            raise InputError(
                f"{self.scope_path}: expected {number} env_indices, one per state, given {len(given)}"
            )
        self.check_range(given)
        if given and given == list(range(given[0], given[0] + number)):
            return slice(given[0], given[0] + number)
        if len(set(given)) != number:
            raise InputError(f"{self.scope_path}: expected different env_indices in one call, given {given}")
        return env_indices

    def check_range(self, given: list[int]) -> None:
        """Raise `InputError` if an index is out of range."""
        if given and not 0 <= min(given) <= max(given) < self.num_environments:
            raise InputError(
                f"{self.scope_path}: expected env_indices in 0..{self.num_environments - 1}, given {given}; "
                "increase num_environments of the layer"
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
