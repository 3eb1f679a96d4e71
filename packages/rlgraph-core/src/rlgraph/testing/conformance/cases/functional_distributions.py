"""Cases of `rlgraph.core.functional.distributions`."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.distributions import (
    bernoulli,
    beta,
    categorical,
    gumbel_softmax,
    log_normal,
    multivariate_normal,
    normal,
    squashed_normal,
)
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)
_SHAPE = (4, 3)
_X, _MEAN, _OTHER_MEAN = _RNG.standard_normal((3, *_SHAPE))
_STDDEV, _OTHER_STDDEV = _RNG.uniform(0.5, 2.0, (2, *_SHAPE))
_UNIT = _RNG.uniform(0.1, 0.9, _SHAPE)
_BOUNDS = {"low": -1.0, "high": 2.0}
_NORMAL = {"mean": By(_MEAN), "stddev": By(_STDDEV)}
_HALF_LINE = {"bound": 2.0, "sign": -1.0}
_BETA = {"alpha": By(_STDDEV + 0.5), "beta": By(_OTHER_STDDEV + 0.5)}
_LOGITS = {"logits": By(_MEAN), "other_logits": By(_OTHER_MEAN)}
_FACTOR, _OTHER_FACTOR = (
    np.tril(_RNG.uniform(-1.0, 1.0, (4, 3, 3)), -1) + stddev[..., None] * np.eye(3)
    for stddev in (_STDDEV, _OTHER_STDDEV)
)
_MASK = np.array([[True, False, True], [False, False, True], [True, True, True], [True, True, False]])


FUNCTIONS: dict[str, FunctionCase] = by_function(
    case_of(bernoulli.bernoulli_entropy, logits=By(_X)),
    case_of(bernoulli.bernoulli_kl, **_LOGITS),
    case_of(bernoulli.bernoulli_log_prob, values=_X > 0.0, logits=By(_MEAN)),
    case_of(beta.beta_entropy, **_BETA),
    case_of(beta.beta_kl, **_BETA, other_alpha=By(_OTHER_STDDEV), other_beta=By(_STDDEV)),
    case_of(beta.beta_log_prob, values=By(_UNIT), **_BETA),
    case_of(beta.beta_logit_derivatives, logits=By(_X), **_BETA),
    case_of(categorical.categorical_entropy, logits=By(_X)),
    case_of(categorical.categorical_kl, **_LOGITS),
    case_of(categorical.categorical_log_prob, values=np.array([0, 2, 1, 2]), logits=By(_X)),
    case_of(multivariate_normal.cholesky, matrices=By(_FACTOR @ np.swapaxes(_FACTOR, -1, -2))),
    case_of(multivariate_normal.forward_substitution, lower=By(_FACTOR), right=By(_X[..., None])),
    case_of(log_normal.from_half_line, values=By(2.0 - _STDDEV), **_HALF_LINE),
    case_of(gumbel_softmax.gumbel_softmax, logits=By(_X), uniforms=_UNIT, temperature=0.5),
    case_of(gumbel_softmax.gumbel_softmax_log_prob, values=By(_UNIT), logits=By(_X), temperature=0.5),
    case_of(
        beta.log_gamma_variate,
        alpha=np.exp(_X),
        normals=_RNG.standard_normal((8, *_SHAPE)),
        uniforms=_RNG.uniform(size=(8, *_SHAPE)),
        boost=_UNIT,
    ),
    case_of(log_normal.log_normal_entropy, **_NORMAL),
    case_of(log_normal.log_normal_log_prob, x=By(_X), **_NORMAL),
    case_of(categorical.mask_logits, logits=_X, mask=_MASK),
    case_of(multivariate_normal.multivariate_normal_entropy, scale_tril=By(_FACTOR)),
    case_of(
        multivariate_normal.multivariate_normal_kl,
        mean=By(_MEAN),
        scale_tril=By(_FACTOR),
        other_mean=By(_OTHER_MEAN),
        other_scale_tril=By(_OTHER_FACTOR),
    ),
    case_of(
        multivariate_normal.multivariate_normal_log_prob,
        values=By(_X),
        mean=By(_MEAN),
        scale_tril=By(_FACTOR),
    ),
    case_of(normal.normal_entropy, stddev=By(_STDDEV)),
    case_of(normal.normal_kl, **_NORMAL, other_mean=By(_OTHER_MEAN), other_stddev=By(_OTHER_STDDEV)),
    case_of(normal.normal_log_prob, values=By(_X), **_NORMAL),
    case_of(squashed_normal.squash, x=By(_X), **_BOUNDS),
    case_of(squashed_normal.squashed_normal_entropy, **_NORMAL, **_BOUNDS),
    case_of(squashed_normal.squashed_normal_log_prob, x=By(_X), **_NORMAL, **_BOUNDS),
    case_of(log_normal.to_half_line, x=By(_X), **_HALF_LINE),
    case_of(squashed_normal.unsquash, values=By(3.0 * _UNIT - 1.0), **_BOUNDS),
)
