"""The program of an actor's process: it makes the object, and calls the methods that it is asked for."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection

from rlgraph.execution import Host, failure


def serve(connection: Connection, name: str) -> None:
    """Answer calls until the other side is gone."""
    host = Host(connection.recv_bytes())
    while True:
        method, arguments = connection.recv()
        try:
            answer = host.call(method, *arguments)
        except Exception as error:
            answer = failure(name, error, traceback.format_exc())
        connection.send(answer)


if __name__ == "__main__":
    with suppress(EOFError, OSError):  # the program that started this process has ended
        serve(Connection(int(sys.argv[1])), sys.argv[2])
