"""The base of collectives over several processes: watched, so that a failure names the learner that caused it."""

from __future__ import annotations

import os
import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import wait
from typing import ClassVar, TypeVar

import numpy as np

from rlgraph.core.background import in_background
from rlgraph.core.collectives.collective import Collective
from rlgraph.core.collectives.membership import LEFT, Membership
from rlgraph.core.errors import CollectiveError, type_and_text

_Result = TypeVar("_Result")


class GroupCollective(Collective):
    """A collective that leaves to its subclass how arrays are added up, and does the rest.

    Who came, who is lost and who is late is found out over connections of its own (`membership`), which also
    carry the messages of `all_gather`. One call runs at a time; others of this process wait.

    Args:
        rank, size, address, timeout: see `Collective`.

    Attributes:
        membership: who is in the group.

    Raises:
        CollectiveError: see `Membership`; or the subclass cannot start.
    """

    #: Whether a process must join before anything in it uses the framework.
    joins_first: ClassVar[bool] = False
    #: Whether its constructor takes ``device``, the one on which the learner computes; None: nothing says.
    on_devices: ClassVar[bool] = False

    def __init__(self, rank: int, size: int, address: str, timeout: float):
        super().__init__(rank, size, address, timeout)
        self._calling, self._ending = threading.Lock(), threading.Lock()
        self._has_stopped = False
        #: The process that is in the group: a copy that ``fork`` makes of it is not.
        self._process = os.getpid()
        self.membership = Membership(rank, size, address, timeout, self.greeting())
        try:
            self._start()
        except Exception as error:
            text = self.membership.wait_for_fault(2.0) or type_and_text(error)
            self.membership.close(text)
            # A framework whose start hangs may not come back from its end either.
            wait([in_background(self._stop)], 2.0)
            raise CollectiveError(f"learner {rank}: the group could not start: {text}") from error
        self.membership.on_fault = self._abort

    def _start(self) -> None:
        """Calls `start`, and gives it up at the limit, or when a learner is lost: frameworks would wait for that one.

        Raises:
            Exception: of `start`; or a learner is lost, or the time is over.
        """
        starting = in_background(self.start)
        until = time.monotonic() + self.timeout
        while not starting.done() and not self.membership.fault and time.monotonic() < until:
            wait([starting], 0.1)
        if starting.done():
            starting.result()
        if self.membership.fault:
            raise CollectiveError(self.membership.fault)
        if not starting.done():
            raise CollectiveError(
                f"all learners are there, but they did not connect within {self.timeout:g} s"
            )

    def greeting(self) -> bytes:
        """What the others must know before `start`: a port, say."""
        return b""

    @abstractmethod
    def start(self) -> None:
        """Join the framework's group; all learners are there, and `membership` has their greetings."""

    @abstractmethod
    def sum(self, array: np.ndarray) -> np.ndarray:
        """See `Collective.all_reduce`; may raise anything."""

    @abstractmethod
    def stop(self) -> None:
        """Leave the framework's group, which may have failed, in its start too."""

    def abort(self) -> None:
        """Make a `sum` that waits fail, if the framework can; called from another thread, before `stop` if at all."""
        return None

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        return self._called("adds up", self.sum, array)

    def all_gather(self, message: bytes) -> list[bytes]:
        return self._called("gathers messages", self.membership.gather, message)

    def _called(self, what: str, function: Callable[..., _Result], argument: object) -> _Result:
        """The result of a call, in turn.

        Raises:
            CollectiveError: the call failed, or an earlier one; names the learner that caused it, where that is known.
        """
        membership = self.membership
        with self._calling:
            if os.getpid() != self._process:
                raise CollectiveError("expected the process that joined the group, given a fork of it")
            if membership.fault:
                raise CollectiveError(self._failed(membership.fault))
            membership.calls += 1
            membership.does = what
            began = membership.began = time.monotonic()
            try:
                result = function(argument)
            except Exception as error:
                text = self._cause(error, time.monotonic() - began)
                self._give_up(text)
                raise CollectiveError(self._failed(text)) from error
            finally:
                membership.began = None
            membership.waited += time.monotonic() - began
            return result

    def _cause(self, error: Exception, seconds: float) -> str:
        if fault := self.membership.wait_for_fault(0.0 if isinstance(error, CollectiveError) else 2.0):
            return fault
        if isinstance(error, CollectiveError):
            return str(error)
        if seconds >= self.timeout:
            return self.membership.who_is_late()
        return type_and_text(error)

    def _failed(self, text: str) -> str:
        return f"learner {self.rank}: {text}. The group has ended: start its learners again from a checkpoint"

    def _give_up(self, text: str) -> None:
        self.membership.fault = self.membership.fault or text
        self.membership.close(text)
        self._stop()

    def _abort(self) -> None:
        with self._ending:
            if not self._has_stopped:
                self.abort()

    def _stop(self) -> None:
        with self._ending:
            if self._has_stopped:
                return
            self._has_stopped = True
            try:
                self.stop()
            except Exception as error:
                self.membership.fault = self.membership.fault or type_and_text(error)

    def leave(self, why: str) -> None:
        """As `close`; the others are told why."""
        if os.getpid() == self._process:
            self.membership.fault = self.membership.fault or LEFT
            self._stop()
            self.membership.close(why)

    def close(self) -> None:
        self.leave("")
