"""Why there are no cases for some properties of some components."""

from __future__ import annotations

from collections.abc import Mapping

#: Column of the table of components -> the reason -> components.
GAPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gradient": {
        "on the host": (
            "moving_standardize",
            "prioritized_replay",
            "replay_memory",
            "ring_buffer",
            "sequence",
            "string_to_hash_bucket",
        ),
        "gives integers": ("epsilon_greedy", "image_binary", "noisy_greedy"),
        "moves records": ("batch_splitter", "sampler", "slice"),
        "gives targets, which have none": ("generalized_advantage_estimation", "v_trace_function"),
        "copies variables": ("synchronizer",),
        "changes dtypes": ("convert_type",),
    },
    "nested Space": {
        "one tensor": (
            "activation",
            "conv2d",
            "conv2d_transpose",
            "dense",
            "dropout",
            "gru",
            "layer_norm",
            "local_response_norm",
            "max_pool2d",
            "noisy_dense",
            "residual",
            "shared_value_function_policy",
        ),
        "one label; container_loss takes several": (
            "categorical_cross_entropy_loss",
            "euclidian_distance_loss",
        ),
        "one action; policies have one for each part": (
            "bernoulli",
            "bernoulli_distribution_adapter",
            "beta_distribution_adapter",
            "categorical",
            "categorical_distribution_adapter",
            "gumbel_softmax",
            "gumbel_softmax_distribution_adapter",
            "multivariate_normal_distribution_adapter",
            "noisy_greedy",
            "normal_distribution_adapter",
            "squashed_normal_distribution_adapter",
        ),
        "one reward": ("generalized_advantage_estimation", "sequence_helper", "v_trace_function"),
        "works on variables": (
            "adadelta",
            "adagrad",
            "adam",
            "adamw",
            "nadam",
            "rmsprop",
            "sgd",
            "synchronizer",
        ),
    },
    "time rank": {
        "items; fold the time": (
            "categorical_dqn_loss",
            "dqfd_loss",
            "dqn_loss",
            "quantile_dqn_loss",
            "sac_loss",
            "string_to_hash_bucket",
            "td3_loss",
        ),
        "loops over minibatches": ("iterative_optimization",),
        "one fragment after the other": ("sequence_helper",),
        "works on variables": (
            "adadelta",
            "adagrad",
            "adam",
            "adamw",
            "nadam",
            "rmsprop",
            "sgd",
            "synchronizer",
        ),
        "keeps records": ("prioritized_replay", "replay_memory", "ring_buffer"),
        "one step at a time": ("epsilon_greedy", "noisy_greedy", "moving_standardize", "sequence"),
    },
}
