"""Cases of distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlgraph.components import (
    Bernoulli,
    Beta,
    Categorical,
    ClippedNormal,
    GumbelSoftmax,
    JointCumulativeDistribution,
    LogNormal,
    MixtureDistribution,
    MultivariateNormal,
    Normal,
    SquashedNormal,
)
from rlgraph.core import Component, registry
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import Case

#: What draws nothing, and so is the same on all backends.
METHODS = ("sample_deterministic", "log_prob", "entropy", "kl_divergence")

MEAN, POSITIVE = FloatBox(-1.0, 1.0, shape=(2,)), FloatBox(0.5, 2.0, shape=(2,))
NORMAL = Tuple(MEAN, POSITIVE)
WIDE = Tuple(FloatBox(-1.0, 1.0, shape=(2, 3)), FloatBox(0.5, 2.0, shape=(2, 3)))
SHAPES = Tuple(FloatBox(1.2, 4.0, shape=(2,)), FloatBox(0.5, 3.0, shape=(2,)))
LOGITS = FloatBox(-2.0, 2.0, shape=(4,))
#: A Cholesky factor, or a covariance, of which the lower half is read.
MATRIX = Tuple(MEAN, FloatBox([[1.0, 0.0], [-0.5, 1.0]], [[2.0, 0.1], [0.5, 2.0]]))


def _case(
    make: Callable[[], Component], parameters: Space, values: Space, methods: tuple[str, ...] = METHODS
) -> Case:
    spaces = {"parameters": parameters, "other_parameters": parameters, "values": values}
    ranked = {name: space.with_batch_rank() for name, space in spaces.items()}
    by = ("parameters", *(["other_parameters"] if "kl_divergence" in methods else []))
    return Case(make, ranked, methods, by=by)


def _over_time(case: Case) -> Case:
    spaces = {name: space.with_extra_ranks(time_major=True) for name, space in case.spaces.items()}
    return replace(case, spaces=spaces)


_CASES: dict[str, Case] = {
    "bernoulli": _case(Bernoulli, LOGITS, BoolBox(shape=(4,))),
    "beta": _case(Beta, SHAPES, FloatBox(0.1, 0.9, shape=(2,))),
    "beta_of_different_bounds": _case(
        lambda: Beta([-1.0, 2.0], [0.0, 6.0]), SHAPES, FloatBox([-0.9, 2.1], [-0.1, 5.9])
    ),
    "categorical": _case(Categorical, LOGITS, IntBox(4)),
    "categorical_of_an_array": _case(
        lambda: Categorical(dtype="int32"),
        FloatBox(-2.0, 2.0, shape=(3, 4)),
        IntBox(4, shape=(3,), dtype="int32"),
    ),
    "gumbel_softmax": _case(
        lambda: GumbelSoftmax(0.7),
        LOGITS,
        FloatBox(0.05, 0.3, shape=(4,)),
        methods=("sample_deterministic", "log_prob"),
    ),
    "clipped_normal": _case(ClippedNormal, NORMAL, MEAN),
    "clipped_normal_of_different_bounds": _case(
        lambda: ClippedNormal([-1.0, 2.0], [0.0, 6.0]), NORMAL, FloatBox([-1.0, 2.0], [0.0, 6.0])
    ),
    "joint_cumulative_distribution": _case(
        lambda: JointCumulativeDistribution(
            {"jump": "bernoulli", "move": ("categorical", "squashed_normal")}
        ),
        Dict(jump=FloatBox(-1.0, 1.0), move=Tuple(LOGITS, NORMAL)),
        Dict(jump=BoolBox(), move=Tuple(IntBox(4), FloatBox(-0.9, 0.9, shape=(2,)))),
    ),
    "joint_cumulative_distribution_of_normals": _case(
        lambda: JointCumulativeDistribution(("normal",)), Tuple(NORMAL), Tuple(MEAN)
    ),
    "log_normal": _case(LogNormal, NORMAL, FloatBox(0.1, 4.0, shape=(2,))),
    "log_normal_of_different_bounds": _case(
        lambda: LogNormal([None, 2.0], [1.0, None]), NORMAL, FloatBox([-3.0, 2.1], [0.9, 6.0])
    ),
    "mixture_distribution": _case(
        lambda: MixtureDistribution(["normal", "squashed_normal"]),
        Dict(categorical=FloatBox(-1.0, 1.0, shape=(2,)), parameters0=NORMAL, parameters1=NORMAL),
        FloatBox(-0.9, 0.9, shape=(2,)),
        methods=("log_prob",),
    ),
    "multivariate_normal": _case(MultivariateNormal, NORMAL, MEAN),
    "multivariate_normal_cholesky": _case(lambda: MultivariateNormal(False), MATRIX, MEAN),
    "multivariate_normal_covariance": _case(lambda: MultivariateNormal(False, True), MATRIX, MEAN),
    "normal": _case(Normal, NORMAL, MEAN),
    "normal_of_an_array": _case(Normal, WIDE, FloatBox(-1.0, 1.0, shape=(2, 3))),
    "squashed_normal": _case(SquashedNormal, NORMAL, FloatBox(-0.9, 0.9, shape=(2,))),
    "squashed_normal_of_different_bounds": _case(
        lambda: SquashedNormal([-1.0, 2.0], [0.0, 6.0]), NORMAL, FloatBox([-0.9, 2.1], [-0.1, 5.9])
    ),
}

_COMPONENTS = registry(Component.registry_group)
#: And for each component one over time.
CASES: dict[str, Case] = {
    **_CASES,
    **{f"{name}_over_time": _over_time(case) for name, case in _CASES.items() if name in _COMPONENTS},
}
