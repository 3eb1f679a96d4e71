"""Copies one component's variables into another's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.core import BuildError, Component, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class Synchronizer(Component):
    """``target <- tau * source + (1 - tau) * target``; a plain copy for ``tau = 1``.

    Hard copies: Mnih et al. (2015). Soft updates: Lillicrap et al. (2016), Algorithm 1.

    Args:
        tau: weight of the source, in (0, 1].

    Raises:
        SpecError: `tau` is outside (0, 1].
        BuildError: source and target differ in their variables.
    """

    def __init__(self, tau: float = 1.0, scope: str = "synchronizer", **kwargs: Any):
        self.tau = check_number(tau, f"{scope}.tau", above=0, most=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for name in ("source", "target"):
            if name not in input_spaces:
                raise BuildError(
                    f"{self.scope_path}.sync: {name}: expected a list of variables, as component.variables() gives it, "
                    "given something else"
                )
        source, target = input_spaces["source"], input_spaces["target"]
        shapes = [[v.shape for v in variables] for variables in (source, target)]
        if shapes[0] != shapes[1]:
            raise BuildError(
                f"{self.scope_path}: source and target differ in their variables: "
                f"{[v.name for v in source]} and {[v.name for v in target]}"
            )

    @rlgraph_api
    def sync(self, source: Any, target: Any) -> Any:
        """Write the variables `source` into the variables `target` (both of ``component.variables()``)."""
        return self._sync(source, target)

    @graph_fn(returns=0)
    def _sync(self, ops: Any, source: Any, target: Any) -> None:
        for new, old in zip(source, target, strict=True):
            # Integers and bools, such as the number of batches that a normalization has seen, have no share.
            if self.tau == 1.0 or "float" not in str(old.dtype):
                ops.assign(old, ops.read(new))
            else:
                ops.assign_add(old, self.tau * (new - old))
