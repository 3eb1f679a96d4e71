"""Cases of `rlgraph.core.functional.distributions`."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.distributions.bernoulli import (
    bernoulli_entropy,
    bernoulli_kl,
    bernoulli_log_prob,
)
from rlgraph.core.functional.distributions.beta import (
    beta_entropy,
    beta_kl,
    beta_log_prob,
    beta_logit_derivatives,
    log_gamma_variate,
)
from rlgraph.core.functional.distributions.categorical import (
    categorical_entropy,
    categorical_kl,
    categorical_log_prob,
    mask_logits,
)
from rlgraph.core.functional.distributions.gumbel_softmax import gumbel_softmax, gumbel_softmax_log_prob
from rlgraph.core.functional.distributions.log_normal import (
    from_half_line,
    log_normal_entropy,
    log_normal_log_prob,
    to_half_line,
)
from rlgraph.core.functional.distributions.multivariate_normal import (
    cholesky,
    forward_substitution,
    multivariate_normal_entropy,
    multivariate_normal_kl,
    multivariate_normal_log_prob,
)
from rlgraph.core.functional.distributions.normal import normal_entropy, normal_kl, normal_log_prob
from rlgraph.core.functional.distributions.squashed_normal import (
    squash,
    squashed_normal_entropy,
    squashed_normal_log_prob,
    unsquash,
)
from rlgraph.testing.conformance.cases.case import FunctionCase

_RNG = np.random.default_rng(0)
_SHAPE = (4, 3)
_X, _MEAN, _OTHER_MEAN = _RNG.standard_normal((3, *_SHAPE))
_STDDEV, _OTHER_STDDEV = _RNG.uniform(0.5, 2.0, (2, *_SHAPE))
_UNIT = _RNG.uniform(0.1, 0.9, _SHAPE)
_BOUNDS = {"low": -1.0, "high": 2.0}
_NORMAL = {"mean": _MEAN, "stddev": _STDDEV}
_HALF_LINE = {"bound": 2.0, "sign": -1.0}
_BETA = {"alpha": _STDDEV + 0.5, "beta": _OTHER_STDDEV + 0.5}
_LOGITS = {"logits": _MEAN, "other_logits": _OTHER_MEAN}
_FACTOR, _OTHER_FACTOR = (
    np.tril(_RNG.uniform(-1.0, 1.0, (4, 3, 3)), -1) + stddev[..., None] * np.eye(3)
    for stddev in (_STDDEV, _OTHER_STDDEV)
)
_MASK = np.array([[True, False, True], [False, False, True], [True, True, True], [True, True, False]])


FUNCTIONS: dict[str, FunctionCase] = {
    "bernoulli_entropy": FunctionCase(bernoulli_entropy, {"logits": _X}, by=("logits",)),
    "bernoulli_kl": FunctionCase(bernoulli_kl, _LOGITS, by=tuple(_LOGITS)),
    "bernoulli_log_prob": FunctionCase(
        bernoulli_log_prob, {"values": _X > 0.0, "logits": _MEAN}, by=("logits",)
    ),
    "beta_entropy": FunctionCase(beta_entropy, _BETA, by=tuple(_BETA)),
    "beta_kl": FunctionCase(
        beta_kl,
        {**_BETA, "other_alpha": _OTHER_STDDEV, "other_beta": _STDDEV},
        by=("alpha", "beta", "other_alpha", "other_beta"),
    ),
    "beta_log_prob": FunctionCase(beta_log_prob, {"values": _UNIT, **_BETA}, by=("values", "alpha", "beta")),
    "beta_logit_derivatives": FunctionCase(
        beta_logit_derivatives, {"logits": _X, **_BETA}, by=("logits", "alpha", "beta")
    ),
    "categorical_entropy": FunctionCase(categorical_entropy, {"logits": _X}, by=("logits",)),
    "categorical_kl": FunctionCase(categorical_kl, _LOGITS, by=tuple(_LOGITS)),
    "categorical_log_prob": FunctionCase(
        categorical_log_prob, {"values": np.array([0, 2, 1, 2]), "logits": _X}, by=("logits",)
    ),
    "cholesky": FunctionCase(
        cholesky, {"matrices": _FACTOR @ np.swapaxes(_FACTOR, -1, -2)}, by=("matrices",)
    ),
    "forward_substitution": FunctionCase(
        forward_substitution, {"lower": _FACTOR, "right": _X[..., None]}, by=("lower", "right")
    ),
    "from_half_line": FunctionCase(from_half_line, {"values": 2.0 - _STDDEV, **_HALF_LINE}, by=("values",)),
    "gumbel_softmax": FunctionCase(
        gumbel_softmax, {"logits": _X, "uniforms": _UNIT, "temperature": 0.5}, by=("logits",)
    ),
    "gumbel_softmax_log_prob": FunctionCase(
        gumbel_softmax_log_prob, {"values": _UNIT, "logits": _X, "temperature": 0.5}, by=("values", "logits")
    ),
    "log_gamma_variate": FunctionCase(
        log_gamma_variate,
        {
            "alpha": np.exp(_X),
            "normals": _RNG.standard_normal((8, *_SHAPE)),
            "uniforms": _RNG.uniform(size=(8, *_SHAPE)),
            "boost": _UNIT,
        },
    ),
    "log_normal_entropy": FunctionCase(log_normal_entropy, _NORMAL, by=tuple(_NORMAL)),
    "log_normal_log_prob": FunctionCase(log_normal_log_prob, {"x": _X, **_NORMAL}, by=("x", *_NORMAL)),
    "mask_logits": FunctionCase(mask_logits, {"logits": _X, "mask": _MASK}),
    "multivariate_normal_entropy": FunctionCase(
        multivariate_normal_entropy, {"scale_tril": _FACTOR}, by=("scale_tril",)
    ),
    "multivariate_normal_kl": FunctionCase(
        multivariate_normal_kl,
        {
            "mean": _MEAN,
            "scale_tril": _FACTOR,
            "other_mean": _OTHER_MEAN,
            "other_scale_tril": _OTHER_FACTOR,
        },
        by=("mean", "scale_tril", "other_mean", "other_scale_tril"),
    ),
    "multivariate_normal_log_prob": FunctionCase(
        multivariate_normal_log_prob,
        {"values": _X, "mean": _MEAN, "scale_tril": _FACTOR},
        by=("values", "mean", "scale_tril"),
    ),
    "normal_entropy": FunctionCase(normal_entropy, {"stddev": _STDDEV}, by=("stddev",)),
    "normal_kl": FunctionCase(
        normal_kl,
        {**_NORMAL, "other_mean": _OTHER_MEAN, "other_stddev": _OTHER_STDDEV},
        by=("mean", "stddev", "other_mean", "other_stddev"),
    ),
    "normal_log_prob": FunctionCase(normal_log_prob, {"values": _X, **_NORMAL}, by=("values", *_NORMAL)),
    "squash": FunctionCase(squash, {"x": _X, **_BOUNDS}, by=("x",)),
    "squashed_normal_entropy": FunctionCase(
        squashed_normal_entropy, {**_NORMAL, **_BOUNDS}, by=tuple(_NORMAL)
    ),
    "squashed_normal_log_prob": FunctionCase(
        squashed_normal_log_prob, {"x": _X, **_NORMAL, **_BOUNDS}, by=("x", *_NORMAL)
    ),
    "to_half_line": FunctionCase(to_half_line, {"x": _X, **_HALF_LINE}, by=("x",)),
    "unsquash": FunctionCase(unsquash, {"values": 3.0 * _UNIT - 1.0, **_BOUNDS}, by=("values",)),
}
