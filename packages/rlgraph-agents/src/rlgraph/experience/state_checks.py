"""Checks of the states that environments give a sampler."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from typing import Any

import numpy as np

from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.masked_states import NEEDS_ACTION, MaskedStates
from rlgraph.environments.rows import leaves_of
from rlgraph.environments.state_bounds import ReportOnce, StateBounds, parts_of, refuse
from rlgraph.environments.step_checks import check_finite
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.experience.quick_checks import has_every_number, integer_check
from rlgraph.spaces import Dict, FloatBox, IntBox, Space, Tuple

#: Python adds up to this many numbers faster than NumPy does.
FEW = 8


class StateChecks:
    """Checks of raw states: floats are finite, integers are in their Space, masks allow an action.

    Floats outside their bounds are reported, or refused if the environments have `validate_states`. Counts steps for
    the messages.

    Args:
        environments: where the states come from.
        masked: the states, if a part of them is a mask.
        actor: acts on the states; its agent reports each bound once.
        at_truncations: whether masks must allow an action in states that a truncation ends.
    """

    def __init__(
        self, environments: VectorEnv, masked: MaskedStates | None, actor: Any, at_truncations: bool = False
    ):
        graph = getattr(actor, "graph", None)  # a script has none
        report = ReportOnce() if graph is None else graph.report_bounds
        self._environments, self._masked, self._at_truncations = environments, masked, at_truncations
        self._parts = parts_of(environments.state_space)
        self._bounds = StateBounds(
            environments.state_space,
            environments.describe,
            lambda index: self.steps[index],
            refuse if environments.validate_states else report,
        )
        self._look = _look_at(environments.state_space, environments.num_environments, self._bounds)
        #: Steps of all environments, and their number when each episode began.
        self._clock, self._began = 0, np.zeros(environments.num_environments, np.int64)

    @property
    def steps(self) -> np.ndarray:
        """Steps of the running episodes [N]."""
        return self._clock - self._began

    def continue_from(self, steps: Any) -> None:
        """Episodes of these lengths [N] are running."""
        self._began = self._clock - np.asarray(steps)

    def step(self, reached: Any, terminals: np.ndarray, truncations: np.ndarray) -> None:
        """Check the raw states [N, ...] that the next step led to.

        Raises:
            EnvironmentFault: names environment and step.
        """
        self._clock += 1
        self._check(reached)
        if self._masked is not None:
            # Nobody acts in the last state of an episode, which a vector class may show until it resets.
            exempt = terminals if self._at_truncations else terminals | truncations
            self._check_masks(reached, exempt, truncations)

    def begin(self, slots: Any, states: Any = None) -> None:
        """Episodes begin in `slots`; check the raw states [N, ...] to act on, if these are not those of `step`.

        Raises:
            EnvironmentFault: names environment and step.
        """
        self._began[slots] = self._clock
        if states is None:
            return
        self._check(states)
        if self._masked is not None:
            self._check_masks(states)

    def _place(self, index: int) -> str:
        return f"{self._environments.describe(index)}, step {self.steps[index]}"

    def _check(self, states: Any) -> None:
        if not self._look(states):
            self._look_closely(states)
            self._bounds.look(states, slice(len(self._began)))

    def _look_closely(self, states: Any) -> None:
        for path, rows in leaves_of(states, "state"):
            check_finite(rows, self._place, path)
            for index, number in enumerate(rows if isinstance(self._parts[path], IntBox) else ()):
                if (fault := self._parts[path].explain(number, path)) is not None:
                    raise EnvironmentFault(f"{self._place(index)}: {fault}.")

    def _check_masks(self, states: Any, exempt: Any = None, truncations: Any = None) -> None:
        assert self._masked is not None
        index = self._masked.row_without_actions(states, exempt)
        if index is None:
            return
        fault = NEEDS_ACTION
        if truncations is not None and truncations[index]:
            fault = (
                "the episode was truncated there, so this agent learns from the values of the actions that would have "
                "followed. Give their mask, or end the episode as terminated."
            )
        raise EnvironmentFault(f"{self._place(index)}: the action mask allows no action: {fault}")


def _look_at(space: Space, number: int, bounds: StateBounds, name: str = "state") -> Callable[[Any], bool]:
    """A quick check of a batch of states: False if a number may not be finite, or outside its Space."""
    if isinstance(space, Dict | Tuple):
        parts = space.items() if isinstance(space, Dict) else enumerate(space)
        checks = [(key, _look_at(part, number, bounds, f"{name}/{key}")) for key, part in parts]
        return lambda rows: all(check(rows[key]) for key, check in checks)
    if isinstance(space, FloatBox):
        if (check := bounds.check_of(name)) is not None:
            return check
        if number * prod(space.shape) <= FEW:
            return lambda rows: isfinite(sum(rows.ravel().tolist()))
        return lambda rows: isfinite(np.vdot(rows, rows))
    if isinstance(space, IntBox) and not has_every_number(space):
        return integer_check(space)
    return lambda rows: True
