"""Sequences concatenated in one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice
from rlgraph.components.common.named_values import api_of
from rlgraph.components.helpers.trajectory_checks import (
    BOOTSTRAPS,
    check_bootstrap_values,
    check_same_ranks,
    check_steps,
)
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.returns import td_errors
from rlgraph.core.functional.sequences import (
    decayed_sums,
    sequence_decays,
    sequence_lengths,
    values_of_next_states,
)
from rlgraph.spaces import BoolBox, FloatBox, Space


class SequenceHelper(Component):
    """Lengths, decays and discounted sums of sequences.

    ``sequence_indices [N]`` (bool or 0 and 1) marks the last step of each sequence; that of the last one need not be
    marked. All methods but `calc_sequence_lengths` also take ``[T, B]``, B rows of sequences side by side.

    Args:
        bootstrap: what `bootstrap_values` appends to a sequence that does not end with a terminal: ``"next_value"``,
            the value of the next state, or ``"last_value"``, the value of its own last state, as in RLgraph 0.5.

    Raises:
        SpecError: an unknown bootstrap.
        SpaceError: an argument is not one number per step, the steps have different ranks, or the values of the states
            after the sequences are missing.
    """

    def __init__(self, bootstrap: str = "next_value", scope: str = "sequence-helper", **kwargs: Any):
        self.bootstrap = check_choice(bootstrap, f"{scope}.bootstrap", BOOTSTRAPS)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_steps(input_spaces, "values", "rewards", kind=FloatBox)
        check_steps(input_spaces, "sequence_indices", "terminals", kind=BoolBox)
        check_same_ranks(input_spaces, "sequence_indices", "values", "rewards", "terminals")
        if "rewards" in input_spaces and self.bootstrap == "next_value":
            check_bootstrap_values(input_spaces, "next_values", "values", "sequence_indices")

    @rlgraph_api
    def calc_sequence_lengths(self, sequence_indices: Any) -> Any:
        """The length of each of the S sequences: ``[N] -> [S]`` (int64)."""
        return self._lengths(sequence_indices)

    @rlgraph_api(returns=2)
    def calc_sequence_decays(self, sequence_indices: Any, decay: Any = 0.9) -> Any:
        """The lengths ``[S]``, and ``decay ** k`` at the k-th step of each sequence ``[N]``, k from 0."""
        return self._lengths(sequence_indices), self._decays(sequence_indices, decay)

    @rlgraph_api
    def reverse_apply_decays_to_sequence(self, values: Any, sequence_indices: Any, decay: Any = 0.9) -> Any:
        """``y_t = values_t + decay * y_{t+1}`` within each sequence: ``[N] -> [N]``."""
        return self._decayed_sums(values, sequence_indices, decay)

    @graph_fn
    def _lengths(self, ops: Any, sequence_indices: Any) -> Any:
        return sequence_lengths(ops, ops.astype(sequence_indices, "bool"))

    @graph_fn
    def _decays(self, ops: Any, sequence_indices: Any, decay: Any) -> Any:
        return sequence_decays(ops, ops.astype(sequence_indices, "bool"), decay)

    @graph_fn
    def _decayed_sums(self, ops: Any, values: Any, sequence_indices: Any, decay: Any) -> Any:
        return decayed_sums(ops, values, ops.astype(sequence_indices, "bool"), decay)

    @graph_fn
    def _td_errors(
        self,
        ops: Any,
        rewards: Any,
        values: Any,
        terminals: Any,
        sequence_indices: Any,
        discount: Any = 0.99,
        next_values: Any = None,
    ) -> Any:
        """The TD errors ``r_t + discount * V_{t+1} - V_t``, ``[N]``; V is 0 after a terminal.

        `next_values`, with ``bootstrap="next_value"``, are the values of the states that the steps led to; only
        those at ends of sequences are used.
        """
        behind = values if self.bootstrap == "last_value" else next_values
        following = values_of_next_states(ops, values, behind, ops.astype(sequence_indices, "bool"))
        return td_errors(ops, rewards, values, following, ops.astype(terminals, "bool"), discount)

    bootstrap_values = api_of("bootstrap_values", _td_errors)
