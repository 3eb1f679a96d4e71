"""Engines: where actors live, and how they are called. Flows are written over this, once for all engines."""

from __future__ import annotations

import pickle
import pickletools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from rlgraph.core import RLGraphError, SpecError

#: An object of which an engine calls methods by name. They take bytes, and return two: facts, which are few, and a body
#: of any size.
Hosted = Any
#: Bytes, or a view of some that nobody can change.
Bytes = bytes | memoryview


class ActorFault(RLGraphError):
    """An actor did not return a result; the message says why."""


class ActorDied(ActorFault):
    """The process of an actor is gone."""


class ActorFailed(ActorFault):
    """An actor's method raised an error; the message has its traceback."""


class Engine(ABC):
    """Starts actors, calls their methods, and ends them.

    Arguments and results are bytes, in the same process too: an array that changes after it was sent changes nothing
    elsewhere. Bodies of results stay where they are: they are referred to, given to calls of other actors, and fetched
    by who reads them. Handles, calls and references are the engine's own objects. The constructor takes the engine's
    options by name.
    """

    def now(self) -> float:
        """The time in seconds that timeouts and reports are measured in."""
        return time.monotonic()

    @abstractmethod
    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        """Start an actor; returns its handle at once.

        Args:
            make: what makes the object whose methods are called, from `packed`.
            name: of the actor in messages.
            is_light: it mostly waits: no CPU and no GPU is set aside for it.
        """

    @abstractmethod
    def call(self, actor: Any, method: str, *arguments: Any) -> Any:
        """Call a method; returns the call at once.

        Args:
            actor: a handle.
            method: its name.
            arguments: bytes, or references.
        """

    @abstractmethod
    def share(self, value: bytes) -> Any:
        """Put a value where calls of all actors find it, sent once to each place; returns a reference."""

    @abstractmethod
    def fetch(self, reference: Any) -> Bytes:
        """The bytes of a reference.

        Raises:
            ActorFault: they are lost; the message says why.
        """

    @abstractmethod
    def wait(self, calls: Sequence[Any], timeout: float) -> list[Any]:
        """Wait until at least one of the calls is done; returns those that are done, in the order given.

        Args:
            calls: at least one.
            timeout: seconds; if no call is done by then, the list is empty.
        """

    @abstractmethod
    def result(self, call: Any) -> tuple[bytes, Any]:
        """The facts that a call that is done returned, and a reference to its body.

        Raises:
            ActorFault: it returned nothing; the message says why.
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
        SpecError: it cannot be pickled, or a part of it is defined in ``__main__``.
    """
    try:
        pickled = pickle.dumps(make)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise SpecError(
            f"cannot be sent to another process ({error}): give names, mappings and importable functions instead of "
            "lambdas and instances",
            path=where,
        ) from None
    if name := _name_in_main(pickled):
        raise SpecError(
            f"expected classes and functions of modules that another process can import, given {name} of the program "
            "itself: move it into a module, and import it from there",
            path=where,
        )
    return pickled


def _name_in_main(pickled: bytes) -> str:
    """The name of the first class or function of ``__main__`` that a pickle refers to; empty if there is none."""
    texts = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    return texts[texts.index("__main__") + 1] if "__main__" in texts else ""
