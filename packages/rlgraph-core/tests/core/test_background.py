"""Calls that may never return, and addresses."""

import socket
import threading
from concurrent.futures import wait

import pytest

from rlgraph.core.addresses import answers, free_address, host_and_port
from rlgraph.core.background import in_background


def test_a_call_that_does_not_return_is_left_behind():
    call = in_background(threading.Event().wait)
    assert not wait([call], 0.05).done
    assert in_background(max, 1, 2).result(5.0) == 2


def test_what_a_call_raises_is_kept():
    with pytest.raises(SystemExit, match="ended"):
        in_background(lambda: exit("ended")).result(5.0)


def test_addresses():
    assert host_and_port("[::1]:80") == ("::1", 80) and host_and_port("here:1") == ("here", 1)
    address = free_address()
    assert not answers(address, 1.0)
    with socket.create_server(host_and_port(address)):
        assert answers(address, 1.0)
