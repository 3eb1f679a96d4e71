"""Samples random rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_whole
from rlgraph.components.common.batch_checks import check_rows
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import Space

STRATEGIES = ("uniform",)


class Sampler(Component):
    """Draws rows of a batch, uniformly and with replacement.

    Args:
        sample_size: number of rows.
        sampling_strategy: ``"uniform"``.

    Raises:
        SpecError: a size below 1, or an unknown strategy.
        SpaceError: the inputs have no batch rank, or a time rank ahead of it.
    """

    def __init__(
        self, sample_size: int, sampling_strategy: str = "uniform", scope: str = "sampler", **kwargs: Any
    ):
        self.sample_size = check_whole(sample_size, f"{scope}.sample_size", least=1)
        check_choice(sampling_strategy, f"{scope}.sampling_strategy", STRATEGIES)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_rows(input_spaces["inputs"], self.scope_path)

    @rlgraph_api
    def sample(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, or a container of such, ``-> [sample_size, ...]``: the same rows of all parts."""
        return self._sample(inputs)

    @graph_fn(flatten_ops=True)
    def _sample(self, ops: Any, inputs: Any) -> Any:
        number = ops.shape(next(iter(inputs.values())))[0]
        rows = ops.random_integers((self.sample_size,), 0, number)
        return {path: ops.take(x, rows) for path, x in inputs.items()}
