"""Cases of functions that losses are made of. Derivatives are compared by arguments that let gradients through."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.functional import (
    implicit_q_learning,
    policy_gradient,
    soft_actor_critic,
    supervised,
    td3,
    variational,
    weighting,
)
from rlgraph.core.functional.curiosity import inverse_and_forward_loss, prediction_error
from rlgraph.core.functional.imitation import large_margin_loss
from rlgraph.core.functional.rewards import soft_asymmetric
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)


def _floats(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape)


def _two(*shape: int) -> list[np.ndarray]:
    return [_floats(*shape), _floats(*shape)]


def _log_probs(*shape: int) -> np.ndarray:
    return -_RNG.uniform(0.1, 2.0, shape)


TERMINALS = np.array([False, True, False, False, True])
CLASSES = np.array([0, 3, 1, 2, 2])
ALPHA = np.array(0.3)


def _ppo(clip_ratio: float, **arguments: Any) -> FunctionCase:
    given = {"log_probs": _log_probs(5), "prev_log_probs": _log_probs(5), "advantages": _floats(5)}
    return FunctionCase(
        policy_gradient.ppo_clipped_surrogate,
        {**given, "clip_ratio": clip_ratio, **arguments},
        by=("log_probs",),
    )


FUNCTIONS: dict[str, FunctionCase] = by_function(
    case_of(prediction_error, predictions=By(_floats(4, 5, 3)), features=By(_floats(4, 5, 3))),
    case_of(inverse_and_forward_loss, inverse=By(_floats(5)), forward=By(_floats(5)), beta=0.2),
    case_of(policy_gradient.sum_of_parts, parts=By([_floats(5), _floats(5, 2, 3)]), rank=1),
    case_of(policy_gradient.policy_gradient_loss, log_probs=By(_log_probs(4, 5)), advantages=_floats(4, 5)),
    case_of(policy_gradient.entropy_loss, entropy=By(_floats(5)), weight=By(np.array(0.1))),
    case_of(
        policy_gradient.divergence_estimate, log_probs=By(_log_probs(5)), prev_log_probs=By(_log_probs(5))
    ),
    case_of(policy_gradient.value_loss, values=By(_floats(5)), targets=_floats(5)),
    case_of(
        policy_gradient.ppo_clipped_value_loss,
        values=By(_floats(9)),
        prev_values=_floats(9),
        targets=_floats(9),
        clip_range=0.5,
    ),
    case_of(
        td3.smoothed_actions,
        actions=By(_floats(5, 2)),
        noise=_floats(5, 2),
        noise_clip=0.5,
        low=np.array([-1.0, -0.5]),
        high=1.0,
    ),
    case_of(td3.clipped_double_q, q_values=By(_two(5))),
    case_of(td3.td3_target, rewards=_floats(5), terminals=TERMINALS, q_values_next=_two(5), discount=0.9),
    case_of(td3.critic_loss, q_values=By(_two(5)), targets=_floats(5)),
    case_of(td3.deterministic_policy_gradient_loss, q_values=By(_floats(5))),
    case_of(implicit_q_learning.expectile_loss, errors=By(_floats(5)), expectile=0.7),
    case_of(implicit_q_learning.advantage_weights, advantages=_floats(5), inverse_temperature=3.0, limit=4.0),
    case_of(soft_actor_critic.soft_value, q_values=By(_two(5)), log_probs=By(_log_probs(5)), alpha=By(ALPHA)),
    case_of(
        soft_actor_critic.discrete_soft_value,
        q_values=By(_two(5, 4)),
        log_probs=By(_log_probs(5, 4)),
        alpha=By(ALPHA),
    ),
    case_of(
        soft_actor_critic.sac_target,
        rewards=_floats(5),
        terminals=TERMINALS,
        next_soft_values=_floats(5),
        discount=0.9,
    ),
    case_of(soft_actor_critic.sac_critic_loss, q_values=By(_two(5)), targets=_floats(5)),
    case_of(soft_actor_critic.sac_actor_loss, q_values=By(_two(5)), log_probs=By(_log_probs(5)), alpha=ALPHA),
    case_of(
        soft_actor_critic.discrete_sac_actor_loss,
        q_values=_two(5, 4),
        log_probs=By(_log_probs(5, 4)),
        alpha=ALPHA,
    ),
    case_of(soft_actor_critic.sac_alpha_loss, alpha=By(ALPHA), log_probs=_log_probs(5), target_entropy=0.7),
    case_of(
        soft_actor_critic.discrete_sac_alpha_loss,
        alpha=By(ALPHA),
        log_probs=_log_probs(5, 4),
        target_entropy=0.7,
    ),
    case_of(large_margin_loss, q_values=By(_floats(5, 4)), expert_actions=CLASSES, margin=0.8),
    case_of(supervised.categorical_cross_entropy, logits=By(_floats(5, 4)), labels=CLASSES),
    case_of(
        supervised.soft_cross_entropy,
        logits=By(_floats(3, 5, 4)),
        probabilities=By(_RNG.dirichlet(np.ones(4), (3, 5))),
    ),
    case_of(supervised.divergence_from_uniform, logits=By(_floats(3, 5, 4))),
    case_of(
        supervised.euclidean_distance, predictions=By(_floats(5, 2, 3)), labels=By(_floats(5, 2, 3)), rank=1
    ),
    case_of(
        supervised.divergence, logits=By(_floats(5, 4)), probabilities=np.array([[0.0, 0.5, 0.25, 0.25]])
    ),
    case_of(soft_asymmetric, rewards=By(_floats(5))),
    case_of(supervised.sequence_mask, sequence_length=np.array([0, 2, 4]), like=_floats(3, 4), time_axis=1),
    case_of(weighting.number_of_items, weights=np.array([0.0, 0.5, 2.0])),
    case_of(weighting.weighted_mean, losses=By(_floats(5)), weights=_RNG.random(5)),
    case_of(weighting.without_garbage, values=By(_floats(4, 3)), weights=np.array([0.0, 0.5, 0.0, 2.0])),
    case_of(
        variational.bernoulli_log_likelihood,
        inputs=By(_RNG.uniform(0.0, 1.0, (4, 3, 2))),
        logits=By(_floats(4, 3, 2)),
        axes=2,
    ),
    case_of(variational.evidence_lower_bound, log_likelihood=By(_floats(4)), kl=By(_floats(4)), beta=0.5),
    case_of(
        variational.normal_log_likelihood,
        inputs=By(_floats(4, 3, 2)),
        means=By(_floats(4, 3, 2)),
        stddev=By(np.array(0.7)),
        axes=2,
    ),
    case_of(variational.standard_normal_kl, mean=By(_floats(4, 3)), log_variance=By(_floats(4, 3))),
) | {
    "ppo_clipped_surrogate": _ppo(0.2),
    "ppo_clipped_surrogate_in_time": _ppo(
        0.5, log_probs=_log_probs(4, 5), prev_log_probs=_log_probs(4, 5), advantages=_floats(4, 5)
    ),
    "large_margin_loss_per_item": case_of(
        large_margin_loss,
        q_values=By(_floats(5, 4)),
        expert_actions=CLASSES,
        margin=By(_RNG.uniform(0.1, 1.0, 5)),
    ),
    "weighted_mean_masked": case_of(
        weighting.weighted_mean, losses=By(_floats(4, 5)), weights=_RNG.random((4, 5)) < 0.6
    ),
}
