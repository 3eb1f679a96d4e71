"""Locks: they keep threads apart.

One lock per group of variables and one per component with host functions. Several are acquired in the
order of their names, so that no two threads wait for each other.

A host function that must wait for another one of its component, such as a queue's, waits for the condition of its lock,
which is free meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any


class Locks:
    """The locks of one graph executor, by name; made when first asked for."""

    def __init__(self) -> None:
        self._locks: dict[str, Any] = {}
        self._conditions: dict[str, threading.Condition] = {}
        self._making = threading.Lock()

    def holding(
        self, names: Iterable[str], finally_: Callable[[], None] | None = None
    ) -> AbstractContextManager[Any]:
        """A context manager that holds the locks `names`; before it releases them it calls `finally_`."""
        with self._making:
            locks = [self._lock(name) for name in sorted(set(names))]
        # A bare lock costs a tenth of a context manager of our own.
        return locks[0] if len(locks) == 1 and finally_ is None else _Holding(locks, finally_)

    def condition(self, name: str) -> threading.Condition:
        """The condition of the lock `name`: its holder may wait, and other threads hold the lock meanwhile."""
        with self._making:
            return self._conditions.setdefault(name, threading.Condition(self._lock(name)))

    def notify_all(self) -> None:
        """Wake all threads that wait for a condition; the caller holds all locks."""
        for condition in self._conditions.values():
            condition.notify_all()

    def _lock(self, name: str) -> Any:
        return self._locks.setdefault(name, threading.RLock())


class _Holding:
    def __init__(self, locks: Sequence[Any], finally_: Callable[[], None] | None):
        self._locks, self._finally = locks, finally_

    def __enter__(self) -> None:
        for lock in self._locks:
            lock.acquire()

    def __exit__(self, *_: object) -> None:
        try:
            if self._finally is not None:
                self._finally()
        finally:
            for lock in reversed(self._locks):
                lock.release()
