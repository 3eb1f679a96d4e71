"""What runs in a process of `ProcessVectorEnv`: some of its environments, stepped in turn.

Commands are bytes: one letter, then whatever it needs, pickled. An answer is one byte where there is nothing to
tell, as in nearly every step, and a pickled `Answer` otherwise. States, rewards, flags and actions are in shared
memory. Errors travel as text: an exception of an environment may not survive pickling.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from rlgraph.environments.errors import EnvironmentFault, fault_of, last_line, shortened
from rlgraph.environments.restarts import Restarts
from rlgraph.environments.rows import map_rows, slice_rows
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.shared_rows import SharedRows

STEP, RESET, GET_STATES, SET_STATES, RENDER, END = b"s", b"r", b"g", b"p", b"v", b"x"
NOTHING_TO_TELL = b"0"

LONGEST_TRACE = 10_000
"""Characters of a traceback."""


@dataclass
class Answer:
    """What a command came to.

    Attributes:
        infos: the infos that are not empty, by row.
        dropped: rows whose environment was restarted in this step.
        counts: restarts of each row so far.
        warnings: to be given to the user.
        value: of a command that asks for one.
        error: the message of an `EnvironmentFault`; empty: there was none.
        trace: its traceback.
    """

    infos: dict[int, dict[str, Any]] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    value: Any = None
    error: str = ""
    trace: str = ""


@dataclass
class Share:
    """What a process is given.

    Attributes:
        spec: the environment spec, pickled: an error on loading it is to be told like any other.
        rows: its rows of all environments.
        turn: which of the two sets of buffers the next step writes.
        counts: restarts of its rows so far.
        max_restarts: of each environment.
        validate: never stop checking.
        first_index: of its environments, for seeds and messages.
    """

    spec: bytes
    rows: slice
    turn: int
    counts: list[int]
    max_restarts: int
    validate: bool
    first_index: int


def serve(connection: Connection, share: Share, shared: SharedRows) -> None:
    """The life of the process: it ends when told to, and when the one that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        environments = _Environments(share, shared)
    except BaseException as error:
        connection.send_bytes(_failure(error, _label(share)))
        return
    connection.send_bytes(NOTHING_TO_TELL)
    try:
        while (command := connection.recv_bytes()) != END:
            connection.send_bytes(environments.answer(command))
    except (EOFError, OSError):
        pass  # nobody is there any more
    finally:
        environments.vector.terminate()


class _Environments:
    """The environments of this process, and the answers to commands."""

    def __init__(self, share: Share, shared: SharedRows) -> None:
        self.warnings: list[str] = []
        self.label = _label(share)
        number = share.rows.stop - share.rows.start
        self.restarts = Restarts(number, share.max_restarts, share.counts, self.warnings.append)
        self.actions = slice_rows(shared.actions, share.rows)
        buffers = [shared.buffers[i].part(share.rows) for i in (1 - share.turn, share.turn)]
        make = pickle.loads(share.spec)
        self.vector = SequentialVectorEnv(
            [make] * number,
            share.validate,
            restarts=self.restarts,
            buffers=(buffers[0], buffers[1]),
            first_index=share.first_index,
        )

    def answer(self, command: bytes) -> bytes:
        """Carries out a command; what to send back."""
        try:
            answer = self._carry_out(command[:1], command[1:])
            return NOTHING_TO_TELL if answer is None else self._pickled(answer)
        except BaseException as error:  # Ctrl-C does not come here
            return _failure(error, self.label)

    def _carry_out(self, kind: bytes, argument: bytes) -> Answer | None:
        """Does what it is told to; None: there is nothing to tell."""
        infos: Any = ()
        value = None
        vector = self.vector
        if kind == STEP:
            *_, infos = vector.step(map_rows(lambda leaf: leaf.copy(), self.actions))
            if not (any(infos) or vector.dropped or self.warnings):
                return None
        elif kind == RESET:
            vector.reset(pickle.loads(argument))
        elif kind == GET_STATES:
            value = vector.get_states()
        elif kind == SET_STATES:
            vector.set_states(pickle.loads(argument))
        else:
            value = vector.render(pickle.loads(argument))
        warnings = self.warnings[:]
        self.warnings.clear()
        told = {i: info for i, info in enumerate(infos) if info}
        return Answer(told, list(vector.dropped), self.restarts.counts, warnings, value)

    def _pickled(self, answer: Answer) -> bytes:
        """
        Raises:
            EnvironmentFault: an info cannot be pickled; names its environment and step.
        """
        try:
            return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        except BaseException:
            for i, info in answer.infos.items():
                try:
                    pickle.dumps(info, pickle.HIGHEST_PROTOCOL)
                except BaseException as error:
                    raise EnvironmentFault(
                        f"{self.vector.place(i)}: info goes to another process and cannot be pickled: "
                        f"{last_line(error)}."
                    ) from error
            raise


def _label(share: Share) -> str:
    first = share.first_index
    return f"environments {first} to {first + share.rows.stop - share.rows.start - 1}"


def _failure(error: BaseException, label: str) -> bytes:
    """The answer that tells of an error."""
    message = str(error) if isinstance(error, EnvironmentFault) else str(fault_of(error, label))
    trace = shortened("".join(traceback.format_exception(error)), LONGEST_TRACE)
    return pickle.dumps(Answer(error=message, trace=trace), pickle.HIGHEST_PROTOCOL)


def _end_with_parent() -> None:
    """Ends this process when its parent does, also in the middle of a step."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
