"""Where a learner stands in its group, and the collective by which it joins it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlgraph.core.collectives.collective import Collective
from rlgraph.core.collectives.connection import SECRET, using_secret
from rlgraph.core.errors import CollectiveError, SpecError
from rlgraph.core.registry import registry
from rlgraph.core.specs.connections import check_connections
from rlgraph.core.specs.specifiable import call_checked

#: Seconds that a learner waits for the others.
TIMEOUT = 300.0
#: The longest that one can wait, eleven days: frameworks count in small units.
MAX_TIMEOUT = 1_000_000
#: Overrides where learner 0 is reached, which a launcher of others does not say.
ADDRESS = "RLGRAPH_GROUP_ADDRESS"
#: A launcher's names of rank, size, rank on this machine, host and port.
_LAUNCHERS = {
    "rlgraph": ("RLGRAPH_RANK", "RLGRAPH_SIZE", "RLGRAPH_RANK", ADDRESS, ""),
    "horovodrun": (
        "HOROVOD_RANK",
        "HOROVOD_SIZE",
        "HOROVOD_LOCAL_RANK",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR",
        "HOROVOD_GLOO_RENDEZVOUS_PORT",
    ),
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"),
}


@dataclass(frozen=True)
class Place:
    """A learner's place in its group; see `rlgraph.core.Collective`.

    Attributes:
        device: on which it computes; None: no GPU in particular.
        secret: of the group: who does not know it is turned away.
    """

    rank: int
    size: int
    address: str
    local_rank: int = 0
    device: str | None = None
    secret: str = field(default="", repr=False)


def place_from_environment(environment: Mapping[str, str] | None = None) -> Place | None:
    """The place that ``torchrun``, ``horovodrun`` or RLgraph itself gave this process; None: nothing did.

    Learners meet one port after that of the launcher, which it holds itself; ``RLGRAPH_GROUP_ADDRESS`` names another
    place, ``host:port``, and ``RLGRAPH_GROUP_SECRET`` is the group's secret.

    Raises:
        CollectiveError: a number is missing or wrong.
    """
    given = os.environ if environment is None else environment
    for launcher, names in _LAUNCHERS.items():
        if names[0] in given and names[1] in given:
            try:
                rank, size = int(given[names[0]]), int(given[names[1]])
                local_rank = int(given.get(names[2], rank))
                address = given.get(ADDRESS) or f"{given[names[3]]}:{int(given[names[4]]) + 1}"
            except (KeyError, ValueError) as error:
                raise CollectiveError(
                    f"expected the numbers {', '.join(names)} of {launcher} in the environment, {error} is missing "
                    "or is none"
                ) from None
            if not 0 <= rank < size:
                raise CollectiveError(f"expected {names[0]} from 0 to {size - 1}, given {rank}")
            return Place(rank, size, address, local_rank, secret=given.get(SECRET, ""))
    return None


def make_collective(spec: Any, place: Place) -> Collective:
    """Join a group.

    Args:
        spec: the name of a collective, or a mapping with it as ``type``; ``timeout`` in seconds beside it.
        place: of this learner.

    Raises:
        SpecError: unknown collective or option.
        PluginError: what it needs is not installed.
        CollectiveError: the others did not come.
    """
    kind, options = collective_class(spec)
    given = {"rank": place.rank, "size": place.size, "address": place.address, "timeout": TIMEOUT, **options}
    if getattr(kind, "on_devices", False):
        given["device"] = place.device
    with using_secret(place.secret):
        joined: Collective = call_checked(kind, (), given, "execution_spec.collective")
    return joined


def collective_class(
    spec: Any, where: str = "execution_spec.collective"
) -> tuple[type[Collective], dict[str, Any]]:
    """The class of a collective and its options.

    Raises:
        SpecError: unknown collective, or a connection that data may not make.
        PluginError: what it needs is not installed.
    """
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        raise SpecError(
            f"expected the name of a collective, or a mapping with 'type', given {spec!r}", path=where
        )
    options = {name: value for name, value in given.items() if name != "type"}
    if owned := options.keys() & {"rank", "size", "address", "device"}:
        raise SpecError(f"what starts the learners says {', '.join(sorted(owned))}: leave it out", path=where)
    timeout = options.get("timeout", TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise SpecError(f"expected seconds > 0, given {timeout!r}", path=f"{where}.timeout")
    if timeout > MAX_TIMEOUT:
        raise SpecError(
            f"expected at most {MAX_TIMEOUT:,} seconds, given {timeout!r}", path=f"{where}.timeout"
        )
    known = registry("rlgraph.collectives")
    kind: type[Collective] = known.load(given["type"], where=where)
    known.plugin(given["type"]).require("collective", where)
    check_connections(kind, options, where)
    return kind, options
