"""Arguments of `Agent.get_actions` beside the states, and calls written for RLgraph 0.5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import wraps
from inspect import signature
from types import NoneType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rlgraph.components.common.argument_checks import is_number
from rlgraph.core import InputError

P = ParamSpec("P")
R = TypeVar("R")

#: What calls of RLgraph 0.5's `get_action` become.
_NOW = (
    "RLgraph 0.5's get_action(states, internals, use_exploration, apply_preprocessing, extra_returns) is now "
    "get_actions(states, use_exploration=..., apply_preprocessing=..., extra_returns=...): the agent keeps the states "
    "of recurrent networks itself, and set_progress replaces time_percentage"
)


def as_flag(method: str, name: str, value: Any) -> bool:
    """An argument that is a bool.

    Raises:
        InputError: it is something else, such as the internal states that RLgraph 0.5 took in this place.
    """
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        is_old = method == "get_actions" and isinstance(value, Mapping | list | tuple | np.ndarray | NoneType)
        hint = f". {_NOW}" if is_old else ""
        raise InputError(f"{method}: argument {name}: expected True or False, given {value!r}{hint}")
    return bool(value)


def as_fraction(method: str, fraction: Any) -> float:
    """A number from 0 to 1.

    Raises:
        InputError: it is something else, such as NaN, which schedules would make of every value.
    """
    if not is_number(fraction) or not 0.0 <= fraction <= 1.0:
        raise InputError(f"{method}: argument fraction: expected a number from 0 to 1, given {fraction!r}")
    return float(fraction)


def names_of(extra_returns: Any) -> list[str]:
    """The names in the argument `extra_returns` of `Agent.get_actions`.

    Raises:
        InputError: it is neither a name, a list of names, nor None.
    """
    if extra_returns is None:
        return []
    if isinstance(extra_returns, str):
        return [extra_returns]
    names = list(extra_returns) if isinstance(extra_returns, Sequence | Set) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"get_actions: argument extra_returns: expected a name, a list of names, or None, given {extra_returns!r}"
        )
    return names


def answers_old_calls(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, a method, by the name that it had in RLgraph 0.5: calls as they were written then are answered."""
    parameters = signature(function).parameters

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if len(args) > len(parameters) or kwargs.keys() - parameters.keys():
            unknown = [f"{name}=" for name in kwargs if name not in parameters]
            given = f"unknown arguments {', '.join(unknown)}" if unknown else f"{len(args) - 1} arguments"
            raise InputError(f"get_action: expected at most {len(parameters) - 1}, given {given}. {_NOW}")
        agent, *others = args
        result: R = getattr(agent, function.__name__)(*others, **kwargs)
        return result

    return checked
