"""Spans in a profile: one for every graph function, only while somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import torch


class Profiler:
    """Profiles emitted functions. What these call is exchanged for the time of a profile, so it costs nothing else."""

    def __init__(self) -> None:
        self._calls: list[tuple[dict[str, Any], str, Callable[..., Any]]] = []
        self._profiling = 0

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
        """Record what runs inside, and write it to `path` as a Chrome trace."""
        from torch.profiler import ProfilerActivity, profile  # takes its time

        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        self._profiling += 1
        for names, name, value in self._calls:
            names[name] = _spanned(name, value)
        try:
            with profile(activities=activities) as recorded:
                yield
        finally:
            self._profiling -= 1
            if not self._profiling:
                for names, name, value in self._calls:
                    names[name] = value
        recorded.export_chrome_trace(str(path))


def _spanned(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def spanned(*args: Any, **kwargs: Any) -> Any:
        with torch.autograd.profiler.record_function(name):
            return function(*args, **kwargs)

    return spanned
