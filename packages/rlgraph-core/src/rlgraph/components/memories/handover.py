"""The base class of components that pass values between threads: waiting, timeouts, closing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlgraph.components.common.argument_checks import is_number
from rlgraph.core import Component, QueueClosedError, QueueTimeoutError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Space


class Handover(Component):
    """A component that passes values from some threads to others.

    A waiting call releases the component's lock, so it does not block other threads.

    Args:
        timeout: seconds to wait; None: without limit; 0: not at all.

    Raises:
        SpecError: a timeout below 0 or not finite.
    """

    def __init__(self, timeout: float | None = None, scope: str = "handover", **kwargs: Any):
        if timeout is not None and not (is_number(timeout) and timeout >= 0):
            raise SpecError(
                f"expected seconds >= 0, or None to wait without limit, given {timeout!r}",
                path=f"{scope}.timeout",
            )
        self.timeout = timeout
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        #: Whether `close` was called; [1].
        self.closed = self.get_variable("closed", BoolBox(shape=(1,)), initializer=False, host=True)

    @rlgraph_api
    def close(self) -> Any:
        """Close it: inserts and waits end with an error; held values can still be taken."""
        return self._close()

    @rlgraph_api
    def reopen(self) -> Any:
        """Accept values again: after `close`, or after loading a checkpoint that was saved when it was closed."""
        return self._reopen()

    @graph_fn(returns=0, host=True, spaces=())
    def _close(self) -> None:
        self._set_closed(True)

    @graph_fn(returns=0, host=True, spaces=())
    def _reopen(self) -> None:
        self._set_closed(False)

    # For host functions only.

    def _set_closed(self, closed: bool) -> None:
        self.closed[0] = closed  # type: ignore[index]
        self._wake_others()

    def _wake_others(self) -> None:
        """Wake the waiting threads after a change."""
        self.condition.notify_all()  # type: ignore[attr-defined]

    def _wait_until(self, ready: Callable[[], bool], closes: bool, what: str) -> None:
        """Wait until `ready` holds.

        Args:
            ready: whether the call may continue.
            closes: whether a closed state always raises.
            what: the awaited thing, for errors.

        Raises:
            QueueClosedError: it is closed.
            QueueTimeoutError: the time is up.
        """
        closed: Any = self.closed
        in_time = self.condition.wait_for(lambda: closed[0] or ready(), self.timeout)  # type: ignore[attr-defined]
        if closed[0] and (closes or not ready()):
            raise QueueClosedError(f"{self.scope_path} is closed, there will be no {what}")
        if not in_time:
            raise QueueTimeoutError(f"{self.scope_path}: no {what} within {self.timeout} s")
