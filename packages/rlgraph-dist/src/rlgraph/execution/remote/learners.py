"""Learners of a group as processes of this machine, started and watched."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlgraph.core.addresses import free_address
from rlgraph.core.collectives.connection import SECRET, report_failure
from rlgraph.core.collectives.place import ADDRESS, place_from_environment
from rlgraph.core.errors import type_and_text
from rlgraph.environments import StateBoundsWarning
from rlgraph.execution.remote.host import packed, unpacked

#: Bytes of the end of a learner's output that are shown.
_SHOWN = 2000
#: Seconds that learners have to end by themselves.
_GRACE = 5.0


class ProcessLauncher:
    """Starts the learners 1, 2 ... of a group in processes of their own.

    They end when learner 0 leaves the group or dies. Ctrl-C reaches learner 0 alone.

    Attributes:
        secret: of the group.
    """

    def __init__(self) -> None:
        self.secret = secrets.token_hex(32)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="rlgraph-learners-"))
        self._is_over = threading.Event()

    def start(self, make: Callable[[], Any], size: int) -> str:
        """Start all but learner 0; returns the address at which they will look for it.

        Args:
            make: what each runs, see `rlgraph.execution.remote.host.packed`.
            size: number of learners.

        Raises:
            SpecError: it cannot be sent to another process.
        """
        message = self._folder / "learner"
        message.write_bytes(packed(make, "agent"))
        address = free_address()
        for rank in range(1, size):
            with open(self._log(rank), "wb") as log:
                self._processes[rank] = subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "rlgraph.execution.remote.learners",
                        str(message),
                        str(os.getpid()),
                    ],
                    env={**os.environ, **place_of(rank, size, address, self.secret)},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            watcher = threading.Thread(target=self._watch, args=(rank, size, address), daemon=True)
            watcher.start()
        return address

    def _log(self, rank: int) -> Path:
        return self._folder / f"{rank}.log"

    def _watch(self, rank: int, size: int, address: str) -> None:
        """A learner that ends before it has joined is reported to learner 0, which waits for it."""
        status = self._processes[rank].wait()
        why = f"its process ended with status {status}"
        # Learner 0 may not listen yet: it imports a framework first.
        while status and not self._is_over.is_set():
            if report_failure(rank, size, address, self.secret, why):
                return
            self._is_over.wait(0.2)

    def stop(self) -> str:
        """End all learners; returns how those have ended that failed, and what they printed last."""
        self._is_over.set()
        said = []
        for rank, process in self._processes.items():
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            printed = self._log(rank).read_bytes().decode(errors="replace").strip()
            for message in re.findall(rf"{StateBoundsWarning.__name__}: (.+)", printed):
                warnings.warn(f"learner {rank}: {message}", StateBoundsWarning, stacklevel=1)
            if process.returncode:
                said.append(
                    f"learner {rank} ended with status {process.returncode}. {printed[-_SHOWN:]}".strip()
                )
        for file in self._folder.iterdir():
            file.unlink()
        self._folder.rmdir()
        return "\n".join(said)


def place_of(rank: int, size: int, address: str, secret: str) -> dict[str, str]:
    """What a learner's environment says of its place."""
    return {"RLGRAPH_RANK": str(rank), "RLGRAPH_SIZE": str(size), ADDRESS: address, SECRET: secret}


def run(message: bytes) -> int:
    """Be the learner that a message describes, at the place that the environment says; its exit status."""
    try:
        unpacked(message)()
    except Exception as error:
        traceback.print_exc()
        if (place := place_from_environment()) is not None:
            why = type_and_text(error)
            report_failure(place.rank, place.size, place.address, place.secret, why)
        return 1
    return 0


def end_with(parent: int, folder: Path | None = None) -> None:
    """End this process when its parent has ended: before it joins the group nothing else tells it.

    Args:
        parent: the process that started this one.
        folder: of the parent, which is removed then.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    watched = int(sys.argv[2]), Path(sys.argv[1]).parent
    threading.Thread(target=end_with, args=watched, daemon=True).start()
    status = run(Path(sys.argv[1]).read_bytes())
    if os.getppid() != watched[0]:  # it was killed, and cannot remove its folder
        end_with(*watched)
    sys.exit(status)
