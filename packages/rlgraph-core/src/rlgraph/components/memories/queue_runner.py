"""Threads that fill a queue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from rlgraph.core.errors import QueueClosedError, RLGraphError


class QueueRunner:
    """Runs threads that produce records and insert them into a queue, until they are stopped or one fails.

    It is not a component: it runs programs of executors.

    .. code-block:: python

        with QueueRunner([actor.program("rollout")] * 4, queue.program("insert_records"), queue.program("close")):
            while learning:
                learner.execute("update", queue.execute("get_records", 32))

    The queue is closed when a producer fails, and when the last one has ended. `stop` raises the first
    producer's error, and so does the ``with`` block unless it fails with another error than a closed queue.

    Args:
        producers: each is called repeatedly in its own thread and returns the argument of `insert`; it ends by
            raising `StopIteration`, like the ``__next__`` of an iterator.
        insert: inserts the result of a producer; it may wait for free capacity.
        close: called once, at the end: then `insert` raises `QueueClosedError`, and waiting reads end.

    Raises:
        RLGraphError: no producers, or an argument is not a function.
    """

    def __init__(
        self, producers: Iterable[Callable[[], Any]], insert: Callable[[Any], Any], close: Callable[[], Any]
    ):
        self._insert, self._close = insert, close
        self._stopping, self._ending = threading.Event(), threading.Lock()
        self._error: BaseException | None = None
        if callable(producers):
            raise RLGraphError(
                f"QueueRunner: producers: expected a list of functions, given one, {producers!r}"
            )
        producers = list(producers)
        for name, function in (
            *((f"producers[{i}]", produce) for i, produce in enumerate(producers)),
            ("insert", insert),
            ("close", close),
        ):
            if not callable(function):
                raise RLGraphError(
                    f"QueueRunner: {name}: expected a function, given {function!r}; pass __next__ of an iterator, "
                    "or program(method) of an executor"
                )
        self._threads = [
            threading.Thread(target=self._run, args=(produce,), name=f"queue-runner-{i}", daemon=True)
            for i, produce in enumerate(producers)
        ]
        if not self._threads:
            raise RLGraphError("QueueRunner: producers: expected at least one function, given none")
        self._left = len(self._threads)

    @property
    def is_running(self) -> bool:
        """Whether a producer is still running."""
        return any(thread.is_alive() for thread in self._threads)

    def start(self) -> None:
        """Start the threads.

        Raises:
            RLGraphError: it was started before; make a new one.
        """
        if any(thread.ident is not None for thread in self._threads):
            raise RLGraphError("QueueRunner: it was started before; make a new one and reopen the queue")
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Close the queue, wait for the threads, and re-raise an error of a producer."""
        if error := self._finish():
            raise error

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        failure = self._finish()
        if failure is None:
            return
        if error is None or isinstance(error, QueueClosedError):
            raise failure
        error.add_note(f"A producer of a QueueRunner has failed, too: {failure!r}")

    def _run(self, produce: Callable[[], Any]) -> None:
        try:
            while not self._stopping.is_set():
                self._insert(produce())
        except (StopIteration, QueueClosedError):
            pass
        except BaseException as error:
            self._error = self._error or error
            self._end()
        finally:
            with self._ending:
                self._left -= 1
                is_last = self._left == 0
            if is_last:
                self._end()

    def _end(self) -> None:
        with self._ending:
            if self._stopping.is_set():
                return
            self._stopping.set()
        self._close()

    def _finish(self) -> BaseException | None:
        """Stop all threads and return the error of the first that failed, once."""
        self._end()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        error, self._error = self._error, None
        return error
