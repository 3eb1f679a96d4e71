"""The actors of an executor: started, asked, and started again when they fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from rlgraph.core import RLGraphError
from rlgraph.execution.engine import ActorFault, ActorMisconfigured, Engine
from rlgraph.execution.remote.host import Hosted, packed
from rlgraph.runs.run_files import open_to_write, storing

#: Characters of a log in a message.
_LONGEST_NOTE = 2000


class TooManyRestarts(RLGraphError):
    """An actor failed more often than `max_actor_restarts` allows; the message lists all causes."""


class Actors:
    """N actors of one kind.

    Args:
        engine: where they run.
        make: ``(number, incarnation)`` -> what makes an actor there.
        count: N.
        max_restarts: how often each actor may be started again.
        name: what an actor is called in messages.
        is_light: see `Engine.start`.
        folder: where logs of those that failed are written; None: they are in the messages only.
    """

    def __init__(
        self,
        engine: Engine,
        make: Callable[[int, int], Callable[[], Hosted]],
        count: int,
        max_restarts: int,
        name: str = "actor",
        is_light: bool = False,
        folder: Path | None = None,
    ):
        self._engine, self._make, self._name, self._is_light = engine, make, name, is_light
        self.max_restarts, self._folder = max_restarts, folder
        self.incarnations = [0] * count
        #: Why each actor was started again, in order.
        self.causes: list[list[str]] = [[] for _ in range(count)]
        self._handles = [self._start(number) for number in range(count)]

    def __len__(self) -> int:
        return len(self._handles)

    @property
    def restarts(self) -> int:
        """How often actors were started again."""
        return sum(map(len, self.causes))

    def name_of(self, number: int) -> str:
        """The name of actor `number`, in messages."""
        return f"{self._name} {number}"

    def call(self, number: int, method: str, *arguments: Any) -> Any:
        """Call a method of actor `number`."""
        return self._engine.call(self._handles[number], method, *arguments)

    def restart(self, number: int, fault: ActorFault) -> None:
        """Replace an actor that failed.

        Raises:
            ActorMisconfigured: it would fail again.
            TooManyRestarts: it was started again `max_restarts` times already.
        """
        self._engine.kill(self._handles[number])
        self._keep(number, fault)
        if isinstance(fault, ActorMisconfigured):
            raise fault
        causes = self.causes[number]
        causes.append("\n".join([str(fault), *getattr(fault, "__notes__", ())]))
        if len(causes) > self.max_restarts:
            listed = "\n".join(f"{i + 1}. {cause}" for i, cause in enumerate(causes))
            raise TooManyRestarts(
                f"{self.name_of(number)} failed {len(causes)} times, and max_actor_restarts is {self.max_restarts}: "
                f"allow more, or remove the causes:\n{listed}"
            )
        self.incarnations[number] += 1
        self._handles[number] = self._start(number)

    def _keep(self, number: int, fault: ActorFault) -> None:
        """Write down why an actor failed; without a folder, its log goes with the message."""
        if self._folder is None:
            if fault.log:
                fault.add_note(fault.log[-_LONGEST_NOTE:])
            return
        name = f"{self.name_of(number).replace(' ', '-')}.{self.incarnations[number]}.log"
        with storing(self._folder):
            self._folder.mkdir(exist_ok=True)
        # Those of a resumed run have the same names.
        with os.fdopen(open_to_write(self._folder / name), "a", encoding="utf-8") as file:
            file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {fault}\n{fault.log}\n")

    def close(self) -> None:
        """End all actors."""
        for handle in self._handles:
            self._engine.kill(handle)

    def _start(self, number: int) -> Any:
        incarnation = self.incarnations[number]
        make = packed(self._make(number, incarnation), "executor")
        name = f"{self.name_of(number)} (incarnation {incarnation})"
        return self._engine.start(make, name, self._is_light)
