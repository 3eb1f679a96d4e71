"""Stacks the last states of each environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.preprocessing.preprocess_layer import StatefulLayer, check_numeric, with_shape
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import BoolBox, BoxSpace, Dict, Space, SpaceError


class Sequence(StatefulLayer):
    """Stacks the last `sequence_length` states of each environment, oldest first ("frame stack", Mnih et al., 2015).

    The first state after a reset fills the whole sequence. It lives on the host, in NumPy.

    Args:
        sequence_length: number of states.
        add_rank: stack them along a new last axis, ``[B, ...] -> [B, ..., sequence_length]``; False:
            concatenate them along the last axis, ``[B, ..., C] -> [B, ..., sequence_length * C]``.
        num_environments: largest number of environments.
        scope: name among its siblings.

    Raises:
        SpaceError: text; a Space without axes while `add_rank` is False.
        InputError: an environment index is out of range, or occurs twice in one call.
    """

    def __init__(
        self,
        sequence_length: int = 4,
        add_rank: bool = True,
        num_environments: int = 64,
        scope: str = "sequence",
        **kwargs: Any,
    ):
        super().__init__(num_environments, scope=scope, **kwargs)
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

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        if "env_indices" not in input_spaces:
            return
        self.slots: dict[str, Any] = {}
        self.is_filled: dict[str, Any] = {}
        for path, box in self.boxes.items():
            stacked = self.preprocessed_box(box).without_ranks()
            rows = with_shape(stacked, (self.num_environments, *stacked.shape))
            flags = BoolBox(shape=(self.num_environments,))
            self.slots[path] = self.get_variable(f"slots/{path}", rows, host=True)
            self.is_filled[path] = self.get_variable(f"is_filled/{path}", flags, host=True)

    @rlgraph_api
    def call(self, inputs: Any, env_indices: Any) -> Any:
        """``inputs [B, ...], env_indices [B] -> [B, ..., sequence_length]``."""
        return self._stack(inputs, env_indices)

    @rlgraph_api
    def reset(self, env_indices: Any) -> Any:
        """Reset the sequences of the environments ``env_indices [N]``, which begin new episodes."""
        return self._reset(env_indices)

    def get_internal_states_space(self, space: Any) -> Dict:
        """The Space of the states of `call_with_states`: the last stack of inputs, and whether there is one."""
        stacked = self.get_preprocessed_space(space).without_ranks()
        return Dict(stack=stacked, is_filled=BoolBox(), add_batch_rank=True)

    @rlgraph_api
    def call_with_states(self, inputs: Any, internal_states: Any = None) -> Any:
        """``{"output", "internal_states"}`` of ``inputs [B, ...]``; where states are zero, or None, episodes begin."""
        states = {} if internal_states is None else internal_states
        output, is_filled = self._continue(inputs, **{name: states[name] for name in states})
        return {"output": output, "internal_states": {"stack": output, "is_filled": is_filled}}

    @graph_fn(
        host=True,
        spaces=lambda self, inputs, *_: (
            self.get_preprocessed_space(inputs),
            BoolBox(add_batch_rank=inputs.batch_rank),
        ),
        returns=2,
    )
    def _continue(self, inputs: Any, stack: Any = None, is_filled: Any = None) -> Any:
        filled = np.ones(len(next(iter(leaves_of(inputs)))), bool)
        if stack is None:
            begin = lambda new, _: np.tile(new[..., None] if self.add_rank else new, self.sequence_length)  # noqa: E731
            return _map(begin, inputs, inputs), filled
        begins = None if is_filled.all() else ~is_filled
        return _map(lambda new, old: self._next_stack(new, old, begins), inputs, stack), filled

    def _next_stack(self, inputs: np.ndarray, stack: np.ndarray, begins: np.ndarray | None) -> np.ndarray:
        newest = inputs[..., None] if self.add_rank else inputs
        stacked = np.concatenate([stack[..., newest.shape[-1] :], newest], axis=-1)
        if begins is not None:
            stacked[begins] = np.tile(newest[begins], self.sequence_length)
        return stacked

    @graph_fn(
        host=True,
        spaces=lambda self, key, inputs, env_indices: self.get_preprocessed_space(inputs),
        flatten_ops={"inputs"},
        split_ops=True,
        add_auto_key_as_first_param=True,
    )
    def _stack(self, key: str, inputs: np.ndarray, env_indices: np.ndarray) -> np.ndarray:
        rows = self.rows_of(env_indices, len(inputs))
        slots, is_filled = self.slots[key], self.is_filled[key]
        newest = inputs[..., None] if self.add_rank else inputs
        stacked = slots[rows]  # a view of consecutive environments, else a copy
        # Shift everything by one state; values from the next pixel are overwritten.
        step, flat = newest.shape[-1], stacked.reshape(-1)
        flat[:-step] = flat[step:]
        stacked[..., -step:] = newest
        filled = is_filled[rows]
        if not filled.all():
            stacked[~filled] = np.tile(newest[~filled], self.sequence_length)
            is_filled[rows] = True
        if not isinstance(rows, slice):
            slots[rows] = stacked
        return stacked  # the plan copies it if a later call could change it

    @graph_fn(host=True, returns=0, spaces=())
    def _reset(self, env_indices: np.ndarray) -> None:
        self.check_range(env_indices.tolist())
        for is_filled in self.is_filled.values():
            is_filled[env_indices] = False


def _map(function: Any, value: Any, other: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map(function, part, other[key]) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_map(function, *parts) for parts in zip(value, other, strict=True))
    return function(value, other)
