"""A worker process of environments, seen from the process that started it."""

from __future__ import annotations

import pickle
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from rlgraph.environments.errors import last_line
from rlgraph.environments.interrupts import raise_interruption
from rlgraph.environments.vector import environment_process as commands
from rlgraph.environments.vector.environment_process import Answer, Share, serve
from rlgraph.environments.vector.shared_rows import SharedRows

_KILLED = "its process was ended"


class ProcessHandle:
    """One process and the pipe to it.

    Attributes:
        rows: its environments.
        waiting: whether an answer is due.
        came_up: whether it has ever answered.
        torn: whether an answer may have been read in part.
    """

    def __init__(self, rows: slice) -> None:
        self.rows = rows
        self.waiting = False
        self.came_up = False
        self.torn = False
        self.connection: Connection
        self._process: BaseProcess | None = None

    @property
    def id(self) -> int:
        assert self._process is not None and self._process.pid is not None
        return self._process.pid

    def start(self, context: Any, share: Share, shared: SharedRows) -> None:
        self.connection, theirs = context.Pipe()
        name = f"rlgraph environments {share.rows.start}-{share.rows.stop - 1}"
        process = context.Process(target=serve, args=(theirs, share, shared), name=name, daemon=True)
        process.start()
        theirs.close()  # so that the end of the process closes the pipe
        self._process, self.waiting, self.torn = process, True, False

    def send(self, command: bytes) -> None:
        """Sends a command; `receive` detects that the process has ended."""
        if self._process is not None:
            with suppress(OSError):
                self.connection.send_bytes(command)
            self.waiting = True

    def receive(self) -> Answer | None:
        """Waits for the answer.

        Raises:
            EOFError, OSError: the process has ended.
        """
        content = self.connection.recv_bytes()
        self.waiting, self.came_up = False, True
        if content == commands.NOTHING_TO_REPORT:
            return None
        try:
            answer: Answer = pickle.loads(content)
        except BaseException as error:  # an info whose class does not load here
            raise_interruption(error)
            first, last = self.rows.start, self.rows.stop - 1
            return Answer(error=f"environments {first} to {last}: an info cannot be read: {last_line(error)}")
        return answer

    def end(self, deadline: float) -> bool:
        """Waits until `deadline` for the process to end, then kills it; whether it was killed."""
        if self._process is None:
            return False
        self._process.join(max(0.0, deadline - time.monotonic()))
        return self.kill() == _KILLED

    def kill(self) -> str:
        """Kills the process; returns how it ended."""
        if self._process is None:
            return "not running"
        process, self._process = self._process, None
        process.join(0.1)
        running = process.exitcode is None
        if running:
            process.kill()
            process.join()
        code = process.exitcode or 0
        process.close()
        self.connection.close()
        self.waiting = False
        if running:
            return _KILLED
        return (
            f"its process was killed by signal {-code}"
            if code < 0
            else f"its process ended with exit code {code}"
        )
