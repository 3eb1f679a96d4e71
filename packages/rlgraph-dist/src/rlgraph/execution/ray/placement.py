"""What actors and replay shards take of a Ray cluster, and where they go."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution.engine import Demand

#: Seconds in which resources that others have just given back become free, and a group is placed.
_SECONDS = 10.0


@dataclass(frozen=True)
class Shares:
    """What each of them takes, as ``{"CPU": 1.0, "GPU": 0.0}``.

    Attributes:
        actor: an actor.
        shard: a replay shard.
        learner: the program that trains, on its own node.
    """

    actor: Mapping[str, float]
    shard: Mapping[str, float]
    learner: Mapping[str, float]

    def needed(self, demand: Demand, kind: str) -> dict[str, float]:
        """Who needs how much of a kind of resource; those who need none are left out."""
        amounts = {
            f"{demand.actors} actors": demand.actors * self.actor[kind],
            f"{demand.shards} replay shards": demand.shards * self.shard[kind],
            "the learner": self.learner[kind],
        }
        return {who: amount for who, amount in amounts.items() if amount}


def check_resources(ray: Any, shares: Shares, demand: Demand) -> None:
    """Check that enough is free, now or very soon.

    Raises:
        SpecError: it is not; says who needs how much, and how much there is.
    """
    for kind in ("CPU", "GPU"):
        amounts = shares.needed(demand, kind)
        needed, until = sum(amounts.values()), time.monotonic() + _SECONDS
        total, free = ray.cluster_resources().get(kind, 0.0), 0.0
        while (
            free := ray.available_resources().get(kind, 0.0)
        ) < needed <= total and time.monotonic() < until:
            time.sleep(0.1)
        if free < needed:
            listed = ", ".join(f"{amount:g} for {who}" for who, amount in amounts.items())
            raise SpecError(
                f"expected {needed:g} {kind}s, {listed}; the cluster has {total:g}, of which {free:g} are free: "
                f"set fewer actors, a lower {kind.lower()}s_per_actor, or add nodes",
                path="executor_spec.actors",
            )


class Placement:
    """Resources that are set aside together, in a placement group: a bundle for each actor and shard that takes some.

    Args:
        ray: the module.
        strategy: of the group; see ``ray.util.placement_group``.
        shares: what each takes.
        demand: how many there are.

    Raises:
        SpecError: the strategy cannot be followed in this cluster, or there is nothing to set aside.
    """

    def __init__(self, ray: Any, strategy: str, shares: Shares, demand: Demand):
        self._ray = ray
        here = {f"node:{ray.util.get_node_ip_address()}": 0.001}
        bundles: list[dict[str, float]] = []
        #: Kind -> the bundles of it that nobody is in.
        self._free: dict[str, list[int]] = {}
        for kind, share, count, extra in (
            ("learner", shares.learner, 1, here),
            ("actor", shares.actor, demand.actors, {}),
            ("shard", shares.shard, demand.shards, {}),
        ):
            bundle = {name: amount for name, amount in share.items() if amount}
            self._free[kind] = [*range(len(bundles), len(bundles) + count)] if bundle else []
            bundles += [{**bundle, **extra}] * len(self._free[kind])
        if not bundles:
            raise SpecError(
                f"expected null, since nothing takes CPUs or GPUs, given {strategy!r}: leave it out, or set "
                "cpus_per_actor",
                path="executor_spec.engine.placement",
            )
        self._group = ray.util.placement_group(bundles, strategy=strategy)
        if not self._group.wait(_SECONDS):
            self.close()
            nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
            raise SpecError(
                f"expected nodes on which {bundles} can be placed by {strategy}, given nodes with {nodes} CPUs",
                path="executor_spec.engine.placement",
            )

    def take(self, kind: str) -> tuple[int, dict[str, Any]]:
        """A free bundle of an "actor" or a "shard", and the options that put one there."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        if not self._free[kind]:  # they take nothing
            return -1, {}
        index = self._free[kind].pop(0)
        return index, {"scheduling_strategy": PlacementGroupSchedulingStrategy(self._group, index)}

    def give_back(self, kind: str, index: int) -> None:
        """Nobody is in the bundle any more."""
        if index >= 0:
            self._free[kind].append(index)

    def close(self) -> None:
        """Give all resources back."""
        self._ray.util.remove_placement_group(self._group)
