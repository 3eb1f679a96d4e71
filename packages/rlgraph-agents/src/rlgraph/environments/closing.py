"""Closes environments within a limit of time: a simulator that does not end must not hold up results."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, NoReturn

from rlgraph.core.background import in_background
from rlgraph.environments.errors import EnvironmentFault, fault_of
from rlgraph.environments.interrupts import raise_interruption

CLOSE_TIMEOUT = 10.0
"""Seconds that the environments of a run may take to close."""
_LEAST = 0.2


class _Late(BaseException):
    """Ends what blocks; no error that it may handle."""


def close_deadline() -> float:
    """When environments that begin to close now must be closed, by `time.monotonic`."""
    return time.monotonic() + CLOSE_TIMEOUT


def release(close: Callable[[], None], label: str, deadline: float | None = None) -> None:
    """Close an environment that is no longer needed; an error is a warning.

    Args:
        close: its method.
        label: its name.
        deadline: see `close_deadline`; None: that of one which begins now.
    """
    try:
        close_within(close, deadline)
    except BaseException as error:
        raise_interruption(error)
        warnings.warn(str(fault_of(error, f"{label}, terminate")), RuntimeWarning, stacklevel=3)


def close_within(close: Callable[[], None], deadline: float | None = None) -> None:
    """Close an environment.

    The main thread is interrupted by a signal, as by Ctrl-C: windows and browsers close only in the thread that opened
    them. Without signals another thread closes it, and is left behind if it takes longer.

    Raises:
        EnvironmentFault: it did not return in time.
    """
    left = max((close_deadline() if deadline is None else deadline) - time.monotonic(), _LEAST)
    ended = _interrupted(close, left) if _can_interrupt() else _left_behind(close, left)
    if not ended:
        raise EnvironmentFault(
            f"it did not return within {CLOSE_TIMEOUT:g} s. What it holds may stay open until this program ends"
        )


def _can_interrupt() -> bool:
    """True in the main thread, unless somebody else uses the alarm."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    )


def _interrupted(close: Callable[[], None], seconds: float) -> bool:
    before = signal.signal(signal.SIGALRM, _raise)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
            close()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except _Late:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    return True


def _raise(*_: Any) -> NoReturn:
    raise _Late


def _left_behind(close: Callable[[], None], seconds: float) -> bool:
    done, _ = wait([in_background(close)], seconds)
    for closed in done:
        closed.result()
    return bool(done)
