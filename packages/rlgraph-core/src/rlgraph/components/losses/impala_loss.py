"""The loss of IMPALA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_limit, check_number
from rlgraph.components.common.named_values import Parts, arguments_of, by_name
from rlgraph.components.helpers.trajectory_checks import check_bootstrap_values
from rlgraph.components.losses.policy_gradient_loss import PolicyGradientLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.off_policy import importance_ratios, v_trace
from rlgraph.core.functional.policy_gradient import sum_of_parts, value_loss
from rlgraph.core.functional.rewards import soft_asymmetric
from rlgraph.core.functional.sequences import values_of_next_states
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import Space, SpaceError

#: The kinds of reward clipping.
REWARD_CLIPPINGS = (None, "clamp_one", "soft_asymmetric")


class IMPALALoss(PolicyGradientLoss):
    """Policy gradient and value function loss with V-trace, and entropy bonus (Espeholt et al., 2018, section 4.2).

    ``-weight_pg * rho_t (r_t + gamma v_{t+1} - V(s_t)) log pi(a|s) + weight_baseline * (v_t - V(s_t))^2 / 2 -
    weight_entropy * H``, https://arxiv.org/abs/1802.01561. The log-probability of a container action is the sum of its
    parts'. Items are the steps of sequences, time first, ``[T, B]``.

    Args:
        discount: discount factor in [0, 1].
        reward_clipping: ``"clamp_one"``: rewards are limited to [-1, 1], as in the paper for Atari;
            ``"soft_asymmetric"``: they are squeezed, negative ones more; None: neither.
        weight_pg, weight_baseline, weight_entropy: numbers or schedules; defaults: the paper's for Atari.
        rho_bar, c_bar, rho_bar_pg: limits of the importance ratios in the TD errors, the trace and the advantages; None
            for no limit.
        average_time_steps: the mean of all steps is taken; False: the sum of the steps of each sequence, and the mean
            of these.

    Raises:
        SpecError: a discount outside [0, 1], a weight below 0, a limit that is not a number > 0, or an unknown
            `reward_clipping`.
    """

    item_arguments = ("state_values", "rewards", "terminals", "truncations")
    part_arguments = ("log_probs", "behaviour_log_probs", "entropy")

    def __init__(
        self,
        discount: float = 0.99,
        reward_clipping: str | None = None,
        weight_pg: ScheduleSpec = 1.0,
        weight_baseline: ScheduleSpec = 0.5,
        weight_entropy: ScheduleSpec = 0.01,
        rho_bar: float | None = 1.0,
        c_bar: float | None = 1.0,
        rho_bar_pg: float | None = 1.0,
        average_time_steps: bool = False,
        scope: str = "impala-loss",
        **kwargs: Any,
    ):
        self.reward_clipping = check_choice(reward_clipping, f"{scope}.reward_clipping", REWARD_CLIPPINGS)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.rho_bar = check_limit(rho_bar, f"{scope}.rho_bar")
        self.c_bar = check_limit(c_bar, f"{scope}.c_bar")
        self.rho_bar_pg = check_limit(rho_bar_pg, f"{scope}.rho_bar_pg")
        super().__init__(
            weight_pg, weight_baseline, weight_entropy, average_time_steps, scope=scope, **kwargs
        )

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        if self.time_axis != 0:
            raise SpaceError(
                f"state_values: expected sequences, time first, [T, B], given {input_spaces['state_values']!r}; "
                "declare add_time_rank=True, time_major=True"
            )
        if input_spaces["state_values"].has_batch_rank:
            check_bootstrap_values(input_spaces, "bootstrap_values", "state_values", "truncations")

    @rlgraph_api
    def loss_per_item(
        self,
        log_probs: Any,
        behaviour_log_probs: Any,
        state_values: Any,
        bootstrap_values: Any,
        rewards: Any,
        terminals: Any,
        entropy: Any = None,
        truncations: Any = None,
        progress: Any = None,
        weights: Any = None,
        evaluated_log_probs: Any = None,
        evaluated_values: Any = None,
    ) -> Any:
        """``{"loss", "policy_loss", "value_loss", "entropy"}``, each ``[T, B]``; ``loss`` is the weighted sum.

        Args:
            log_probs: of the actions taken, by the learner's policy [T, B], or a container of those of their parts.
            behaviour_log_probs: of the same actions, by the behaviour policy, as `log_probs`.
            state_values: by the value function, of the states in which the actions were taken [T, B].
            bootstrap_values: of the states after the last steps [B]; with `truncations` of the state after each step
                [T, B].
            rewards: rewards [T, B].
            terminals: where the episode terminated [T, B], bool; truncation is not termination.
            entropy: of the learner's policy, as `log_probs`; not needed if its weight is 0.
            truncations: where an episode was cut before the last step [T, B], bool.
            progress: the fraction of training done, []; only needed with a schedule.
            weights: of the steps [T, B]; a step before one of weight 0 is the last of its fragment.
            evaluated_log_probs, evaluated_values: `log_probs` and `state_values` without dropout, and from running
                statistics, of which targets and advantages are made; default: these.
        """
        evaluated = {
            **locals(),
            "log_probs": log_probs if evaluated_log_probs is None else evaluated_log_probs,
            "state_values": state_values if evaluated_values is None else evaluated_values,
        }
        targets, advantages = by_name(self._v_trace, evaluated)
        policy_loss = self._policy_loss(log_probs, advantages)
        return self.with_total(policy_loss, self._value_loss(state_values, targets), entropy, progress)

    @graph_fn(returns=2, flatten_ops={"log_probs", "behaviour_log_probs"})
    def _v_trace(
        self,
        ops: Any,
        log_probs: Parts,
        behaviour_log_probs: Parts,
        state_values: Any,
        bootstrap_values: Any,
        rewards: Any,
        terminals: Any,
        truncations: Any = None,
        weights: Any = None,
    ) -> Any:
        """The targets of the value function and the advantages; no gradient flows through them."""
        new, old = (sum_of_parts(ops, list(parts.values()), 2) for parts in (log_probs, behaviour_log_probs))
        ends = self._ends(ops, truncations, weights)
        return v_trace(
            ops,
            importance_ratios(ops, new, old),
            self.discount * ops.astype(~terminals, "float"),
            self._clipped(ops, rewards),
            state_values,
            values_of_next_states(ops, state_values, bootstrap_values, ends),
            rho_bar=self.rho_bar,
            c_bar=self.c_bar,
            rho_bar_pg=self.rho_bar_pg,
            ends=ends,
        )

    @rlgraph_api(must_be_complete=False)
    @arguments_of(_v_trace, optional=True)
    def get_value_targets(self, weights: Any, **values: Any) -> Any:
        """The targets of the value function ``[T, B]``, which `loss` computes too; arguments as of `loss`."""
        if values["log_probs"] is None or weights is None:
            return None
        given = {name: self._without_garbage(x, weights) for name, x in values.items() if x is not None}
        return self._v_trace(**given, weights=weights)[0]

    @graph_fn
    def _value_loss(self, ops: Any, state_values: Any, targets: Any) -> Any:
        return 0.5 * value_loss(ops, state_values, targets)

    def _ends(self, ops: Any, truncations: Any, weights: Any) -> Any:
        """The last steps of fragments [T, B]; None: only those in the last row."""
        if weights is None:
            return truncations
        counts = ops.astype(weights, "bool")
        last = counts & ~ops.pad(counts[1:], ((0, 1), (0, 0)))
        return last if truncations is None else truncations | last

    def _clipped(self, ops: Any, rewards: Any) -> Any:
        if self.reward_clipping == "clamp_one":
            return ops.clip(rewards, -1.0, 1.0)
        return soft_asymmetric(ops, rewards) if self.reward_clipping == "soft_asymmetric" else rewards
