"""Why there are no cases for some properties of some components."""

from __future__ import annotations

from collections.abc import Mapping

#: Column of the table of components -> the reason -> components.
GAPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gradient": {
        "host": ("moving_standardize", "prioritized_replay", "replay_memory", "sequence"),
        "actions": ("epsilon_greedy", "noisy_greedy"),
        "variables": ("synchronizer",),
    },
    "nested Space": {
        "one tensor": ("conv2d", "dense", "max_pool2d", "network"),
        "a part": (
            "bernoulli",
            "bernoulli_distribution_adapter",
            "beta_distribution_adapter",
            "categorical",
            "categorical_distribution_adapter",
            "gumbel_softmax",
            "gumbel_softmax_distribution_adapter",
            "multivariate_normal_distribution_adapter",
            "normal_distribution_adapter",
            "squashed_normal_distribution_adapter",
        ),
        "one integer": ("noisy_greedy",),
        "variables": ("adam", "synchronizer"),
    },
    "time rank": {
        "variables": ("adam", "synchronizer"),
        "records": ("prioritized_replay", "replay_memory"),
        "one step": ("epsilon_greedy", "noisy_greedy", "sequence", "moving_standardize"),
    },
}
