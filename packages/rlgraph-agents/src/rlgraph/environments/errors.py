"""The error of environments, and its construction from other errors."""

from __future__ import annotations

import traceback

from rlgraph.core.errors import RLGraphError, text_of

LONGEST_MESSAGE = 1000
"""Maximum characters of an environment's message, and of the beginning and end of its traceback."""


class EnvironmentFault(RLGraphError):
    """An environment, or the code that drives it, broke the contract of `Environment`.

    Raised for a state outside the state space (except for bounds of floats, see `StateBoundsWarning`), an action
    outside the action space, a reward or a state that is not finite, a step without a reset, and for any error of
    an environment that is not restarted (the error is the fault's cause). The message names the environment, its
    index in a vector environment, the step of the episode (the first step is 1, the state of a reset belongs to
    step 0), and the leaf of the Space.
    """


def not_running(name: str) -> EnvironmentFault:
    """The fault of a step after the end of an episode, or before the first one."""
    return EnvironmentFault(f"{name}: the episode is over or has not begun; call reset() before step().")


def fault_of(error: BaseException, place: str, more: str = "") -> EnvironmentFault:
    """A fault with the message of `error`, which an environment raised, and the place.

    Args:
        place: the environment, its index and the step.
        more: ends the message.
    """
    if isinstance(error, EnvironmentFault):
        said = text_of(error)
        text = said if place in said else f"{place}: {said}"
    else:
        text = f"{place}: raised {last_line(error)}{_line_of(error)}"
    return EnvironmentFault(f"{text}{more}")


def last_line(error: BaseException) -> str:
    """The line of the traceback that names the error, without notes."""
    lines = traceback.format_exception_only(type(error), error)
    # Those of a SyntaxError begin with its place, indented.
    return shortened(next(line for line in lines if not line.startswith(" ")).strip())


def shortened(text: str, limit: int = LONGEST_MESSAGE) -> str:
    """`text` without its middle, if it has more than `limit` characters."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]} ... ({len(text):,} characters) ... {text[-half:]}"


def _line_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
