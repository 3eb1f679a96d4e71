"""Checks of action values and actions in Q-learning losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.losses.per_item_checks import sizes_fit
from rlgraph.spaces import BoolBox, BoxSpace, IntBox, SpaceError


def check_action_values(spaces: Mapping[str, Any], atoms: bool = False) -> None:
    """Raise `SpaceError` unless ``q_next`` and ``q_next_target`` have the shape of ``q_values``, and ``actions`` fit.

    Args:
        spaces: by argument; all may be containers of the same form.
        atoms: values are ``[B, ..., A, N]`` instead of ``[B, ..., A]``.
    """
    values = spaces["q_values"].flatten()
    for name in ("q_next", "q_next_target", "actions"):
        leaves = spaces[name].flatten()
        if leaves.keys() != values.keys():
            raise SpaceError(
                f"{name}: expected the parts of q_values, {spaces['q_values']!r}, given {spaces[name]!r}"
            )
        for path, box in leaves.items():
            where = f"{name}/{path}" if path else name
            if name == "actions":
                _check_actions(where, box, values[path], 2 if atoms else 1)
            elif not sizes_fit(box.get_shape(True, True), values[path].get_shape(True, True)):
                raise SpaceError(f"{where}: expected the shape of q_values, {values[path]!r}, given {box!r}")


def check_is_one_integer(values: Any) -> None:
    """Raise `SpaceError` unless `values` belong to an action of one integer, ``[B, A]``."""
    if not isinstance(values, BoxSpace) or len(values.get_shape(True, True)) != 2:
        raise SpaceError(
            f"q_values: expected values of one integer, [B, A], given {values!r}; for other actions pass "
            "action_space"
        )


def _check_actions(where: str, actions: BoxSpace, values: BoxSpace, trailing: int) -> None:
    """Check `actions`; `trailing` is the number of axes at the end of values that actions lack."""
    shape, wanted = actions.get_shape(True, True), values.get_shape(True, True)
    if not isinstance(actions, IntBox | BoolBox):
        raise SpaceError(
            f"{where}: expected an IntBox or a BoolBox, given {actions!r}; put in front: "
            '{"type": "convert_type", "to_dtype": "int"}'
        )
    if values.has_batch_rank != actions.has_batch_rank:
        raise SpaceError(f"{where}: expected the batch rank of q_values, {values!r}, given {actions!r}")
    if not sizes_fit(shape, wanted[:-trailing]):
        axes = "two axes, of actions and atoms," if trailing == 2 else "axis, of actions,"
        raise SpaceError(
            f"{where}: expected the shape of q_values, {values!r}, without the last {axes} given {actions!r}"
        )
    high = 2 if isinstance(actions, BoolBox) else actions.high
    if high is not None and np.max(high) > wanted[-trailing]:
        raise SpaceError(
            f"{where}: expected one of {wanted[-trailing]} actions, as q_values have, given {actions!r}"
        )
