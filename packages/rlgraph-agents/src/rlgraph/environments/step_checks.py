"""Checks of the values that environments return.

The form of a step (five values, their types, the shape and kind of the state, a finite reward) is checked in every
step: a vector environment compares types inline and calls `check_result` only where one is unusual. The values of
states and actions are compared with their Spaces in the first episode of each environment, which costs more than a
CartPole step. Where an actor steps the environments, every batch of states is checked for NaN and for integers outside
their Space, and floats outside their bounds are reported (`rlgraph.environments.state_bounds`).
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.state_bounds import without_float_bounds

LARGEST_REWARD = float(np.finfo(np.float32).max)
"""Rewards are kept as float32. A comparison with `-LARGEST_REWARD` and this is false for NaN too."""

NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""The usual types of rewards."""

FLAGS = frozenset({bool, np.bool_})
"""The types of `terminated` and `truncated`."""


class CheckedStep:
    """The `step` of one environment, with action and result checked against the contract.

    Args:
        environment: the environment to step.
        label: its name in messages, for example "CartPole-v1, environment 3".
        validate_states: whether floats of states outside their bounds are a fault.
    """

    def __init__(self, environment: Environment, label: str, validate_states: bool) -> None:
        self.environment = environment
        self.label = label
        self.steps = 0
        space = environment.state_space
        self._states = space if validate_states else without_float_bounds(space)

    def begin(self, state: Any) -> None:
        """Checks the state of a reset: step 0 of an episode."""
        self.steps = 0
        self._check(self._states.explain(state, "state"))

    def __call__(self, action: Any) -> StepResult:
        self.steps += 1
        self._check(self.environment.action_space.explain(action, "action"))
        result = self.environment.step(action)
        self._check(explain_result(result))
        self._check(self._states.explain(result[0], "state"))
        return result

    def _check(self, fault: str | None) -> None:
        """Raises the fault, if there is one, with the place."""
        if fault is not None:
            raise EnvironmentFault(f"{self.label}, step {self.steps}: {fault}.")


def explain_result(result: Any) -> str | None:
    """The fault in the form of a step's result, except its state; None if it is valid."""
    if not isinstance(result, tuple) or len(result) != 5:
        given = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
        return f"step() returns (state, reward, terminated, truncated, info), got {given}"
    _, reward, terminated, truncated, info = result
    fault = explain_number(reward)
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if fault is None and type(flag) not in FLAGS:
            fault = f"{name} is a bool, got {reprlib.repr(flag)}"
    if fault is None and not isinstance(info, dict):
        fault = f"info is a dict, got {type(info).__name__}"
    return fault


def explain_number(value: Any, name: str = "the reward") -> str | None:
    """The fault in a number; None if it is one number that float32 can hold."""
    if type(value) in NUMBERS and -LARGEST_REWARD <= value <= LARGEST_REWARD:
        return None
    try:
        shape = np.shape(value)
        if shape == () and not isinstance(value, str | bytes):
            number = float(value)
            return (
                None
                if -LARGEST_REWARD <= number <= LARGEST_REWARD
                else f"{name} is {number}; it must be finite"
            )
    except OverflowError:
        return f"{name} is {reprlib.repr(value)}; it must be finite"
    except (TypeError, ValueError):
        shape = ()
    of_shape = f" of shape {shape}" if shape else f" ({reprlib.repr(value)})"
    return f"{name} is one number, got {type(value).__name__}{of_shape}"


def check_result(result: Any) -> None:
    """Raises `EnvironmentFault` without its place if the form of a step's result is wrong."""
    fault = explain_result(result)
    if fault is not None:
        raise EnvironmentFault(f"{fault}.")


def is_end(terminated: Any, truncated: Any) -> bool:
    """Whether a step ended its episode.

    Raises:
        EnvironmentFault: one of the two is not a bool; the message lacks the place.
    """
    if terminated is False and truncated is False:
        return False
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if type(flag) not in FLAGS:
            raise EnvironmentFault(f"{name} is a bool, got {reprlib.repr(flag)}.")
    return bool(terminated or truncated)


def number_of(reward: Any) -> float:
    """A reward as a number.

    Raises:
        EnvironmentFault: it is not one finite number; the message lacks the place.
    """
    if (fault := explain_number(reward)) is not None:
        raise EnvironmentFault(f"{fault}.")
    return float(reward)


def check_finite(rows: np.ndarray[Any, Any], describe: Callable[[int], str], name: str = "state") -> None:
    """Raises if a packed batch of states holds a NaN or an infinity.

    Args:
        rows: `[N, ...]`; only floats are checked.
        describe: names where row `n` comes from, for example "CartPole-v1, environment 3, step 17".
        name: names the rows, for example "state/position", one leaf of a container.

    Raises:
        EnvironmentFault: names the first bad row, the place in it and the value.
    """
    if rows.dtype.kind != "f":
        return
    finite = np.isfinite(rows)
    if finite.all():
        return
    row, *place = (int(index) for index in np.argwhere(~finite)[0])
    raise EnvironmentFault(
        f"{describe(row)}: {name}{place or ''} is {rows[(row, *place)]}, it must be finite."
    )
