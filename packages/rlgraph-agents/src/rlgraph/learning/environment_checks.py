"""Checks of what an environment gives inside of a program, after each call; from outside every step is checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.environments import EnvironmentFault, StateBoundsWarning
from rlgraph.environments.masked_states import NEEDS_ACTION, MaskedStates
from rlgraph.spaces import BoxSpace, FloatBox, IntBox


def bounded_leaves(environment: EnvironmentComponent) -> dict[str, BoxSpace]:
    """The parts of a state that can be outside of their Space, by path."""
    leaves = environment.state_space.flatten().items()
    return {path: box for path, box in leaves if isinstance(box, FloatBox | IntBox) and _can_leave(box)}


def key_of(path: str) -> str:
    """The name of a part in what a program returns."""
    return path.replace("/", ".") or "state"


def _can_leave(box: FloatBox | IntBox) -> bool:
    if isinstance(box, FloatBox):
        return not box.unbounded
    info = np.iinfo(box.dtype)
    return np.max(info.min if box.low is None else box.low) > info.min or (
        box.high is not None and np.min(box.high) <= info.max
    )


class EnvironmentChecks:
    """Looks at what a program returns of the steps of its environment.

    Args:
        environment: the environment.
        masked: its states, if a part of them is a mask.
    """

    def __init__(self, environment: EnvironmentComponent, masked: MaskedStates | None):
        self._masked, self._name = masked, type(environment).__name__
        self._leaves, self._reported = bounded_leaves(environment), set[str]()

    def check(self, seen: Mapping[str, Any], lengths: np.ndarray) -> None:
        """Check ``finite [T, N]``, ``lowest`` and ``highest`` ``{part: [T, ...]}`` and ``masks [T, N, ...]``.

        Raises:
            EnvironmentFault: a reward or state is not finite, an integer is outside of its Space, or no action is
                legal.

        Warns:
            StateBoundsWarning: a float is outside of its bounds; once for each part.
        """
        if not seen["finite"].all():
            self._refuse(~seen["finite"], lengths, "a reward or a number of the state is not finite")
        if self._masked is not None:
            masks = {self._masked.name: _in_a_row(seen["masks"])}
            row = self._masked.row_without_actions(masks)
            if row is not None:
                place = np.zeros(lengths.size, bool)
                place[row] = True
                text = f"the action mask of the state before it allows no action: {NEEDS_ACTION}"
                self._refuse(place.reshape(lengths.shape), lengths, text)
        for path, box in self._leaves.items():
            lowest, highest = (
                seen["lowest"][key_of(path)].min(axis=0),
                seen["highest"][key_of(path)].max(axis=0),
            )
            below = lowest[lowest < (-np.inf if box.low is None else box.low)]
            last = np.inf if box.high is None else box.high
            above = highest[highest > last if isinstance(box, FloatBox) else highest >= last]
            for value in (*below.flat, *above.flat):
                self._report(path, box, value)
                break

    def _refuse(self, where: np.ndarray, lengths: np.ndarray, text: str) -> None:
        step, copy = np.argwhere(where)[0]
        raise EnvironmentFault(
            f"{self._name}, environment {copy}, step {lengths[step, copy]}: {text.rstrip('.')}. An update of this "
            "call may have learned from it: load an earlier checkpoint"
        )

    def _report(self, path: str, box: BoxSpace, value: Any) -> None:
        part = f"state/{path}" if path else "state"
        text = f"{self._name}: {part} has {value!s}, outside of {box!r}"
        if isinstance(box, IntBox):
            raise EnvironmentFault(f"{text}. Give the class another state_space, or mend observe")
        if path not in self._reported:
            self._reported.add(path)
            warnings.warn(f"{text}. Each part is reported once", StateBoundsWarning, stacklevel=1)


def _in_a_row(masks: Any) -> Any:
    """``[T, N, ...] -> [T * N, ...]``."""
    if isinstance(masks, Mapping):
        return {name: _in_a_row(part) for name, part in masks.items()}
    if isinstance(masks, tuple):
        return tuple(map(_in_a_row, masks))
    return masks.reshape(-1, *masks.shape[2:])
