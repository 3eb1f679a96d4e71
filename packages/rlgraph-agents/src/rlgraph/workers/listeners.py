"""Telling callbacks what happens, and only those that want to know."""

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
        callbacks: in the order in which they are told.
    """

    def __init__(self, callbacks: Sequence[Callback]):
        for callback in callbacks:
            if not isinstance(callback, Callback):
                raise SpecError(f"callbacks: expected rlgraph.workers.Callback objects, given {callback!r}")
        self._methods: dict[str, list[Callable[..., Any]]] = {
            event: [getattr(callback, event) for callback in callbacks if _overrides(callback, event)]
            for event in EVENTS
        }

    def to(self, event: str) -> list[Callable[..., Any]]:
        """Who listens to `event`; empty: nobody, and nothing has to be made for them."""
        return self._methods[event]

    def tell(self, event: str, *arguments: Any) -> bool:
        """Tell all; whether one of them wants the training to end."""
        answers = [method(*arguments) for method in self._methods[event]]
        return any(answer is True for answer in answers)

    def tell_end(self, *arguments: Any) -> None:
        """Tell all that it is over; one that fails keeps none of the others from ending well."""
        with ExitStack() as ends:
            for method in reversed(self._methods["on_end"]):
                ends.callback(method, *arguments)


def _overrides(callback: Callback, event: str) -> bool:
    return getattr(getattr(callback, event), "__func__", None) is not getattr(Callback, event)


def as_list(callbacks: Callback | Sequence[Callback] | None) -> list[Callback]:
    """One callback, several or none as a list."""
    if callbacks is None:
        return []
    return [callbacks] if isinstance(callbacks, Callback) else list(callbacks)
