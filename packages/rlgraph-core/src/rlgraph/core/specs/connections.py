"""What specs may connect to, and who may connect to this machine: specs in data only what the user allows."""

from __future__ import annotations

import logging
import platform
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rlgraph.core.errors import SpecError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.policy import spec_policy

_log = logging.getLogger(__name__)

#: What most things need the network for.
_SERVES = "starts a server that other machines can reach"


def check_connections(kind: Callable[..., Any], options: Mapping[str, Any], where: str) -> None:
    """Check an executor, an engine or a collective that is to be made from data, before it connects to anything.

    Its class may say more: ``addresses(options)``, a class method, returns the addresses in its options, and
    ``needs_network = True`` says that it starts a server that other machines can reach. Without `addresses`, every text
    in the options counts as an address, unless it is one of the words of a ``Literal``, or a key that is an identifier.

    Args:
        kind: the class.
        options: arguments of its constructor, by name.
        where: place of the spec.

    Raises:
        SpecError: the user has not allowed an address, or the network.
    """
    policy = spec_policy()
    if not policy.is_data or not policy.is_checked:
        return
    own: Callable[..., Iterable[str]] | None = getattr(kind, "addresses", None)
    given = dict.fromkeys(texts_in(own(options)) if callable(own) else _texts_of(kind, options))
    faults = list[str]()
    if refused := [address for address in given if address not in policy.clusters]:
        listed = ", ".join(map(repr, refused))
        flags = " ".join(f"--allow-cluster {shlex.quote(address)}" for address in refused)
        faults.append(
            f"expected addresses that you have allowed, given {listed}. Programs there can run code in this process. "
            f"If you trust them, add {flags} (in Python: rlgraph.core.allow_clusters({listed}))"
        )
    if getattr(kind, "needs_network", False):
        faults += _network_faults(_SERVES, is_allowed=False)
    if faults:
        raise SpecError(*faults, path=where)


def check_network(where: str, *, is_allowed: bool = False, why: str = _SERVES) -> None:
    """Check that something may use the network.

    Args:
        where: place of its spec.
        is_allowed: its option ``allow_network``, which counts in a program's own specs, not in data.
        why: what it does with the network.

    Raises:
        SpecError: the user has not allowed it.
    """
    if faults := _network_faults(why, is_allowed):
        raise SpecError(*faults, path=where)


def _network_faults(why: str, is_allowed: bool) -> list[str]:
    policy = spec_policy()
    if policy.network or not policy.is_checked or (is_allowed and not policy.is_data):
        return []
    option = "" if policy.is_data else ", or the option allow_network=True"
    return [f"expected --allow-network, since it {why} (in Python: rlgraph.core.allow_network(){option})"]


def report_open_ports(server: str, *ports: int) -> None:
    """Log who can connect to servers that have no password.

    Args:
        server: whose it is.
        ports: on which they listen, each on its machine.
    """
    _log.warning(
        "%s listens on port %s of all interfaces of %s, without a password: whoever reaches that port can run programs "
        "here, and read and write files. Keep it behind a firewall",
        server,
        ", ".join(map(str, ports)),
        platform.node() or "this machine",
    )


def _texts_of(kind: Callable[..., Any], options: Mapping[str, Any]) -> Iterator[str]:
    """All texts in options, however deep, but choices between given words."""
    known = parameters_of(kind).named
    for name, value in options.items():
        if name not in known or not _is_choice(known[name].annotation):
            yield from texts_in(value)


def _is_choice(annotation: Any) -> bool:
    """Whether a text for it is one of the words of a ``Literal``."""
    if get_origin(annotation) in (Union, UnionType):
        return all(
            part in (type(None), bool, int, float) or _is_choice(part) for part in get_args(annotation)
        )
    return get_origin(annotation) is Literal


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value, however deep, but keys that are identifiers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        names = (key for key in value if isinstance(key, str) and key.isidentifier())
        for item in (*(value.keys() - set(names)), *value.values()):
            yield from texts_in(item)
    elif isinstance(value, Iterable):
        for item in value:
            yield from texts_in(item)
