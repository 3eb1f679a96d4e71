"""Where workers are: processes of this machine, or tasks of a cluster that somebody starts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod

from rlgraph.core.addresses import answers

#: Seconds between two looks at a task, and how many of them must fail.
_INTERVAL, _FAILURES = 1.0, 3
#: Bytes of a dead process's output that are kept.
_LOG_BYTES = 65_536


class Place(ABC):
    """A worker.

    Args:
        number: by which it finds its tickets.
    """

    def __init__(self, number: int):
        self.number = number

    @abstractmethod
    def problem(self) -> str:
        """Why it can answer nothing more; empty: nothing is known."""

    def log(self) -> str:
        """What it wrote last, where that is known."""
        return ""

    @abstractmethod
    def end(self) -> None:
        """Nothing more is asked of it."""


class LocalProcess(Place):
    """A process that is started, and killed at the end.

    Args:
        number: see `Place`.
        learner: address of the learner.
        connect_timeout: seconds until it has connected.
    """

    def __init__(self, number: int, learner: str, connect_timeout: float):
        super().__init__(number)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "rlgraph.execution.distributed_tf", "--learner", learner]
        command += ["--number", str(number), "--connect-timeout", str(connect_timeout)]
        # Workers step environments and act on the CPU, with a thread each.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "-1"}
        # A session of its own: Ctrl-C reaches the learner only, which then ends its workers.
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,  # the worker ends when it is closed, so with this process
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def problem(self) -> str:
        status = self._process.poll()
        return "" if status is None else f"process {self.pid} has ended with status {status}"

    def log(self) -> str:
        self._output.seek(max(0, os.fstat(self._output.fileno()).st_size - _LOG_BYTES))
        return self._output.read().decode(errors="replace").strip()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._output.close()


class Task(Place):
    """A task of a cluster. Whether it is there is seen at its address.

    Args:
        number: its index.
        address: where it listens.
        connect_timeout: seconds until it must be there.
    """

    def __init__(self, number: int, address: str, connect_timeout: float):
        super().__init__(number)
        self.address, self._timeout = address, connect_timeout
        self._began, self._was_there, self._failures = time.monotonic(), False, 0
        self._ends = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._ends.is_set():
            if answers(self.address, 2.0):
                self._was_there, self._failures = True, 0
            else:
                self._failures += 1
            self._ends.wait(_INTERVAL)

    def problem(self) -> str:
        if self._was_there:
            return f"nothing answers at {self.address} any more" if self._failures >= _FAILURES else ""
        if time.monotonic() - self._began < self._timeout:
            return ""
        return f"no worker came to {self.address} within {self._timeout:g} s"

    def end(self) -> None:
        self._ends.set()
