"""Calls that may never return."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")


def in_background(function: Callable[..., _T], *arguments: Any) -> Future[_T]:
    """Call a function in a thread of its own, which is left behind if it does not return.

    An executor of `concurrent.futures` would wait for it when the program ends.
    """
    result: Future[_T] = Future()

    def run() -> None:
        try:
            result.set_result(function(*arguments))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result
