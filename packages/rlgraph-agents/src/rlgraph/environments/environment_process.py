"""What runs in a process of `ProcessVectorEnv`: some of its environments, stepped in turn.

Commands are bytes: one letter, then whatever it needs, pickled. An answer is one byte where there is nothing to
tell, as in nearly every step, and a pickled `Answer` otherwise. States, rewards, flags and actions are in shared
memory.
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

from rlgraph.environments.restarts import Restarts
from rlgraph.environments.rows import map_rows, slice_rows
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.shared_rows import SharedRows

STEP, RESET, GET_STATES, SET_STATES, RENDER, END = b"s", b"r", b"g", b"p", b"v", b"x"
NOTHING_TO_TELL = b"0"


@dataclass
class Answer:
    """What a command came to.

    Attributes:
        infos: the infos that are not empty, by row.
        dropped: rows whose environment was restarted in this step.
        counts: restarts of each row so far.
        warnings: to be given to the user.
        value: of a command that asks for one.
        error: what was raised; None where that cannot be pickled.
        trace: the traceback of the error; empty: there was none.
    """

    infos: dict[int, dict[str, Any]] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    value: Any = None
    error: BaseException | None = None
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
    except Exception as error:
        _tell(connection, _failure(error))
        return
    connection.send_bytes(NOTHING_TO_TELL)
    try:
        while (command := connection.recv_bytes()) != END:
            _tell(connection, environments.answer(command))
    except (EOFError, OSError):
        pass  # nobody is there any more
    finally:
        environments.vector.terminate()


class _Environments:
    """The environments of this process, and the answers to commands."""

    def __init__(self, share: Share, shared: SharedRows) -> None:
        self.warnings: list[str] = []
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

    def answer(self, command: bytes) -> Answer | None:
        """Does what it is told to; None: there is nothing to tell."""
        infos: Any = ()
        value = None
        vector = self.vector
        try:
            kind, argument = command[:1], command[1:]
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
        except Exception as error:
            return _failure(error)
        warnings = self.warnings[:]
        self.warnings.clear()
        told = {i: info for i, info in enumerate(infos) if info}
        return Answer(told, list(vector.dropped), self.restarts.counts, warnings, value)


def _failure(error: Exception) -> Answer:
    trace = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return Answer(trace=trace)
    return Answer(error=error, trace=trace)


def _tell(connection: Connection, answer: Answer | None) -> None:
    if answer is None:
        connection.send_bytes(NOTHING_TO_TELL)
        return
    try:
        content = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # an info or an inner state that cannot be sent
        content = pickle.dumps(_failure(error), pickle.HIGHEST_PROTOCOL)
    connection.send_bytes(content)


def _end_with_parent() -> None:
    """Ends this process when its parent does, also in the middle of a step."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
