"""A target network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlgraph.components.common.synchronizer import Synchronizer
from rlgraph.core import Component, rlgraph_api


class Target(Component):
    """A frozen copy of a component that starts equal to it and follows it: a target network.

    It has the API methods of the component, on its own variables, and `sync`. Mnih et al. (2015) copy the component at
    intervals; Lillicrap et al. (2016), Algorithm 1, let the copy follow with every update.

    Args:
        source: the component, which is another part of the same algorithm.
        tau: weight of the source in the copy's new value, in (0, 1]; 1 copies.
        scope: name among its siblings; default: ``target-`` and that of the source.

    Raises:
        SpecError: `tau` is outside (0, 1].
        AssemblyError: the source is built already, or has an API method `sync`.
    """

    def __init__(self, source: Component, tau: float = 1.0, scope: str = "", **kwargs: Any):
        self.source = source
        self.followed = source.copy(trainable=False, starts_equal=True)
        self.synchronizer = Synchronizer(tau, scope="synchronizer")
        super().__init__(
            self.followed,
            self.synchronizer,
            scope=scope or f"target-{source.scope}",
            expose_apis=sorted(self.followed.api_methods()),
            **kwargs,
        )

    @rlgraph_api
    def sync(self) -> Any:
        """Move the copy towards the source, by `tau`."""
        return self.synchronizer.sync(self.source.variables(), self.followed.variables())

    if TYPE_CHECKING:  # the API methods of the component

        def __getattr__(self, name: str) -> Any: ...
