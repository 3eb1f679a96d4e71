"""What environments raise."""

from __future__ import annotations

from rlgraph.core.errors import RLGraphError


class EnvironmentFault(RLGraphError):
    """An environment, or the code that drives it, broke the contract of `Environment`.

    Raised for a state outside the state space, an action outside the action space, a reward or a state that
    is not finite, a step without a reset. The message names the environment, its index in a vector
    environment, the step of the episode (the first step is 1, the state of a reset belongs to step 0), and
    the leaf of the Space.
    """
