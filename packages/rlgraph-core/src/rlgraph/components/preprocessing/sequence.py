"""Stacks the last states of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.networks.layer_chain import check_states
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, check_numeric, with_shape
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import BoolBox, BoxSpace, Dict, Space, SpaceError
from rlgraph.spaces.errors import mismatch


class Sequence(PreprocessLayer):
    """Stacks the last `sequence_length` states of an episode, oldest first ("frame stack", Mnih et al., 2015).

    The first state of an episode fills the whole sequence.

    Args:
        sequence_length: number of states.
        add_rank: stack them along a new last axis, ``[B, ...] -> [B, ..., sequence_length]``; False:
            concatenate them along the last axis, ``[B, ..., C] -> [B, ..., sequence_length * C]``.

    Raises:
        SpaceError: text; a Space without axes while `add_rank` is False; inputs that are not one state per row.
    """

    has_state = True

    def __init__(
        self, sequence_length: int = 4, add_rank: bool = True, scope: str = "sequence", **kwargs: Any
    ):
        super().__init__(scope=scope, **kwargs)
        self.sequence_length = check_whole(sequence_length, f"{scope}.sequence_length", least=1)
        self.add_rank = add_rank

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        if self.add_rank:
            return with_shape(box, (*box.shape, self.sequence_length))
        if not box.shape:
            raise SpaceError(
                f"{self.scope_path}: without add_rank it needs a Space with a last axis, given {box!r}"
            )
        return with_shape(box, (*box.shape[:-1], box.shape[-1] * self.sequence_length))

    def get_internal_states_space(self, space: Any) -> Dict:
        """``stack``, the last output, and ``is_filled``, whether there is one."""
        stacked = self.get_preprocessed_space(space).without_ranks()
        return Dict(stack=stacked, is_filled=BoolBox(), add_batch_rank=True)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        inputs, states = input_spaces["inputs"], input_spaces.get("internal_states")
        if not inputs.has_batch_rank or inputs.has_time_rank:
            hint = "one state of each episode at a time, before they become sequences"
            raise mismatch("inputs", "a batch rank and no time rank", repr(inputs), hint)
        if states is not None:
            check_states("internal_states", states, self.get_internal_states_space(inputs))

    @rlgraph_api
    def call(self, inputs: Any, internal_states: Any = None) -> Any:
        """``{"output" [B, ..., sequence_length], "internal_states"}`` of ``inputs [B, ...]``."""
        held = () if internal_states is None else (internal_states["stack"], internal_states["is_filled"])
        output, is_filled = self._stack(inputs, *held)
        return {"output": output, "internal_states": {"stack": output, "is_filled": is_filled}}

    @graph_fn(returns=2)
    def _stack(self, ops: Any, inputs: Any, stack: Any = None, is_filled: Any = None) -> Any:
        first, *_ = leaves_of(inputs)

        def stacked(new: Any, old: Any) -> Any:
            newest = ops.expand_dims(new, -1) if self.add_rank else new
            begun = ops.concat([newest] * self.sequence_length, axis=-1)
            if stack is None:
                return begun
            following = ops.concat([old[..., newest.shape[-1] :], newest], axis=-1)
            goes_on = ops.reshape(is_filled, (-1, *[1] * (len(begun.shape) - 1)))
            return ops.where(goes_on, following, begun)

        output = _map(stacked, inputs, inputs if stack is None else stack)
        return output, ops.ones((ops.shape(first)[0],), "bool")

    @_stack.kernel("numpy")
    def _stack_numpy(self, ops: Any, inputs: Any, stack: Any = None, is_filled: Any = None) -> Any:
        filled = np.ones(len(next(iter(leaves_of(inputs)))), bool)
        if stack is None:
            return _map(
                lambda new, _: np.tile(self._newest(new), self.sequence_length), inputs, inputs
            ), filled
        begins = None if is_filled.all() else ~is_filled
        return _map(lambda new, old: self._next_stack(self._newest(new), old, begins), inputs, stack), filled

    def _newest(self, inputs: np.ndarray) -> np.ndarray:
        return inputs[..., None] if self.add_rank else inputs

    def _next_stack(self, newest: np.ndarray, stack: np.ndarray, begins: np.ndarray | None) -> np.ndarray:
        # Shift everything by one state in one copy; values from the next pixel are overwritten.
        stacked, step = np.empty(stack.shape, stack.dtype), newest.shape[-1]
        stacked.reshape(-1)[:-step] = stack.reshape(-1)[step:]
        stacked[..., -step:] = newest
        if begins is not None:
            stacked[begins] = np.tile(newest[begins], self.sequence_length)
        return stacked


def _map(function: Any, value: Any, other: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map(function, part, other[key]) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_map(function, *parts) for parts in zip(value, other, strict=True))
    return function(value, other)
