"""Profiles with a span per graph function; no cost without a profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

import torch

from rlgraph.core.errors import RLGraphError

#: Held by the executor that records.
_recording = Lock()


class Profiler:
    """Profiles emitted functions. Their callees are replaced during a profile, so profiling costs nothing otherwise."""

    def __init__(self) -> None:
        self._calls: list[tuple[dict[str, Any], str, Callable[..., Any]]] = []
        self._profiling = False

    def watch(self, function: Callable[..., Any], ignored: Collection[str] = ()) -> Callable[..., Any]:
        """Show the functions that an emitted function calls in profiles, except those `ignored`."""
        names: dict[str, Any] = function.__globals__
        for name, value in list(names.items()):
            own = not name.startswith("__") and name not in ignored and name != function.__name__
            if own and callable(value) and not isinstance(value, type):
                self._calls.append((names, name, value))
                if self._profiling:
                    names[name] = _spanned(name, value)
        return function

    @contextmanager
    def profile(self, path: Path) -> Iterator[None]:
        """Profile the block and write a Chrome trace to `path`.

        Raises:
            RLGraphError: another profile is running.
        """
        from torch.profiler import profile  # slow to import

        # A second profile would end the process.
        if torch._C._autograd._profiler_enabled() or not _recording.acquire(blocking=False):
            raise RLGraphError("another profile is running: end it first")
        try:
            with self._spans(), profile(activities=_activities()) as recorded:
                yield
        finally:
            _recording.release()
        recorded.export_chrome_trace(str(path))

    @contextmanager
    def _spans(self) -> Iterator[None]:
        self._profiling = True
        for names, name, value in self._calls:
            names[name] = _spanned(name, value)
        try:
            yield
        finally:
            self._profiling = False
            for names, name, value in self._calls:
                names[name] = value


def _activities() -> list[Any]:
    from torch.profiler import ProfilerActivity

    cuda = [ProfilerActivity.CUDA] if torch.cuda.is_available() else []
    return [ProfilerActivity.CPU, *cuda]


def _spanned(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def spanned(*args: Any, **kwargs: Any) -> Any:
        with torch.autograd.profiler.record_function(name):
            return function(*args, **kwargs)

    return spanned
