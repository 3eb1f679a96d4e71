"""Addresses of servers, ``host:port``; an IPv6 host is in brackets."""

from __future__ import annotations

import socket


def host_and_port(address: str) -> tuple[str, int]:
    """The host, without brackets, and the port."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def connect(address: str, timeout: float) -> socket.socket:
    """A connection to an address.

    Raises:
        OSError: nothing accepts connections there.
    """
    return socket.create_connection(host_and_port(address), timeout)


def answers(address: str, timeout: float) -> bool:
    """Whether something accepts connections at an address."""
    try:
        connect(address, timeout).close()
    except OSError:
        return False
    return True


def free_address(host: str = "127.0.0.1") -> str:
    """An address of this machine that nobody uses."""
    with socket.create_server((host, 0)) as probe:
        return f"{host}:{probe.getsockname()[1]}"
