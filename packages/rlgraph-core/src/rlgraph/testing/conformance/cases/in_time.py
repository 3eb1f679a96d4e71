"""Cases with a time rank, made of those without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlgraph.spaces import from_spec
from rlgraph.testing.conformance.cases.case import STEPS, Case

#: Cases of components that do the same with every step.
SAME_WITH_EVERY_STEP = (
    "batch_splitter",
    "bernoulli_distribution_adapter",
    "beta_distribution_adapter",
    "categorical_distribution_adapter",
    "clipping",
    "container_merger",
    "conv2d",
    "conv2d_transpose",
    "dueling_policy",
    "gumbel_softmax_distribution_adapter",
    "log_normal_distribution_adapter",
    "max_pool2d",
    "clipped_normal_distribution_adapter",
    "multivariate_normal_distribution_adapter",
    "network",
    "normal_distribution_adapter",
    "policy",
    "q_policy",
    "repeater_stack",
    "shared_value_function_policy",
    "slice",
    "squashed_normal_distribution_adapter",
    "value_function",
)


def in_time(cases: Mapping[str, Case]) -> dict[str, Case]:
    """The same, with sequences of `STEPS` steps for every batch."""
    return {f"{name}_in_time": _in_time(cases[name]) for name in SAME_WITH_EVERY_STEP}


def _in_time(case: Case) -> Case:
    spaces = {name: from_spec(space) for name, space in case.spaces.items()}
    in_time = {name: s.with_time_rank(STEPS) if s.has_batch_rank else s for name, s in spaces.items()}
    return replace(case, spaces=in_time)
