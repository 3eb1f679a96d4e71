"""Calls the overridden methods of callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from rlgraph.core import SpecError
from rlgraph.workers.callbacks import Callback

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
        answers = [method(*arguments) for method in self._methods[event]]
        return any(answer is True for answer in answers)

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
    "or another of its methods, or a list of them",
    "stop": "a condition such as rlgraph.workers.StopAtReturn(475.0), StopAfterEpisodes(400), StopAfterSeconds(60) or "
    "StopAtEvaluation(475.0), or a list of them",
}


def as_list(callbacks: Callback | Sequence[Callback] | None, argument: str = "callbacks") -> list[Callback]:
    """One callback, several or none as a list.

    Args:
        callbacks: the given value.
        argument: the name of the argument, for messages: ``callbacks`` or ``stop``.

    Raises:
        SpecError: the value is something else.
    """
    if callbacks is None:
        return []
    listed: list[Any] = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
    for callback in listed:
        if not isinstance(callback, Callback):
            made = f"; did you mean {callback.__name__}(...)?" if _is_callback_class(callback) else ""
            raise SpecError(f"expected {_EXPECTED[argument]}; given {callback!r}{made}", path=argument)
    return listed


def _is_callback_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Callback)
