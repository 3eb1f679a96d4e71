"""Cases of value estimation in `rlgraph.core.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.functional import distributional, off_policy, q_learning, returns, sequences
from rlgraph.testing.conformance.cases.case import FunctionCase

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


def _return(function: Callable[..., Any], by: tuple[str, ...] = (), **options: Any) -> FunctionCase:
    trajectory = {"rewards": REWARDS, "next_values": NEXT_VALUES, "terminated": TERMINATED, "discount": 0.9}
    return FunctionCase(function, {**trajectory, **options}, by=("rewards", "next_values", *by))


def _off_policy(function: Callable[..., Any], **options: Any) -> FunctionCase:
    trajectory = {"ratios": RATIOS, "discounts": DISCOUNTS, "rewards": REWARDS, "next_values": NEXT_VALUES}
    return FunctionCase(function, {**trajectory, **options})


def _batch(function: Callable[..., Any], by: tuple[str, ...] = (), **arguments: Any) -> FunctionCase:
    return FunctionCase(function, arguments, by=by)


_Q_LEARNING = {
    "action_values": _batch(
        q_learning.action_values,
        by=("q_values",),
        q_values=_floats(4, 2, 3),
        actions=_RNG.integers(0, 3, (4, 2)),
    ),
    "branching_td_errors": _batch(
        q_learning.branching_td_errors,
        by=("taken",),
        taken=_floats(4, 2),
        rewards=_floats(4),
        terminals=_bools(4),
        next_values=_floats(4, 2),
        discount=_floats(4),
        shared_target=True,
    ),
    "double_q_next_values": _batch(
        q_learning.double_q_next_values,
        by=("q_next_target",),
        q_next=_floats(4, 3),
        q_next_target=_floats(4, 3),
    ),
    "expected_next_values": _batch(
        q_learning.expected_next_values,
        by=("q_next", "probabilities"),
        q_next=_floats(4, 3),
        probabilities=_probabilities(4, 3),
    ),
    "greedy_next_values": _batch(
        q_learning.greedy_next_values, by=("q_next_target",), q_next_target=_floats(4, 3)
    ),
    "q_learning_target": _batch(
        q_learning.q_learning_target,
        rewards=_floats(4),
        terminals=_bools(4),
        next_values=_floats(4),
        discount=_floats(4),
    ),
}

_DISTRIBUTIONAL = {
    "categorical_means": _batch(
        distributional.categorical_means,
        by=("probabilities",),
        probabilities=_probabilities(4, 5),
        low=-2.0,
        high=1.0,
    ),
    "categorical_projection": _batch(
        distributional.categorical_projection,
        by=("positions", "probabilities"),
        positions=2.0 * _floats(4, 5),
        probabilities=_probabilities(4, 5),
        low=-2.0,
        high=1.0,
        num_atoms=7,
    ),
    "distributional_targets": _batch(
        distributional.distributional_targets,
        rewards=_floats(4),
        terminals=_bools(4),
        positions=_floats(4, 5),
        discount=_floats(4),
    ),
    "distributional_targets_of_a_support": _batch(
        distributional.distributional_targets,
        rewards=_floats(4),
        terminals=_bools(4),
        positions=_floats(5),
        discount=0.9,
    ),
    "quantile_huber_loss": _batch(
        distributional.quantile_huber_loss,
        by=("quantiles", "targets"),
        quantiles=_floats(4, 3),
        targets=_floats(4, 5),
        delta=0.5,
    ),
    "quantile_huber_loss_without_a_smooth_part": _batch(
        distributional.quantile_huber_loss,
        by=("quantiles",),
        quantiles=_floats(4, 3),
        targets=_floats(4, 5),
        delta=0.0,
    ),
    "quantile_means": _batch(distributional.quantile_means, by=("quantiles",), quantiles=_floats(4, 3)),
    "quantile_midpoints": _batch(distributional.quantile_midpoints, num_quantiles=4),
    "quantile_projection": _batch(
        distributional.quantile_projection,
        by=("positions",),
        positions=_floats(4, 5),
        probabilities=_probabilities(4, 5),
        num_quantiles=3,
    ),
}

FUNCTIONS: dict[str, FunctionCase] = {
    **_Q_LEARNING,
    **_DISTRIBUTIONAL,
    "decayed_sums": FunctionCase(
        sequences.decayed_sums, {"values": VALUES, "ends": ENDS, "decay": 0.9}, by=("values",)
    ),
    "discounted_returns": _return(returns.discounted_returns, ends=ENDS),
    "generalized_advantage_estimation": _return(
        returns.generalized_advantage_estimation, by=("values",), values=VALUES, gae_lambda=0.8, ends=ENDS
    ),
    "generalized_advantage_estimation_flat": FunctionCase(
        returns.generalized_advantage_estimation,
        {
            "rewards": REWARDS[:, 0],
            "values": VALUES[:, 0],
            "next_values": NEXT_VALUES[:, 0],
            "terminated": TERMINATED[:, 0],
            "discount": 0.9,
            "gae_lambda": 0.8,
        },
        by=("rewards", "values", "next_values"),
    ),
    "importance_ratios": FunctionCase(
        off_policy.importance_ratios,
        {"log_probs": VALUES, "behaviour_log_probs": NEXT_VALUES},
        by=("log_probs", "behaviour_log_probs"),
    ),
    "lambda_returns": _return(returns.lambda_returns, lambda_=0.8, ends=ENDS),
    "n_step_returns": _return(returns.n_step_returns, n=3, ends=ENDS),
    "n_step_returns_discounts": _return(returns.n_step_returns, n=2, discount=0.5 + 0.4 * _bools(*_STEPS)),
    "retrace": _off_policy(off_policy.retrace, q_values=VALUES, lambda_=0.9),
    "retrace_ends": _off_policy(off_policy.retrace, q_values=VALUES, ends=ENDS),
    "sequence_decays": FunctionCase(sequences.sequence_decays, {"ends": ENDS, "decay": 0.5}),
    "sequence_lengths": FunctionCase(sequences.sequence_lengths, {"ends": ENDS[:, 0]}),
    "td_errors": _return(returns.td_errors, by=("values",), values=VALUES),
    "v_trace": _off_policy(off_policy.v_trace, values=VALUES, rho_bar=1.2, c_bar=0.9, rho_bar_pg=None),
    "v_trace_of_one_limit": _off_policy(off_policy.v_trace, values=VALUES, ends=ENDS),
    "v_trace_ends": _off_policy(off_policy.v_trace, values=VALUES, lambda_=0.9, ends=ENDS),
    "values_of_next_states": FunctionCase(
        sequences.values_of_next_states,
        {"values": VALUES, "bootstrap_values": NEXT_VALUES, "ends": ENDS},
        by=("values", "bootstrap_values"),
    ),
    "values_of_next_states_behind_the_last": FunctionCase(
        sequences.values_of_next_states,
        {"values": VALUES, "bootstrap_values": NEXT_VALUES[-1]},
        by=("values", "bootstrap_values"),
    ),
}
