"""Spans in a profile: one for every graph function, only while somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

import torch

from rlgraph.core.errors import RLGraphError

#: Held while something is recorded, by whichever executor.
_recording = Lock()


class Profiler:
    """Profiles emitted functions. What these call is exchanged for the time of a profile, so it costs nothing else."""

    def __init__(self) -> None:
        self._calls: list[tuple[dict[str, Any], str, Callable[..., Any]]] = []
        self._profiling = False

    def watch(self, function: Callable[..., Any], ignored: Collection[str] = ()) -> Callable[..., Any]:
        """Let profiles show what an emitted function calls, by the names there, but for those `ignored`."""
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
        """Record what runs inside, and write it to `path` as a Chrome trace.

        Raises:
            RLGraphError: something is being profiled already.
        """
        from torch.profiler import profile  # takes its time

        # It would end the process: there is one record for all.
        if torch._C._autograd._profiler_enabled() or not _recording.acquire(blocking=False):
            raise RLGraphError("something is being profiled already; one profile after the other")
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
