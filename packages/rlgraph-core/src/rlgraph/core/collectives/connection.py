"""The connections of a group of learners: how a learner shows that it belongs to the group, and whole messages.

Learner 0 asks for the group's secret first. It is never sent: each side proves with a keyed hash of a random number of
the other that it knows it. Whoever does not is a stranger, of whom nothing else is read. A handshake as a whole has a
limit of time, and each message one of length.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from rlgraph.core.addresses import connect
from rlgraph.core.errors import CollectiveError

#: The variable of the environment with the secret of a group that a launcher of others starts.
SECRET = "RLGRAPH_GROUP_SECRET"
#: Seconds that a whole handshake may take.
HANDSHAKE = 5.0
#: Bytes of a message in a handshake, and of any later one from one learner.
MAX_GREETING, MAX_MESSAGE = 1 << 16, 1 << 30
ERROR, GREETINGS = b"E", b"H"
#: First bytes that learner 0 sends, so that another server at its address is told apart.
_MAGIC = b"rlgraph2"
_HEAD = struct.Struct("!cQ")
_PLACE = struct.Struct("!II")
_NONCE = 32
#: Seconds without progress until a message to a learner that does not read is given up.
_SEND_TIMEOUT = 10
_secret: ContextVar[str] = ContextVar("rlgraph_group_secret", default="")


@contextmanager
def using_secret(secret: str) -> Iterator[None]:
    """Groups that are joined inside have this secret; others an empty one."""
    token = _secret.set(secret)
    try:
        yield
    finally:
        _secret.reset(token)


class Line:
    """A connection on which whole messages are sent and received."""

    def __init__(self, connection: socket.socket):
        self.socket = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Of the system: a timeout of the socket's own would be that of a thread that reads, too.
        if hasattr(socket, "SO_SNDTIMEO") and os.name == "posix":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_TIMEOUT, 0))
        self._sending = threading.Lock()

    def send(self, kind: bytes, message: bytes) -> None:
        """Send a message."""
        with self._sending:
            self.socket.sendall(_HEAD.pack(kind, len(message)) + message)

    def receive(self, limit: int, until: float | None = None) -> tuple[bytes, bytes]:
        """The kind of the next message, and the message.

        Args:
            limit: bytes that it may have.
            until: see `read`.

        Raises:
            OSError: the connection has ended, or the time is over.
            ValueError: it is longer.
        """
        kind, length = _HEAD.unpack(self.read(_HEAD.size, until))
        if length > limit:
            raise ValueError(f"expected a message of at most {limit:,} bytes, given one of {length:,}")
        return kind, self.read(length, until)

    def read(self, length: int, until: float | None = None) -> bytes:
        """The next bytes.

        Args:
            length: how many.
            until: by `time.monotonic`, when all must be there; None: whenever they come.
        """
        parts = bytearray()
        while len(parts) < length:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0.0:
                raise TimeoutError("it took too long")
            self.socket.settimeout(left)
            part = self.socket.recv(min(length - len(parts), 1 << 20))
            if not part:
                raise ConnectionResetError("the other side has closed the connection")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """End the connection."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes a thread that reads
        self.socket.close()

    def introduce(self, rank: int, size: int, kind: bytes, greeting: bytes) -> None:
        """To learner 0: prove that this is a learner of the group, then say which one.

        Raises:
            OSError, ValueError: what answers is not learner 0 of the group.
            CollectiveError: learner 0 refuses this one.
        """
        until, nonce = time.monotonic() + HANDSHAKE, secrets.token_bytes(_NONCE)
        if self.read(len(_MAGIC), until) != _MAGIC:
            raise ValueError("what listens there is not a learner of this version")
        self.socket.sendall(_proof(b"other", self.read(_NONCE, until)) + nonce)
        answer, message = self.receive(MAX_GREETING, until)
        if answer == ERROR:
            raise CollectiveError(message.decode(errors="replace"))
        if not hmac.compare_digest(message, _proof(b"0", nonce)):
            raise ValueError(f"it does not know the secret of the group, {SECRET}")
        self.socket.settimeout(None)
        self.socket.sendall(_PLACE.pack(rank, size))
        self.send(kind, greeting)

    def welcome(self) -> tuple[int, int, bytes, bytes]:
        """At learner 0: the rank of who comes, the size of its group, the kind of its greeting, and the greeting.

        Raises:
            OSError, ValueError: it is not a learner of the group.
        """
        until, nonce = time.monotonic() + HANDSHAKE, secrets.token_bytes(_NONCE)
        self.socket.sendall(_MAGIC + nonce)
        proof, theirs = self.read(hashlib.sha256().digest_size, until), self.read(_NONCE, until)
        if not hmac.compare_digest(proof, _proof(b"other", nonce)):
            raise ValueError(f"the secret is not that of learner 0: give all learners the same {SECRET}")
        self.send(GREETINGS, _proof(b"0", theirs))
        rank, size = _PLACE.unpack(self.read(_PLACE.size, until))
        kind, greeting = self.receive(MAX_GREETING, until)
        self.socket.settimeout(None)
        return rank, size, kind, greeting


def _proof(who: bytes, nonce: bytes) -> bytes:
    """Shows that one of the two sides knows the secret."""
    return hmac.digest(_secret.get().encode(), who + nonce, hashlib.sha256)


def pack_all(messages: Sequence[bytes]) -> bytes:
    """Several messages as one."""
    return b"".join(struct.pack("!Q", len(message)) + message for message in messages)


def unpack_all(message: bytes) -> list[bytes]:
    """What `pack_all` was given.

    Raises:
        ValueError: it was given nothing like this.
    """
    found, at = [], 0
    while at < len(message):
        start = at + 8
        at = start + int.from_bytes(message[at:start])
        if at > len(message):
            raise ValueError("the message is too short")
        found.append(message[start:at])
    return found


def report_failure(rank: int, size: int, address: str, secret: str, why: str) -> bool:
    """Tell learner 0, which may be waiting, that this learner will not come; whether somebody listened."""
    with (
        using_secret(secret),
        suppress(OSError, ValueError, CollectiveError),
        connect(address, 1.0) as connection,
    ):
        if connection.getsockname() != connection.getpeername():  # else it has connected to itself
            Line(connection).introduce(rank, size, ERROR, why.encode()[:MAX_GREETING])
            return True
    return False
