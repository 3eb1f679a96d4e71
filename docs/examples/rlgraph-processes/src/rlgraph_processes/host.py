"""The program of an actor's process: it makes the object, and calls the methods that it is asked for."""

from __future__ import annotations

import pickle
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection


def serve(connection: Connection) -> None:
    """Answer calls until the other side is gone."""
    make, hosted = connection.recv_bytes(), None
    while True:
        method, arguments = connection.recv()
        try:
            hosted = pickle.loads(make)() if hosted is None else hosted
            answer = getattr(hosted, method)(*arguments)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    with suppress(EOFError, OSError):  # the program that started this process has ended
        serve(Connection(int(sys.argv[1])))
