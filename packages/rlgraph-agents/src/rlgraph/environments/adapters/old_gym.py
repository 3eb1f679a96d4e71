"""Errors for environments written for gym before 0.26, whose `reset` and `step` differ from Gymnasium's."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from typing import Any

from rlgraph.core.errors import text_of
from rlgraph.environments.errors import EnvironmentFault, last_line

_CHANGES = (
    "derive the class from gymnasium.Env, with spaces of gymnasium.spaces; reset(*, seed=None, options=None) returns "
    "(observation, info); step returns (observation, reward, terminated, truncated, info)"
)
_HINT = f"An environment written for gym before 0.26 needs three changes: {_CHANGES}."
_REFUSED_ARGUMENT = re.compile(r"reset\(\) got an unexpected keyword argument '(seed|options)'")


def explain_class(environment: Any) -> str | None:
    """Why an object that is no `gymnasium.Env` is refused, if it has the form of one; else None."""
    name = type(environment).__name__
    if any(kind.__module__.partition(".")[0] == "gym" for kind in type(environment).__mro__):
        return (
            f"{name} is of the old package gym, which does not support NumPy 2: {_CHANGES}. Or wrap it in "
            "GymV21CompatibilityV0 of the package shimmy, or in GymV26CompatibilityV0 if its step returns five values"
        )
    if hasattr(environment, "observation_space") and not hasattr(environment, "state_space"):
        return f"{name} has an observation_space, but is no gymnasium.Env: {_CHANGES}"
    return None


def explain_error(error: BaseException) -> str | None:
    """The fault of an environment whose `reset` or `step` led to `error`, if it has gym's form; else None."""
    if not _is_of_caller(error):
        return None
    if isinstance(error, TypeError) and _REFUSED_ARGUMENT.search(text_of(error)):
        return f"expected reset() to take seed and options, got {last_line(error)}. {_HINT}"
    if isinstance(error, ValueError) and "(expected 5, got 4)" in text_of(error):
        return f"expected step() to return five values, as Gymnasium does, given four. {_HINT}"
    return None


def _is_of_caller(error: BaseException) -> bool:
    """Whether what called the environment raised it, and not the environment's own code."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals["__name__"].partition(".")[0] in ("rlgraph", "gymnasium")


def reset_environment(env: Any, seed: int | None) -> tuple[Any, Mapping[str, Any]]:
    """The observation and the info of a reset of a Gymnasium environment or vector environment.

    Raises:
        EnvironmentFault: `reset` has another form; the message lacks the place.
    """
    try:
        result = env.reset(seed=seed)
    except TypeError as error:
        if (fault := explain_error(error)) is None:
            raise
        raise EnvironmentFault(fault) from error
    is_pair = isinstance(result, tuple | list) and len(result) == 2
    if is_pair and isinstance(result[1], dict | Mapping):
        return result[0], result[1]
    names = [type(value).__name__ for value in result] if is_pair else []
    given = f"({', '.join(names)})" if is_pair else type(result).__name__
    hint = "" if is_pair else f" {_HINT}"
    raise EnvironmentFault(
        f"expected reset() to return (observation, info), info a dict, given {given}.{hint}"
    )
