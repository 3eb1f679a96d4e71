"""A small process that says why this program ended: Ray ends one whose object store is gone at once, without a word."""

from __future__ import annotations

import atexit
import subprocess
import sys


class Witness:
    """Says on standard error that the raylet, a process, was gone when this program ended without `dismiss`."""

    def __init__(self, raylet: int):
        command = [sys.executable, "-I", "-S", __file__, str(raylet)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        atexit.register(self.dismiss)

    def dismiss(self) -> None:
        """The program ends by itself, or no longer needs the raylet."""
        atexit.unregister(self.dismiss)
        self._process.communicate(b".")


if __name__ == "__main__" and not sys.stdin.buffer.read():
    state = subprocess.run(["ps", "-o", "stat=", "-p", sys.argv[1]], capture_output=True, check=False).stdout
    if state[:1] in (b"", b"Z"):
        print(
            f"ClusterLost: the Ray cluster is lost: the raylet of this machine (process {sys.argv[1]}) has ended, and "
            "Ray ended this program in the middle of a call. The run is kept up to its last checkpoint: go on with it "
            "by rlgraph resume",
            file=sys.stderr,
        )
