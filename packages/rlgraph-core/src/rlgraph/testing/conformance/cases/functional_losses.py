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
from rlgraph.testing.conformance.cases.case import FunctionCase

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


FUNCTIONS: dict[str, FunctionCase] = {
    "prediction_error": FunctionCase(
        prediction_error,
        {"predictions": _floats(4, 5, 3), "features": _floats(4, 5, 3)},
        by=("predictions", "features"),
    ),
    "inverse_and_forward_loss": FunctionCase(
        inverse_and_forward_loss,
        {"inverse": _floats(5), "forward": _floats(5), "beta": 0.2},
        by=("inverse", "forward"),
    ),
    "sum_of_parts": FunctionCase(
        policy_gradient.sum_of_parts, {"parts": [_floats(5), _floats(5, 2, 3)], "rank": 1}, by=("parts",)
    ),
    "policy_gradient_loss": FunctionCase(
        policy_gradient.policy_gradient_loss,
        {"log_probs": _log_probs(4, 5), "advantages": _floats(4, 5)},
        by=("log_probs",),
    ),
    "entropy_loss": FunctionCase(
        policy_gradient.entropy_loss,
        {"entropy": _floats(5), "weight": np.array(0.1)},
        by=("entropy", "weight"),
    ),
    "divergence_estimate": FunctionCase(
        policy_gradient.divergence_estimate,
        {"log_probs": _log_probs(5), "prev_log_probs": _log_probs(5)},
        by=("log_probs", "prev_log_probs"),
    ),
    "ppo_clipped_surrogate": _ppo(0.2),
    "ppo_clipped_surrogate_in_time": _ppo(
        0.5, log_probs=_log_probs(4, 5), prev_log_probs=_log_probs(4, 5), advantages=_floats(4, 5)
    ),
    "value_loss": FunctionCase(
        policy_gradient.value_loss, {"values": _floats(5), "targets": _floats(5)}, by=("values",)
    ),
    "ppo_clipped_value_loss": FunctionCase(
        policy_gradient.ppo_clipped_value_loss,
        {"values": _floats(9), "prev_values": _floats(9), "targets": _floats(9), "clip_range": 0.5},
        by=("values",),
    ),
    "smoothed_actions": FunctionCase(
        td3.smoothed_actions,
        {
            "actions": _floats(5, 2),
            "noise": _floats(5, 2),
            "noise_clip": 0.5,
            "low": np.array([-1.0, -0.5]),
            "high": 1.0,
        },
        by=("actions",),
    ),
    "clipped_double_q": FunctionCase(td3.clipped_double_q, {"q_values": _two(5)}, by=("q_values",)),
    "td3_target": FunctionCase(
        td3.td3_target,
        {"rewards": _floats(5), "terminals": TERMINALS, "q_values_next": _two(5), "discount": 0.9},
    ),
    "critic_loss": FunctionCase(
        td3.critic_loss, {"q_values": _two(5), "targets": _floats(5)}, by=("q_values",)
    ),
    "deterministic_policy_gradient_loss": FunctionCase(
        td3.deterministic_policy_gradient_loss, {"q_values": _floats(5)}, by=("q_values",)
    ),
    "expectile_loss": FunctionCase(
        implicit_q_learning.expectile_loss, {"errors": _floats(5), "expectile": 0.7}, by=("errors",)
    ),
    "advantage_weights": FunctionCase(
        implicit_q_learning.advantage_weights,
        {"advantages": _floats(5), "inverse_temperature": 3.0, "limit": 4.0},
    ),
    "soft_value": FunctionCase(
        soft_actor_critic.soft_value,
        {"q_values": _two(5), "log_probs": _log_probs(5), "alpha": ALPHA},
        by=("q_values", "log_probs", "alpha"),
    ),
    "discrete_soft_value": FunctionCase(
        soft_actor_critic.discrete_soft_value,
        {"q_values": _two(5, 4), "log_probs": _log_probs(5, 4), "alpha": ALPHA},
        by=("q_values", "log_probs", "alpha"),
    ),
    "sac_target": FunctionCase(
        soft_actor_critic.sac_target,
        {"rewards": _floats(5), "terminals": TERMINALS, "next_soft_values": _floats(5), "discount": 0.9},
    ),
    "sac_critic_loss": FunctionCase(
        soft_actor_critic.sac_critic_loss, {"q_values": _two(5), "targets": _floats(5)}, by=("q_values",)
    ),
    "sac_actor_loss": FunctionCase(
        soft_actor_critic.sac_actor_loss,
        {"q_values": _two(5), "log_probs": _log_probs(5), "alpha": ALPHA},
        by=("q_values", "log_probs"),
    ),
    "discrete_sac_actor_loss": FunctionCase(
        soft_actor_critic.discrete_sac_actor_loss,
        {"q_values": _two(5, 4), "log_probs": _log_probs(5, 4), "alpha": ALPHA},
        by=("log_probs",),
    ),
    "sac_alpha_loss": FunctionCase(
        soft_actor_critic.sac_alpha_loss,
        {"alpha": ALPHA, "log_probs": _log_probs(5), "target_entropy": 0.7},
        by=("alpha",),
    ),
    "discrete_sac_alpha_loss": FunctionCase(
        soft_actor_critic.discrete_sac_alpha_loss,
        {"alpha": ALPHA, "log_probs": _log_probs(5, 4), "target_entropy": 0.7},
        by=("alpha",),
    ),
    "large_margin_loss": FunctionCase(
        large_margin_loss,
        {"q_values": _floats(5, 4), "expert_actions": CLASSES, "margin": 0.8},
        by=("q_values",),
    ),
    "large_margin_loss_per_item": FunctionCase(
        large_margin_loss,
        {"q_values": _floats(5, 4), "expert_actions": CLASSES, "margin": _RNG.uniform(0.1, 1.0, 5)},
        by=("q_values", "margin"),
    ),
    "categorical_cross_entropy": FunctionCase(
        supervised.categorical_cross_entropy, {"logits": _floats(5, 4), "labels": CLASSES}, by=("logits",)
    ),
    "soft_cross_entropy": FunctionCase(
        supervised.soft_cross_entropy,
        {"logits": _floats(3, 5, 4), "probabilities": _RNG.dirichlet(np.ones(4), (3, 5))},
        by=("logits", "probabilities"),
    ),
    "divergence_from_uniform": FunctionCase(
        supervised.divergence_from_uniform, {"logits": _floats(3, 5, 4)}, by=("logits",)
    ),
    "euclidean_distance": FunctionCase(
        supervised.euclidean_distance,
        {"predictions": _floats(5, 2, 3), "labels": _floats(5, 2, 3), "rank": 1},
        by=("predictions", "labels"),
    ),
    "divergence": FunctionCase(
        supervised.divergence,
        {"logits": _floats(5, 4), "probabilities": np.array([[0.0, 0.5, 0.25, 0.25]])},
        by=("logits",),
    ),
    "soft_asymmetric": FunctionCase(soft_asymmetric, {"rewards": _floats(5)}, by=("rewards",)),
    "sequence_mask": FunctionCase(
        supervised.sequence_mask,
        {"sequence_length": np.array([0, 2, 4]), "like": _floats(3, 4), "time_axis": 1},
    ),
    "number_of_items": FunctionCase(weighting.number_of_items, {"weights": np.array([0.0, 0.5, 2.0])}),
    "weighted_mean": FunctionCase(
        weighting.weighted_mean, {"losses": _floats(5), "weights": _RNG.random(5)}, by=("losses",)
    ),
    "weighted_mean_masked": FunctionCase(
        weighting.weighted_mean,
        {"losses": _floats(4, 5), "weights": _RNG.random((4, 5)) < 0.6},
        by=("losses",),
    ),
    "without_garbage": FunctionCase(
        weighting.without_garbage,
        {"values": _floats(4, 3), "weights": np.array([0.0, 0.5, 0.0, 2.0])},
        by=("values",),
    ),
    "bernoulli_log_likelihood": FunctionCase(
        variational.bernoulli_log_likelihood,
        {"inputs": _RNG.uniform(0.0, 1.0, (4, 3, 2)), "logits": _floats(4, 3, 2), "axes": 2},
        by=("inputs", "logits"),
    ),
    "evidence_lower_bound": FunctionCase(
        variational.evidence_lower_bound,
        {"log_likelihood": _floats(4), "kl": _floats(4), "beta": 0.5},
        by=("log_likelihood", "kl"),
    ),
    "normal_log_likelihood": FunctionCase(
        variational.normal_log_likelihood,
        {"inputs": _floats(4, 3, 2), "means": _floats(4, 3, 2), "stddev": np.array(0.7), "axes": 2},
        by=("inputs", "means", "stddev"),
    ),
    "standard_normal_kl": FunctionCase(
        variational.standard_normal_kl,
        {"mean": _floats(4, 3), "log_variance": _floats(4, 3)},
        by=("mean", "log_variance"),
    ),
}
