"""Engines: where actors live, and how they are called. Flows are written over this, once for all engines."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlgraph.core import RLGraphError, SpecError

#: An object of which an engine calls methods by name. They take bytes and return bytes.
Hosted = Any


class ActorFault(RLGraphError):
    """An actor did not return a result; the message says why."""


class ActorDied(ActorFault):
    """The process of an actor is gone."""


class ActorFailed(ActorFault):
    """An actor's method raised an error; the message has its traceback."""


class Engine(ABC):
    """Starts actors, calls their methods, and ends them.

    All that passes is bytes, in the same process too: what somebody does to an array after sending it changes nothing
    elsewhere. Handles, calls and shared values are the engine's own objects.

    Args:
        options: of the engine.
    """

    @abstractmethod
    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        """Start an actor; returns its handle at once.

        Args:
            make: of `packed`: what makes the object whose methods are called.
            name: in messages.
            is_light: it mostly waits: no CPU and no GPU is set aside for it.
        """

    @abstractmethod
    def call(self, actor: Any, method: str, *arguments: Any) -> Any:
        """Call a method; returns the call at once.

        Args:
            actor: a handle.
            method: its name.
            arguments: bytes, or what `share` returned.
        """

    @abstractmethod
    def share(self, value: bytes) -> Any:
        """Put a value where calls of all actors find it; sent once to each place."""

    @abstractmethod
    def wait(self, calls: Sequence[Any], timeout: float) -> list[Any]:
        """Wait until at least one of the calls is done; returns those that are, in the order given.

        Args:
            calls: at least one.
            timeout: seconds; none is returned after that.
        """

    @abstractmethod
    def result(self, call: Any) -> bytes:
        """What a call that is done returned.

        Raises:
            ActorFault: nothing.
        """

    @abstractmethod
    def kill(self, actor: Any) -> None:
        """End an actor, whatever it does; nothing if it is gone."""

    @abstractmethod
    def close(self) -> None:
        """End all actors, and what the engine started."""


def packed(make: Callable[[], Hosted], where: str) -> bytes:
    """What makes an object, as bytes for `Engine.start`.

    Args:
        make: called without arguments in the process of the actor.
        where: its place in the spec; named in errors.

    Raises:
        SpecError: another process could not make it.
    """
    if found := _main_parts(make):
        raise SpecError(
            f"{found} is defined in the program itself, where no other process finds it: move it into a module of its "
            "own, and import it from there",
            path=where,
        )
    try:
        return pickle.dumps(make)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise SpecError(
            f"cannot be sent to another process ({error}): give names, mappings and importable functions instead of "
            "lambdas and instances",
            path=where,
        ) from None


def _main_parts(value: Any) -> str:
    """The name of a class or function of ``__main__`` in a spec; empty: there is none."""
    if getattr(value, "__module__", None) == "__main__" and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    parts: list[Any] = []
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif hasattr(value, "__dataclass_fields__"):
        parts = [getattr(value, name) for name in value.__dataclass_fields__]
    elif type(value).__module__ == "__main__":
        return type(value).__qualname__
    return next((found for part in parts if (found := _main_parts(part))), "")
