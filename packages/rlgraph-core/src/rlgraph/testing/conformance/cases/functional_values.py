"""Cases of value estimation in `rlgraph.core.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.functional import distributional, off_policy, q_learning, returns, sequences
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)
_STEPS = (7, 2)


def _floats(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape)


def _bools(*shape: int) -> np.ndarray:
    return _RNG.random(shape) < 0.3


def _probabilities(*shape: int) -> np.ndarray:
    numbers = _RNG.random(shape) + 0.1
    return numbers / numbers.sum(-1, keepdims=True)


REWARDS, VALUES, NEXT_VALUES = _floats(*_STEPS), _floats(*_STEPS), _floats(*_STEPS)
TERMINATED, ENDS = _bools(*_STEPS), _bools(*_STEPS)
#: Above and below 1, so that limits of 1 and of 1.2 decide in some places.
RATIOS = np.exp(0.5 * _floats(*_STEPS))
DISCOUNTS = 0.9 * ~TERMINATED


def _return(function: Callable[..., Any], discount: Any = 0.9, **options: Any) -> FunctionCase:
    trajectory = {"rewards": By(REWARDS), "next_values": By(NEXT_VALUES), "terminated": TERMINATED}
    return case_of(function, **trajectory, discount=discount, **options)


def _off_policy(function: Callable[..., Any], **options: Any) -> FunctionCase:
    trajectory = {"ratios": RATIOS, "discounts": DISCOUNTS, "rewards": REWARDS, "next_values": NEXT_VALUES}
    return case_of(function, **trajectory, **options)


def _rewards() -> dict[str, Any]:
    return {"rewards": _floats(4), "terminals": _bools(4)}


FUNCTIONS: dict[str, FunctionCase] = by_function(
    case_of(q_learning.action_values, q_values=By(_floats(4, 2, 3)), actions=_RNG.integers(0, 3, (4, 2))),
    case_of(
        q_learning.branching_td_errors,
        taken=By(_floats(4, 2)),
        **_rewards(),
        next_values=_floats(4, 2),
        discount=_floats(4),
        shared_target=True,
    ),
    case_of(q_learning.double_q_next_values, q_next=_floats(4, 3), q_next_target=By(_floats(4, 3))),
    case_of(
        q_learning.expected_next_values, q_next=By(_floats(4, 3)), probabilities=By(_probabilities(4, 3))
    ),
    case_of(q_learning.greedy_next_values, q_next_target=By(_floats(4, 3))),
    case_of(q_learning.q_learning_target, **_rewards(), next_values=_floats(4), discount=_floats(4)),
    case_of(distributional.categorical_means, probabilities=By(_probabilities(4, 5)), low=-2.0, high=1.0),
    case_of(
        distributional.categorical_projection,
        positions=By(2.0 * _floats(4, 5)),
        probabilities=By(_probabilities(4, 5)),
        low=-2.0,
        high=1.0,
        num_atoms=7,
    ),
    case_of(
        distributional.distributional_targets, **_rewards(), positions=_floats(4, 5), discount=_floats(4)
    ),
    case_of(
        distributional.quantile_huber_loss, quantiles=By(_floats(4, 3)), targets=By(_floats(4, 5)), delta=0.5
    ),
    case_of(distributional.quantile_means, quantiles=By(_floats(4, 3))),
    case_of(distributional.quantile_midpoints, num_quantiles=4),
    case_of(
        distributional.quantile_projection,
        positions=By(_floats(4, 5)),
        probabilities=_probabilities(4, 5),
        num_quantiles=3,
    ),
    case_of(sequences.decayed_sums, values=By(VALUES), ends=ENDS, decay=0.9),
    _return(returns.discounted_returns, ends=ENDS),
    _return(returns.generalized_advantage_estimation, values=By(VALUES), gae_lambda=0.8, ends=ENDS),
    case_of(off_policy.importance_ratios, log_probs=By(VALUES), behaviour_log_probs=By(NEXT_VALUES)),
    _return(returns.lambda_returns, lambda_=0.8, ends=ENDS),
    _return(returns.n_step_returns, n=3, ends=ENDS),
    _off_policy(off_policy.retrace, q_values=VALUES, lambda_=0.9),
    case_of(sequences.sequence_decays, ends=ENDS, decay=0.5),
    case_of(sequences.sequence_lengths, ends=ENDS[:, 0]),
    _return(returns.td_errors, values=By(VALUES)),
    _off_policy(off_policy.v_trace, values=VALUES, rho_bar=1.2, c_bar=0.9, rho_bar_pg=None),
    case_of(sequences.values_of_next_states, values=By(VALUES), bootstrap_values=By(NEXT_VALUES), ends=ENDS),
) | {
    "distributional_targets_of_a_support": case_of(
        distributional.distributional_targets, **_rewards(), positions=_floats(5), discount=0.9
    ),
    "quantile_huber_loss_without_a_smooth_part": case_of(
        distributional.quantile_huber_loss, quantiles=By(_floats(4, 3)), targets=_floats(4, 5), delta=0.0
    ),
    "generalized_advantage_estimation_flat": case_of(
        returns.generalized_advantage_estimation,
        rewards=By(REWARDS[:, 0]),
        values=By(VALUES[:, 0]),
        next_values=By(NEXT_VALUES[:, 0]),
        terminated=TERMINATED[:, 0],
        discount=0.9,
        gae_lambda=0.8,
    ),
    "n_step_returns_discounts": _return(returns.n_step_returns, n=2, discount=0.5 + 0.4 * _bools(*_STEPS)),
    "retrace_ends": _off_policy(off_policy.retrace, q_values=VALUES, ends=ENDS),
    "v_trace_of_one_limit": _off_policy(off_policy.v_trace, values=VALUES, ends=ENDS),
    "v_trace_ends": _off_policy(off_policy.v_trace, values=VALUES, lambda_=0.9, ends=ENDS),
    "values_of_next_states_behind_the_last": case_of(
        sequences.values_of_next_states, values=By(VALUES), bootstrap_values=By(NEXT_VALUES[-1])
    ),
}
