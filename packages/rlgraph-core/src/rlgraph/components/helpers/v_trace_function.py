"""Off-policy correction of values and advantages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_limit
from rlgraph.components.common.named_values import api_of
from rlgraph.components.helpers.trajectory_checks import check_bootstrap_values, check_same_ranks, check_steps
from rlgraph.core import Component, graph_fn
from rlgraph.core.functional.off_policy import importance_ratios, v_trace
from rlgraph.core.functional.q_learning import action_values
from rlgraph.core.functional.sequences import values_of_next_states
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space, SpaceError


class VTraceFunction(Component):
    """V-trace of categorical policies (Espeholt et al., 2018, https://arxiv.org/abs/1802.01561).

    Steps are ``[T, B]``, B trajectories side by side, or ``[N]``, a single one.

    Args:
        rho_bar: limit of the importance ratios of the TD errors; None for no limit.
        rho_bar_pg: limit of the importance ratios of the advantages; None for no limit.
        c_bar: limit of the importance ratios of the trace; None for no limit.

    Raises:
        SpecError: a limit is not a positive number.
        SpaceError: an argument is not one number per step, or the shapes of the arguments differ.
    """

    def __init__(
        self,
        rho_bar: float | None = 1.0,
        rho_bar_pg: float | None = 1.0,
        c_bar: float | None = 1.0,
        scope: str = "v-trace-function",
        **kwargs: Any,
    ):
        self.rho_bar = check_limit(rho_bar, f"{scope}.rho_bar")
        self.rho_bar_pg = check_limit(rho_bar_pg, f"{scope}.rho_bar_pg")
        self.c_bar = check_limit(c_bar, f"{scope}.c_bar")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        policies = ("logits_actions_pi", "log_probs_actions_mu")
        check_steps(input_spaces, *policies, kind=FloatBox, rank=1)
        check_steps(input_spaces, "actions", kind=IntBox)
        check_steps(input_spaces, "discounts", "rewards", "values", kind=FloatBox)
        check_steps(input_spaces, "sequence_indices", kind=BoolBox)
        steps = ("actions", "discounts", "rewards", "values", "sequence_indices")
        check_same_ranks(input_spaces, *policies, *steps)
        pi, mu = (input_spaces[name].shape for name in policies)
        if pi != mu:
            raise SpaceError(
                f"log_probs_actions_mu: expected the shape {list(pi)} of logits_actions_pi, given {list(mu)}: one "
                "number for each action"
            )
        check_bootstrap_values(input_spaces, "bootstrapped_values", "values", "sequence_indices")

    @graph_fn(returns=2)
    def _calc(
        self,
        ops: Any,
        logits_actions_pi: Any,
        log_probs_actions_mu: Any,
        actions: Any,
        discounts: Any,
        rewards: Any,
        values: Any,
        bootstrapped_values: Any,
        sequence_indices: Any = None,
    ) -> Any:
        """V-trace targets of the values, and advantages of the policy gradient: ``[T, B], [T, B]``.

        No gradient flows through either.

        Args:
            logits_actions_pi: logits of the learner's policy ``[T, B, A]``.
            log_probs_actions_mu: log-probabilities of the behaviour policy ``[T, B, A]``.
            actions: the actions taken ``[T, B]``.
            discounts: discounts ``[T, B]``; 0 where the episode terminated.
            rewards: rewards ``[T, B]``.
            values: values of the states ``[T, B]``.
            bootstrapped_values: values of the states after the last steps ``[B]``. With `sequence_indices` one per
                step, of which those at the ends are used ``[T, B]``.
            sequence_indices: the last steps of fragments that do not end in the last row (bool or 0 and 1) ``[T, B]``.
        """
        actions = ops.astype(actions, "int64")
        ratios = importance_ratios(
            ops,
            action_values(ops, ops.log_softmax(logits_actions_pi), actions),
            action_values(ops, log_probs_actions_mu, actions),
        )
        ends = None if sequence_indices is None else ops.astype(sequence_indices, "bool")
        return v_trace(
            ops,
            ratios,
            discounts,
            rewards,
            values,
            values_of_next_states(ops, values, bootstrapped_values, ends),
            rho_bar=self.rho_bar,
            c_bar=self.c_bar,
            rho_bar_pg=self.rho_bar_pg,
            ends=ends,
        )

    calc_v_trace_values = api_of("calc_v_trace_values", _calc, returns=2)
