"""The process of a `ProcessVectorEnv`, which steps some of its environments in turn.

A command is one letter followed by its pickled argument. An answer is one byte if there is nothing to report, as in
nearly every step, else a pickled `Answer`. States, rewards, flags and actions are in shared memory. Errors are sent
as text, since an exception of an environment may not survive pickling.
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

from rlgraph.core.errors import text_of
from rlgraph.environments.errors import EnvironmentFault, fault_of, last_line, shortened
from rlgraph.environments.rows import map_rows, slice_rows
from rlgraph.environments.vector.restarts import Restarts
from rlgraph.environments.vector.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector.shared_rows import SharedRows

STEP, RESET, GET_STATES, SET_STATES, RENDER, END = b"s", b"r", b"g", b"p", b"v", b"x"
NOTHING_TO_REPORT = b"0"

LONGEST_TRACE = 10_000
"""Characters of a traceback."""


@dataclass
class Answer:
    """The outcome of a command.

    Attributes:
        infos: the infos that are not empty, by row.
        dropped: rows whose environment was restarted in this step.
        counts: restarts of each row so far.
        warnings: for the user.
        value: the value that the command asked for.
        error: the message of an `EnvironmentFault`; empty if there was none.
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
    """The arguments of a process.

    Attributes:
        spec: the pickled environment spec; an error on loading it is reported as any other.
        rows: the rows of its environments among all.
        turn: which of the two sets of buffers the next step writes.
        counts: restarts of its rows so far.
        max_restarts: of each environment.
        validate_states: see `SequentialVectorEnv`.
        first_index: of its environments, for seeds and messages.
    """

    spec: bytes
    rows: slice
    turn: int
    counts: list[int]
    max_restarts: int
    validate_states: bool
    first_index: int


def serve(connection: Connection, share: Share, shared: SharedRows) -> None:
    """Answers commands until told to end, or until the parent process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        environments = _Environments(share, shared)
    except BaseException as error:
        connection.send_bytes(_failure(error, _label(share)))
        return
    connection.send_bytes(NOTHING_TO_REPORT)
    try:
        while (command := connection.recv_bytes()) != END:
            connection.send_bytes(environments.answer(command))
    except (EOFError, OSError):
        pass  # the parent process has ended
    finally:
        environments.vector.terminate()


class _Environments:
    """The environments of this process, which answer commands."""

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
            share.validate_states,
            restarts=self.restarts,
            buffers=(buffers[0], buffers[1]),
            first_index=share.first_index,
        )

    def answer(self, command: bytes) -> bytes:
        """Executes a command; the answer to send back."""
        try:
            answer = self._execute(command[:1], command[1:])
            return NOTHING_TO_REPORT if answer is None else self._pickled(answer)
        except BaseException as error:  # also SystemExit; Ctrl-C is ignored
            return _failure(error, self.label)

    def _execute(self, kind: bytes, argument: bytes) -> Answer | None:
        """Executes a command; None if there is nothing to report."""
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
        """The bytes of an answer.

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
    """The bytes of an answer that reports an error."""
    message = text_of(error) if isinstance(error, EnvironmentFault) else str(fault_of(error, label))
    trace = shortened("".join(traceback.format_exception(error)), LONGEST_TRACE)
    return pickle.dumps(Answer(error=message, trace=trace), pickle.HIGHEST_PROTOCOL)


def _end_with_parent() -> None:
    """Ends this process with its parent, also in the middle of a step."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
