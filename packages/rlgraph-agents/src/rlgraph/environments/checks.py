"""Checks of what environments give: all of them in an environment's first episode, the cheap ones always.

Holding a state against its Space costs more than a CartPole step, so a vector environment does it for the
first episode of each environment and then leaves it. A reward is compared with two numbers at every step.
States are looked at for NaN once per batch, by `check_finite`, where they leave for a memory or an update.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault

LARGEST_REWARD = float(np.finfo(np.float32).max)
"""Rewards are kept as float32. A comparison with `-LARGEST_REWARD` and this is false for NaN too."""


class CheckedStep:
    """The `step` of one environment with action, state and the rest held against the contract.

    Args:
        environment: whose step it is.
        label: what messages call it, for example "CartPole-v1, environment 3".
    """

    def __init__(self, environment: Environment, label: str) -> None:
        self.environment = environment
        self.label = label
        self.steps = 0

    def begin(self, state: Any) -> None:
        """Takes the state of a reset: step 0 of an episode."""
        self.steps = 0
        self._check_state(state)

    def __call__(self, action: Any) -> StepResult:
        self.steps += 1
        self._check(self.environment.action_space.explain(action, "action"))
        result = self.environment.step(action)
        if not isinstance(result, tuple) or len(result) != 5:
            given = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
            self._check(f"step() returns (state, reward, terminated, truncated, info), got {given}")
        state, reward, terminated, truncated, info = result
        self._check_state(state)
        self._check_form(reward, terminated, truncated, info)
        return state, reward, terminated, truncated, info

    def _check_form(self, reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
        if not isinstance(reward, Real) and np.shape(reward) != ():
            self._check(f"the reward is one number, got {type(reward).__name__} of shape {np.shape(reward)}")
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(flag, (bool, np.bool_)):
                self._check(f"{name} is a bool, got {flag!r}")
        if not isinstance(info, dict):
            self._check(f"info is a dict, got {type(info).__name__}")

    def _check_state(self, state: Any) -> None:
        self._check(self.environment.state_space.explain(state, "state"))

    def _check(self, fault: str | None) -> None:
        """Raises the fault, if there is one, with the place."""
        if fault is not None:
            raise EnvironmentFault(f"{self.label}, step {self.steps}: {fault}.")


def check_finite(rows: np.ndarray[Any, Any], describe: Callable[[int], str], name: str = "state") -> None:
    """Raises if a packed batch of states holds a NaN or an infinity.

    Args:
        rows: `[N, ...]`; anything but floats passes at once.
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
