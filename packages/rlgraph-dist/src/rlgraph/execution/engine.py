"""Engines: where actors live, and how they are called. Flows are written over this, once for all engines."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rlgraph.core import PluginError, RLGraphError, SpecError
from rlgraph.core.errors import type_and_text

#: Errors that every other attempt would raise as well.
_LASTING = (SpecError, PluginError, ImportError)
#: Bytes, or a view of some that nobody can change.
Bytes = bytes | memoryview


class ClusterLost(RLGraphError):
    """What the actors run on is gone: none of them can be started again."""

    #: Whether a run that ends like this can be resumed.
    is_resumable = True


class ActorFault(RLGraphError):
    """An actor did not return a result.

    Args:
        text: why.
        log: what is known besides: a traceback, what the process wrote.
    """

    def __init__(self, text: str, log: str = ""):
        super().__init__(text)
        self.log = log


class ActorDied(ActorFault):
    """The process of an actor is gone."""


class ActorFailed(ActorFault):
    """An actor's method raised an error."""


class ActorMisconfigured(ActorFault):
    """An actor cannot be made as it is described; another one would fail as well."""


def failure(name: str, error: BaseException, log: str) -> ActorFault:
    """The fault of an actor whose method raised an error.

    Args:
        name: of the actor.
        error: what was raised.
        log: its traceback.
    """
    said = f"{name}: {type_and_text(error)}"
    if not isinstance(error, _LASTING):
        return ActorFailed(said, log)
    return ActorMisconfigured(
        f"{said}\nAnother process would fail as well. What is registered while a program runs is unknown in other "
        "processes: name modules that they can import",
        log,
    )


@dataclass(frozen=True)
class Demand:
    """What an executor is going to need.

    Attributes:
        actors: how many.
        shards: how many things mostly wait.
        message_bytes: size of the messages that are under way together.
    """

    actors: int
    message_bytes: int
    shards: int = 0


class Engine(ABC):
    """Starts actors, calls their methods, and ends them.

    Arguments and results are bytes, in the same process too: an array that changes after it was sent changes nothing
    elsewhere. Bodies of results stay where they are: they are referred to, given to calls of other actors, and fetched
    by who reads them. Handles, calls and references are the engine's own objects. The constructor takes the engine's
    options by name.

    Options may come from a document, which must not connect anywhere by itself. So the texts in them need
    ``--allow-cluster``, unless a class method ``addresses(options)`` returns those that are addresses; see
    `rlgraph.core.specs.connections.check_connections`.
    """

    #: Whether it starts a server that other machines can reach, which needs ``--allow-network``.
    needs_network: ClassVar[bool] = False

    def now(self) -> float:
        """The time in seconds that timeouts and reports are measured in."""
        return time.monotonic()

    def check_room(self, demand: Demand) -> None:
        """Check that there is room for what is going to be started, and set it aside; called once, before.

        Raises:
            SpecError: there is not; says how much is needed and how much there is.
        """
        return None

    def give_back_room(self) -> None:
        """All actors have ended: what was set aside is no longer needed."""
        return None

    @abstractmethod
    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        """Start an actor; returns its handle at once.

        Args:
            make: what a `rlgraph.execution.remote.host.Host` there is made of.
            name: of the actor in messages.
            is_light: it mostly waits, as replay shards do: by default no CPU and no GPU is set aside for it.
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
        """Put a value where calls of all actors find it, sent once to each place; returns a reference.

        A call that begins after a newer value was shared may get that one.
        """

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
