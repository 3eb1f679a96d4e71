"""Distinguishes Ctrl-C and SIGTERM from a KeyboardInterrupt that an environment raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn


class Interruption(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, raised within `interruptible`."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise `Interruption` inside.

    After the first SIGTERM others are ignored, so that the checkpoint can be written. Signals that are ignored or
    already have a handler do not change. Only the main thread receives signals; other threads are not affected.
    """
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    with ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            for number, default in defaults.items():
                if signal.getsignal(number) is default:
                    after.callback(signal.signal, number, signal.signal(number, _interrupt))
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait for the end of this context; a second one does not."""
    waiting: list[int] = []
    with ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if callable(handler := signal.getsignal(number)):

                    def wait(received: int, frame: Any, handler: Any = handler) -> None:
                        if waiting:
                            waiting.clear()
                            handler(received, frame)
                        waiting.append(received)

                    after.callback(signal.signal, number, signal.signal(number, wait))
        yield
    for received in waiting:
        signal.raise_signal(received)


def raise_interruption(error: BaseException) -> None:
    """Re-raises `error` if a signal may have caused it; returns if the environment raised it.

    Outside `interruptible`, any KeyboardInterrupt in the main thread may come from Python's own handler.
    """
    if isinstance(error, Interruption):
        raise error
    receives = threading.current_thread() is threading.main_thread()
    told_apart = signal.getsignal(signal.SIGINT) in (_interrupt, signal.SIG_IGN)
    if isinstance(error, KeyboardInterrupt) and receives and not told_apart:
        raise error


def _interrupt(number: int, _: Any) -> NoReturn:
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_IGN)
    raise Interruption(signal.Signals(number).name)
