"""Environments with goals: what they compute of goals, for many at once."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.ops import map_nested
from rlgraph.environments.adapters.gym_env import OpenAIGymEnv
from rlgraph.environments.adapters.protocol_env import ProtocolEnv
from rlgraph.environments.environment import Environment
from rlgraph.environments.errors import EnvironmentFault, last_line
from rlgraph.environments.factory import is_vector, make_environment
from rlgraph.spaces import Dict, Space

#: The parts of states in the convention of Gymnasium's ``GoalEnv``.
PARTS = ("observation", "achieved_goal", "desired_goal")

#: Goals of the first batch that are also judged one by one.
COMPARED = 16

ALONG_THE_LAST_AXIS = (
    "compute along the last axis, as in np.linalg.norm(achieved_goal - desired_goal, axis=-1)"
)


class GoalFunctions:
    """Rewards and ends of episodes, computed from goals.

    An environment with goals has `PARTS` in its states and a method ``compute_reward(achieved_goal, desired_goal,
    info)``. It may have ``compute_terminated`` with the same arguments; else its episodes end for reasons that goals
    have no part in.

    Args:
        environment: an environment with goals.

    Raises:
        SpecError: it has none; says what is missing.
    """

    def __init__(self, environment: Environment):
        self.name = environment.name
        check_goals(environment.state_space, self.name)
        reward = _method(environment, "compute_reward")
        if reward is None:
            raise SpecError(
                f"expected an environment with goals: {self.name} has no method compute_reward(achieved_goal, "
                "desired_goal, info)"
            )
        self._reward, self._terminated = reward, _method(environment, "compute_terminated")
        #: Functions whose batches were compared with single goals.
        self._compared: set[str] = set()

    def rewards(self, achieved: Any, desired: Any, number: int) -> np.ndarray:
        """The rewards [B] of having achieved goals ``[B, ...]`` where others were desired.

        Raises:
            EnvironmentFault: the environment does not compute them for batches, or needs the step's info.
        """
        return self._called("compute_reward", self._reward, achieved, desired, number)

    def terminals(self, achieved: Any, desired: Any, number: int) -> np.ndarray | None:
        """Where episodes end [B]; None: not because of goals. Raises as `rewards`."""
        if self._terminated is None:
            return None
        return self._called("compute_terminated", self._terminated, achieved, desired, number).astype(bool)

    def _called(
        self, name: str, function: Callable[..., Any], achieved: Any, desired: Any, number: int
    ) -> np.ndarray:
        what = f"{self.name}: {name}(achieved_goal, desired_goal, info) of {number} goals at once"
        try:
            values = np.asarray(function(achieved, desired, {}))
        except Exception as error:
            raise EnvironmentFault(
                f"{what} and an empty info raised {last_line(error)}: goals of records are replaced many at once, "
                "and records do not keep info"
            ) from error
        is_same = (
            values.shape == () and name == "compute_terminated"
        )  # False, of environments that never terminate
        if values.shape != (number,) and not is_same:
            raise EnvironmentFault(
                f"{what}: expected {number} values, given shape {list(values.shape)}: {ALONG_THE_LAST_AXIS}"
            )
        values = np.broadcast_to(values, (number,))
        if name not in self._compared:
            self._compared.add(name)
            for i in range(min(number, COMPARED)):
                one = function(*(map_nested(itemgetter(i), goals) for goals in (achieved, desired)), {})
                if not np.isclose(float(one), float(values[i])):
                    raise EnvironmentFault(
                        f"{what} gives {values[i]} for goal {i}, and {one} if it is the only one: {ALONG_THE_LAST_AXIS}"
                    )
        return values


def check_goals(states: Space, name: str) -> None:
    """Find out whether states have goals.

    Raises:
        SpecError: they have not.
    """
    missing = [part for part in PARTS if not isinstance(states, Dict) or part not in states]
    if missing:
        raise SpecError(f"expected an environment with goals: states of {name} have no {', '.join(missing)}")
    assert isinstance(states, Dict)
    achieved, desired = states["achieved_goal"], states["desired_goal"]
    if [box.shape for box in achieved.flatten().values()] != [
        box.shape for box in desired.flatten().values()
    ]:
        raise SpecError(f"{name}: expected goals of one Space, achieved {achieved!r}, desired {desired!r}")


def goal_functions(spec: Any) -> GoalFunctions:
    """Those of an environment, from an environment or its spec.

    Raises:
        SpecError: it has no goals, is a vector environment, or cannot be made.
    """
    if is_vector(spec):
        raise SpecError(
            "expected a single environment or its spec, whose compute_reward judges other goals, given a vector "
            "environment: give env= its spec, and num_envs to learn()"
        )
    return GoalFunctions(make_environment(spec))


def _method(environment: Environment, name: str) -> Callable[..., Any] | None:
    """A method of an environment, or of what it adapts."""
    found = getattr(environment, name, None)
    if isinstance(environment, OpenAIGymEnv) and environment.gym_env.has_wrapper_attr(name):
        found = environment.gym_env.get_wrapper_attr(name)
    elif isinstance(environment, ProtocolEnv):
        found = getattr(environment.environment, name, None)
    return found if callable(found) else None
