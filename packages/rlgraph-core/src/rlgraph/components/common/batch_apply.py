"""Applies components without time rank to sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import Space, SpaceError


class BatchApply(TimeFolding):
    """Folds time into the batch and calls an API method of a component.

    Inputs are ``[B, T, ...] -> [B * T, ...]``, outputs ``[B * T, ...] -> [B, T, ...]``. The order of batch and time
    is that of the inputs.

    Args:
        sub_component: the component, or its spec.
        api_method_name: which API method; it takes one argument.

    Raises:
        SpecError: the component has no such API method, or is recurrent.
        SpaceError: the inputs lack batch or time rank.
    """

    passes_training_on = True

    def __init__(
        self,
        sub_component: ComponentSpec,
        api_method_name: str = "call",
        scope: str = "batch-apply",
        **kwargs: Any,
    ):
        self.applied = Component.from_spec(sub_component, path=f"{scope}.sub_component")
        if getattr(self.applied, "internal_states_space", None) is not None:
            raise SpecError(
                f"{self.applied.scope} is recurrent and takes sequences directly",
                path=f"{scope}.sub_component",
            )
        methods = self.applied.api_methods()
        if api_method_name not in methods:
            raise SpecError(
                f"{self.applied.scope} has no API method {api_method_name!r}. "
                f"{nearest(str(api_method_name), methods)}",
                path=f"{scope}.api_method_name",
            )
        self.api_method_name = api_method_name
        super().__init__(self.applied, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["inputs"]
        if not (space.has_batch_rank and space.has_time_rank):
            raise SpaceError(
                f"{self.scope_path}: inputs need batch and time rank, given {space!r}; without a time rank call "
                f"{self.applied.scope_path}.{self.api_method_name} itself"
            )

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """``inputs [B, T, ...]``, or a container of such, ``->`` the component's result ``[B, T, ...]``.

        `training` is passed to the component if it accepts it.
        """
        folded = self._fold_time(inputs)
        outputs = call_layer(self.applied, folded, training=training, method=self.api_method_name)
        if isinstance(outputs, tuple):
            return tuple(self._unfold_time(output, inputs) for output in outputs)
        return self._unfold_time(outputs, inputs)
