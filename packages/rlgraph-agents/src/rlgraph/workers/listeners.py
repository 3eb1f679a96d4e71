"""Calls the overridden methods of callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from inspect import signature
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.worker_view import WorkerView

EVENTS = tuple(name for name in vars(Callback) if name.startswith("on_"))


class Listeners:
    """The methods of callbacks that are overridden, by event.

    Args:
        callbacks: in the order in which they are called.
    """

    def __init__(self, callbacks: Sequence[Callback]):
        self._methods: dict[str, list[Callable[..., Any]]] = {
            event: [getattr(callback, event) for callback in callbacks if _overrides(callback, event)]
            for event in EVENTS
        }

    def to(self, event: str) -> list[Callable[..., Any]]:
        """The methods for `event`; if there are none, its arguments need not be computed."""
        return self._methods[event]

    def tell(self, event: str, *arguments: Any) -> bool:
        """Call all; whether one of them stops training."""
        answers = [method(*arguments) is True for method in self._methods[event]]
        return any(answers)

    def tell_end(self, *arguments: Any) -> None:
        """Call all at the end, even if one of them fails."""
        with ExitStack() as ends:
            for method in reversed(self._methods["on_end"]):
                ends.callback(method, *arguments)


def _overrides(callback: Callback, event: str) -> bool:
    return getattr(getattr(callback, event), "__func__", None) is not getattr(Callback, event)


#: Argument -> the expected values, for messages.
_EXPECTED = {
    "callbacks": "an object of a subclass of rlgraph.workers.Callback that overrides on_report, on_episode, on_step "
    "or another of its methods, a function of (worker, metrics) that is called at every report, or a list of them",
    "stop": "a condition such as rlgraph.workers.StopAtReturn(475.0), StopAfterEpisodes(400), StopAfterSeconds(60) or "
    "StopAtEvaluation(475.0), or a list of them",
}


class AtReport(Callback):
    """Calls a function at every report; training stops if it returns False.

    Args:
        function: called with the worker and the metrics of the report.

    Raises:
        SpecError: it does not take two arguments.
    """

    def __init__(self, function: Callable[[Any, Mapping[str, float]], Any]):
        try:
            signature(function).bind(None, None)
        except (TypeError, ValueError):  # ValueError: a built-in function that does not tell its arguments
            raise SpecError(
                f"expected a function of (worker, metrics), given {function!r}", path="callbacks"
            ) from None
        self.function = function

    def on_report(self, worker: WorkerView, metrics: Mapping[str, float]) -> bool:
        answer = self.function(worker, metrics)
        return isinstance(answer, bool | np.bool_) and not answer


def as_list(callbacks: Any, argument: str = "callbacks") -> list[Callback]:
    """One callback, several or none as a list; a plain function becomes an `AtReport`.

    Args:
        callbacks: the given value.
        argument: the name of the argument, for messages: ``callbacks`` or ``stop``.

    Raises:
        SpecError: the value is something else.
    """
    if callbacks is None:
        return []
    listed: list[Any] = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
    for place, callback in enumerate(listed):
        if isinstance(callback, Callback):
            continue
        if argument == "callbacks" and callable(callback) and not isinstance(callback, type):
            listed[place] = AtReport(callback)
        else:
            made = f"; did you mean {callback.__name__}(...)?" if _is_callback_class(callback) else ""
            raise SpecError(f"expected {_EXPECTED[argument]}; given {callback!r}{made}", path=argument)
    return listed


def _is_callback_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Callback)
