"""Advantages for policy gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_number
from rlgraph.components.common.named_values import arguments_of
from rlgraph.components.helpers.clipping import Clipping
from rlgraph.components.helpers.trajectory_checks import (
    BOOTSTRAPS,
    check_bootstrap_values,
    check_same_ranks,
    check_steps,
)
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.returns import generalized_advantage_estimation, td_errors
from rlgraph.core.functional.sequences import values_of_next_states
from rlgraph.spaces import BoolBox, FloatBox, Space


class GeneralizedAdvantageEstimation(Component):
    """Generalized advantage estimation (Schulman et al., 2016, https://arxiv.org/abs/1506.02438).

    Steps are ``[N]``, concatenated fragments of episodes, or ``[T, B]``, B fragments side by side.

    Args:
        gae_lambda: lambda in [0, 1]; 0 uses the TD error alone, 1 the whole return.
        discount: discount factor in [0, 1].
        clip_rewards: rewards are limited to ``[-clip_rewards, clip_rewards]``; 0 for no limit.
        bootstrap: how to bootstrap a fragment that does not end with a terminal: with ``"next_value"``, the value of
            the state after it, or with ``"last_value"``, the value of its own last state, as in RLgraph 0.5.

    Raises:
        SpecError: a number outside its range, or an unknown bootstrap.
        SpaceError: an argument is not one number per step, the steps have different ranks, or the values of the states
            after the fragments are missing.
    """

    def __init__(
        self,
        gae_lambda: float = 1.0,
        discount: float = 1.0,
        clip_rewards: float = 0.0,
        bootstrap: str = "next_value",
        scope: str = "generalized-advantage-estimation",
        **kwargs: Any,
    ):
        self.gae_lambda = check_number(gae_lambda, f"{scope}.gae_lambda", least=0, most=1)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.bootstrap = check_choice(bootstrap, f"{scope}.bootstrap", BOOTSTRAPS)
        self.clipping = Clipping(clip_rewards, scope="clip-rewards")
        super().__init__(self.clipping, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_steps(input_spaces, "baseline_values", "rewards", kind=FloatBox)
        check_steps(input_spaces, "terminals", "sequence_indices", kind=BoolBox)
        check_same_ranks(input_spaces, "baseline_values", "rewards", "terminals", "sequence_indices")
        if self.bootstrap == "next_value":
            check_bootstrap_values(input_spaces, "bootstrap_values", "baseline_values", "sequence_indices")

    @graph_fn
    def _td_errors(
        self,
        ops: Any,
        baseline_values: Any,
        rewards: Any,
        terminals: Any,
        sequence_indices: Any = None,
        bootstrap_values: Any = None,
    ) -> Any:
        terminated, _, next_values = self._steps(
            ops, baseline_values, terminals, sequence_indices, bootstrap_values
        )
        return ops.stop_gradient(
            td_errors(ops, rewards, baseline_values, next_values, terminated, self.discount)
        )

    @graph_fn
    def _gae_values(
        self,
        ops: Any,
        baseline_values: Any,
        rewards: Any,
        terminals: Any,
        sequence_indices: Any = None,
        bootstrap_values: Any = None,
    ) -> Any:
        terminated, ends, next_values = self._steps(
            ops, baseline_values, terminals, sequence_indices, bootstrap_values
        )
        return ops.stop_gradient(
            generalized_advantage_estimation(
                ops, rewards, baseline_values, next_values, terminated, self.discount, self.gae_lambda, ends
            )
        )

    @rlgraph_api
    @arguments_of(_td_errors)
    def calc_td_errors(self, rewards: Any, **steps: Any) -> Any:
        """The TD error of each step, ``[N]`` or ``[T, B]``; no gradient flows through it.

        Args:
            baseline_values: values of the states in which the actions were taken.
            rewards: rewards.
            terminals: where the episode terminated (bool or 0 and 1); truncation is not termination.
            sequence_indices: the last step of each fragment (bool or 0 and 1); terminals and the last row need not be
                marked.
            bootstrap_values: values of the states after the fragments. Without `sequence_indices` that is one per
                fragment: ``[]`` or ``[B]``. With them one per step, of which those at the ends are used. Not with
                ``bootstrap="last_value"``.
        """
        return self._td_errors(rewards=self.clipping.clip_if_needed(rewards), **steps)

    @rlgraph_api
    @arguments_of(_gae_values)
    def calc_gae_values(self, rewards: Any, **steps: Any) -> Any:
        """The advantage of each step, ``[N]`` or ``[T, B]``; no gradient flows through it. Arguments as above."""
        return self._gae_values(rewards=self.clipping.clip_if_needed(rewards), **steps)

    def _steps(
        self, ops: Any, values: Any, terminals: Any, sequence_indices: Any, bootstrap_values: Any
    ) -> tuple[Any, Any, Any]:
        """Where episodes terminated, where fragments end (or None), and the values of the next states."""
        ends = None if sequence_indices is None else ops.astype(sequence_indices, "bool")
        behind = values if self.bootstrap == "last_value" else bootstrap_values
        return ops.astype(terminals, "bool"), ends, values_of_next_states(ops, values, behind, ends)
