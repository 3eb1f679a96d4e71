"""Parameters of the distributions of an action's parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.components.common.action_masks import unknown_part
from rlgraph.components.distributions.container_parts import map_parts, paths_of
from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import AssemblyError, Component, rlgraph_api


class JointActionAdapter(Component):
    """An action adapter for each part of a container action; the parameters are a container of the same structure.

    Args:
        adapters: nested dicts and tuples of action adapters, whose scopes differ (`choose_adapter` makes them).
    """

    def __init__(self, adapters: Any, scope: str = "action-adapter", **kwargs: Any):
        found: list[ActionAdapter] = []
        map_parts(found.append, adapters)
        self.adapters = adapters
        self.paths = paths_of(adapters)
        super().__init__(*found, scope=scope, **kwargs)

    def distribution_spec(self) -> dict[str, Any]:
        """The spec of the distribution that takes the parameters."""
        specs = map_parts(lambda adapter: adapter.distribution_spec(), self.adapters)
        return {"type": "joint_cumulative_distribution", "distribution_specs": specs}

    def make_distribution(self, scope: str = "distribution") -> Distribution:
        """The distribution that takes the parameters."""
        return Distribution.from_spec(self.distribution_spec(), scope=scope)

    @rlgraph_api(flatten_ops={"action_mask"})
    def get_parameters(self, nn_outputs: Any, action_mask: Any = None, training: Any = None) -> Any:
        """The parameters of the distributions, in the structure of the action.

        Args:
            nn_outputs: features ``[B, N]``.
            action_mask: masks of some or all categorical parts, in the structure of the action; of an argument of the
                root, or a literal.
            training: passed to the layers that accept it.

        Raises:
            AssemblyError: a mask belongs to an unknown part or one without categories.
        """
        return map_parts(
            lambda adapter, path: adapter.get_parameters(nn_outputs, action_mask.get(path), training),
            self.adapters,
            self._checked(action_mask),
        )

    @rlgraph_api
    def get_adapter_outputs(self, nn_outputs: Any, training: Any = None) -> Any:
        """The outputs of the adapters' layers, a container of ``[B, num_outputs]``."""
        return map_parts(lambda adapter: adapter.get_adapter_outputs(nn_outputs, training), self.adapters)

    @rlgraph_api(must_be_complete=False, flatten_ops={"action_mask"})
    def get_parameters_from_adapter_outputs(self, adapter_outputs: Any, action_mask: Any = None) -> Any:
        """The parameters from the layers' outputs; `action_mask` as in `get_parameters`."""
        return map_parts(
            lambda adapter, path, outputs: adapter.get_parameters_from_adapter_outputs(
                outputs, action_mask.get(path)
            ),
            self.adapters,
            self._checked(action_mask),
            adapter_outputs,
        )

    def _checked(self, masks: Mapping[str, Any]) -> Any:
        """The paths of the parts, after a check that they include those of all masks."""
        known: list[str] = []
        map_parts(known.append, self.paths)
        message = unknown_part((path for path, mask in masks.items() if mask is not None), known)
        if message:
            raise AssemblyError(f"{self.scope_path}: {message}")
        return self.paths
