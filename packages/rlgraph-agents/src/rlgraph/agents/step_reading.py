"""Steps that users hand to `observe`, checked against the Spaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.agents.nested_arrays import length
from rlgraph.core import InputError
from rlgraph.spaces import IntBox, Space, SpaceError


class StepReader:
    """Arguments of `observe` as columns with a batch rank.

    Args:
        states: one raw state.
        seen: one state as the algorithm sees it.
        actions: one action.
        dtype: of rewards and of all floats.
    """

    def __init__(self, states: Space, seen: Space, actions: Space, dtype: str):
        self._spaces = {
            "states": states,
            "preprocessed_states": seen,
            "next_states": seen if states == seen else None,
            "actions": actions,
        }
        self._states, self._seen, self._dtype = states, seen, np.dtype(dtype)

    def columns(self, given: Mapping[str, Any], batched: bool) -> dict[str, Any]:
        """The arguments that are not None, each with a batch rank; ends that were not given are nowhere.

        Raises:
            InputError: an argument is missing, does not fit, or is not finite; names it, and the row.
        """
        columns = {name: value for name, value in given.items() if value is not None}
        if ("states" in columns) == ("preprocessed_states" in columns):
            raise InputError("observe: expected either states or preprocessed_states")
        for name in ("actions", "rewards"):
            if name not in columns:
                raise InputError(f"observe: argument {name} is missing")
        for name in ("states", "preprocessed_states", "next_states", "actions"):
            if name in columns:
                space = self._spaces[name]
                if space is None:
                    space = self._states if "states" in columns else self._seen
                columns[name] = self._batch(name, columns[name], space, batched)
        rows = length(columns["actions"])
        columns["rewards"] = self._numbers("rewards", columns["rewards"], rows, batched, "fiu")
        for name in ("terminals", "truncations"):
            columns[name] = self._numbers(name, columns.get(name, np.zeros(rows, bool)), rows, batched, "b")
        for name, column in columns.items():
            if length(column) != rows:
                raise InputError(
                    f"observe: expected batches of one length, given {rows} actions and {length(column)} {name}"
                )
        return columns

    def _batch(self, name: str, value: Any, space: Space, batched: bool) -> Any:
        try:
            batch, was_added = space.force_batch(value)
        except SpaceError as error:
            raise InputError(f"observe: argument {name}: {error}") from None
        if was_added == batched:
            expected = "a batch, given one" if batched else "one, given a batch"
            raise InputError(f"observe: argument {name}: expected {expected}; batched={batched}")
        flat = {}
        for path, array in space.flatten_sample(batch).items():
            box, where = space.flatten()[path], f"{name}/{path}" if path else name
            array = np.asarray(array)
            if array.shape[1:] != box.shape:
                raise InputError(
                    f"observe: argument {where}: expected shape {list(box.shape)} in each row, given "
                    f"{list(array.shape[1:])}"
                )
            if array.dtype.kind == "f":
                array = array.astype(self._dtype, copy=False)
                self._check(where, array, np.isfinite(array), "is not finite")
            elif isinstance(box, IntBox):
                array = array.astype(box.dtype, copy=False)
                inside = np.ones(array.shape, bool) if box.low is None else array >= box.low
                inside = inside if box.high is None else inside & (array < box.high)
                self._check(where, array, inside, f"is outside {box!r}")
            flat[path] = array
        return space.unflatten_sample(flat)

    def _numbers(self, name: str, value: Any, rows: int, batched: bool, kinds: str) -> np.ndarray:
        array = np.asarray(value) if batched else np.atleast_1d(np.asarray(value))
        if array.shape != (rows,) or array.dtype.kind not in kinds:
            expected = "bools" if kinds == "b" else "numbers"
            raise InputError(
                f"observe: argument {name}: expected {rows} {expected}, given {array.dtype}{list(array.shape)}"
            )
        if kinds == "b":
            return array
        array = array.astype(self._dtype)
        self._check(name, array, np.isfinite(array), "is not finite")
        return array

    @staticmethod
    def _check(name: str, array: np.ndarray, fits: np.ndarray, fault: str) -> None:
        if not fits.all():
            place = int(np.argwhere(~fits)[0, 0])
            raise InputError(f"observe: {name} of row {place}, {array[place]}, {fault}")
