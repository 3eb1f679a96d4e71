"""Why there are no cases for some properties of some components."""

from __future__ import annotations

from collections.abc import Mapping

#: Column of the table of components -> the reason -> components.
GAPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gradient": {
        "on the host": ("moving_standardize", "prioritized_replay", "replay_memory", "sequence"),
        "gives integers": ("epsilon_greedy", "image_binary", "noisy_greedy", "string_to_hash_bucket"),
        "copies variables": ("synchronizer",),
        "changes dtypes": ("convert_type",),
    },
    "nested Space": {
        "one tensor; container_loss takes several": (
            "categorical_cross_entropy_loss",
            "euclidian_distance_loss",
        ),
        "one tensor": (
            "activation",
            "conv2d",
            "conv2d_transpose",
            "dense",
            "dropout",
            "layer_norm",
            "local_response_norm",
            "max_pool2d",
            "network",
            "noisy_dense",
            "residual",
        ),
        "a part; joint_cumulative_distribution and choose_adapter take all": (
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
        "one integer action": ("noisy_greedy",),
        "works on variables": ("adam", "synchronizer"),
    },
    "time rank": {
        "transitions; fold the time": (
            "categorical_dqn_loss",
            "dqfd_loss",
            "quantile_dqn_loss",
            "sac_loss",
            "td3_loss",
        ),
        "images; fold the time": ("conv2d", "conv2d_transpose", "max_pool2d"),
        "single texts": ("string_to_hash_bucket",),
        "items; fold the time": ("dqn_loss", "dueling_policy", "network", "q_policy"),
        "works on variables": ("adam", "synchronizer"),
        "keeps records": ("prioritized_replay", "replay_memory"),
        "one step at a time": ("epsilon_greedy", "noisy_greedy", "moving_standardize", "sequence"),
    },
}
