"""A weighted sum of losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.spaces import Dict, Space, SpaceError, Tuple


class ContainerLoss(LossFunction):
    """The weighted sum of a supervised loss for each part of a container.

    Args:
        loss_functions_spec: a dict or list of losses or their specs, one for each part of the inputs of
            `loss_per_item`. A spec may have a ``weight``.
        weights: by key, or in the order of a list; default: those of the specs, else 1.

    Raises:
        SpecError: no losses, a weight that is not a number, or weights of unknown parts.
    """

    def __init__(
        self,
        loss_functions_spec: Mapping[str, Any] | Sequence[Any],
        weights: Mapping[str, float] | Sequence[float] | None = None,
        scope: str = "container-loss",
        **kwargs: Any,
    ):
        self.losses: dict[Any, LossFunction] = {}
        self.weights: dict[Any, float] = {}
        for number, (key, spec) in enumerate(_items(loss_functions_spec, f"{scope}.loss_functions_spec")):
            place = f"{scope}.loss_functions_spec.{key}"
            if isinstance(spec, Mapping):
                spec = dict(spec)
                self.weights[key] = check_number(spec.pop("weight", 1.0), f"{place}.weight")
            arguments = {} if isinstance(spec, LossFunction) else {"scope": f"loss-function-{number}"}
            self.losses[key] = LossFunction.from_spec(spec, path=place, **arguments)
        if weights is not None:
            given = dict(_items(weights, f"{scope}.weights"))
            for key in given.keys() ^ self.losses.keys():
                raise SpecError(
                    f"expected a weight for each of {list(self.losses)}, given {weights!r}. "
                    f"{nearest(str(key), map(str, self.losses))}",
                    path=f"{scope}.weights",
                )
            self.weights = {
                key: check_number(value, f"{scope}.weights.{key}") for key, value in given.items()
            }
        super().__init__(*self.losses.values(), scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        keys = list(self.losses)
        for name in ("parameters", "labels"):
            space = input_spaces[name]
            parts = (
                space if isinstance(space, Dict) else range(len(space)) if isinstance(space, Tuple) else ()
            )
            if set(parts) != set(keys):
                raise SpaceError(
                    f"{name}: expected a container with a part for each loss, {keys}, given {space!r}"
                )

    @rlgraph_api
    def loss(self, parameters: Any, labels: Any, weights: Any = None, sequence_length: Any = None) -> Any:
        """``{"loss": [], "loss_per_item": [B]}``, both weighted sums of those of the parts.

        Args:
            parameters, labels: containers of the structure of `loss_functions_spec`.
            weights, sequence_length: as of the losses.
        """
        parts = [
            loss.loss(parameters[key], labels[key], weights=weights, sequence_length=sequence_length)
            for key, loss in self.losses.items()
        ]
        return {name: self._sum(tuple(part[name] for part in parts)) for name in ("loss", "loss_per_item")}

    @rlgraph_api
    def loss_per_item(self, parameters: Any, labels: Any) -> Any:
        """One number per item; arguments as of `loss`."""
        return self._sum(
            tuple(loss.loss_per_item(parameters[key], labels[key]) for key, loss in self.losses.items())
        )

    @graph_fn
    def _sum(self, ops: Any, losses: Any) -> Any:
        weighted = [self.weights.get(key, 1.0) * loss for key, loss in zip(self.losses, losses, strict=True)]
        return sum(weighted[1:], start=weighted[0])


def _items(spec: Any, where: str) -> list[tuple[Any, Any]]:
    """The items by key or position."""
    if isinstance(spec, str) or not isinstance(spec, Mapping | Sequence) or not spec:
        raise SpecError(f"expected a dict or a list, given {spec!r}", path=where)
    return list(spec.items() if isinstance(spec, Mapping) else enumerate(spec))
