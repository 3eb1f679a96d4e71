"""What specs may connect to, and who may connect to this machine."""

import logging
from typing import Literal

import pytest

from rlgraph.core import SpecError, allow_clusters, allow_network, data_specs
from rlgraph.core.specs.connections import (
    check_connections,
    check_network,
    report_open_ports,
)
from rlgraph.core.specs.policy import spec_policy, using_spec_policy


class Plain:
    """A plug-in that says nothing of its options."""

    def __init__(
        self,
        host: str = "",
        peers: object = None,
        mode: Literal["fast", "slow"] = "fast",
        level: Literal["low"] | int | None = None,
        word: str | Literal["a"] = "",
        numbers: dict[int, int] | None = None,
        size: int = 1,
    ): ...


class Named(Plain):
    """One that names its addresses."""

    @classmethod
    def addresses(cls, options):
        return [options["host"]] if "host" in options else []


class OneText(Plain):
    """One that returns a text where texts are expected."""

    @classmethod
    def addresses(cls, options):
        return options["host"]


class Odd(Plain):
    """One whose `addresses` are no method: they say nothing."""

    addresses = ("a:1",)


class Server(Named):
    needs_network = True


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"host": "a:1"}, ["a:1"]),
        ({"peers": {"first": ["a:1", {"second": ("b:2",)}]}}, ["a:1", "b:2"]),
        ({"peers": {"a:1": 3}}, ["a:1"]),
        ({"peers": {"first": 3}}, []),
        ({"word": "a"}, ["a"]),
        ({"unknown": "a:1"}, ["a:1"]),
        ({"numbers": {"a:1": 1}}, ["a:1"]),
        ({"mode": "slow", "level": "low", "size": 3}, []),
        ({"host": "a:1", "word": "a:1"}, ["a:1"]),
    ],
)
def test_texts_in_data_are_addresses(options, refused):
    check_connections(Plain, options, "engine")  # a program's own
    with data_specs(), allow_clusters("c:3"):
        if not refused:
            return check_connections(Plain, options, "engine")
        with pytest.raises(SpecError) as caught:
            check_connections(Plain, options, "engine")
    said = str(caught.value)
    assert said.startswith(f"engine: expected addresses that you have allowed, given {refused[0]!r}")
    assert " ".join(f"--allow-cluster {address}" for address in refused) in said
    assert f"rlgraph.core.allow_clusters({', '.join(map(repr, refused))})" in said
    with data_specs(), allow_clusters(*refused):
        check_connections(Plain, options, "engine")


def test_a_class_names_its_addresses():
    with data_specs():
        check_connections(Named, {"word": "a:1"}, "engine")
        with pytest.raises(SpecError, match="--allow-cluster 'a b'"):  # as a shell takes it
            check_connections(Named, {"host": "a b"}, "engine")


@pytest.mark.parametrize("kind", [OneText, Odd])
def test_classes_that_name_them_wrongly(kind):
    with data_specs(), pytest.raises(SpecError, match=r"given 'a:1'\. .* --allow-cluster a:1 \("):
        check_connections(kind, {"host": "a:1"}, "engine")


def test_all_that_is_needed_is_named_at_once():
    with data_specs(), pytest.raises(SpecError) as caught:
        check_connections(Server, {"host": "a:1"}, "engine")
    assert [fault.path for fault in caught.value.faults] == ["engine", "engine"]
    assert "--allow-cluster a:1" in str(caught.value) and "--allow-network" in str(caught.value)
    with data_specs(), allow_clusters("a:1"), allow_network():
        check_connections(Server, {"host": "a:1"}, "engine")


def test_data_allows_no_network():
    check_network("engine", is_allowed=True)
    with pytest.raises(SpecError, match=r"engine: expected --allow-network, since it starts a server"):
        check_network("engine")
    with data_specs(), pytest.raises(SpecError, match="--allow-network"):
        check_network("engine", is_allowed=True)
    with data_specs(), allow_network():
        check_network("engine")


def test_what_is_allowed_adds_up_and_is_handed_on():
    with allow_clusters("a:1"), allow_network(), allow_clusters("b:2", "c:3"):
        policy = spec_policy()
    assert policy.clusters == ("a:1", "b:2", "c:3") and policy.network
    assert not spec_policy().clusters and not spec_policy().network
    with using_spec_policy(policy):
        assert spec_policy() is policy


def test_an_open_port_is_reported(caplog):
    with caplog.at_level(logging.WARNING):
        report_open_ports("A server", 1234, 1235)
    assert (
        "A server listens on port 1234, 1235 of all interfaces" in caplog.text and "password" in caplog.text
    )
