"""Why there are no cases for some properties of some components."""

from __future__ import annotations

from collections.abc import Mapping

_STEP_VARIABLES = "adadelta adagrad adam adamw nadam rmsprop sgd synchronizer"

#: Column of the table of components -> the reason -> components, between spaces.
GAPS: Mapping[str, Mapping[str, str]] = {
    "gradient": {
        "on the host": (
            "constant_noise demonstration_replay environment_stepper gaussian_noise fifo_queue "
            "moving_standardize ornstein_uhlenbeck_noise prioritized_replay replay_memory "
            "return_scaling ring_buffer sequence sequence_replay staging_area string_to_hash_bucket"
        ),
        "takes texts": "instruction_encoder",
        "gives integers": "epsilon_greedy image_binary noisy_greedy",
        "moves records": "batch_splitter replayed_sequences sampler slice",
        "gives targets, which have none": "generalized_advantage_estimation v_trace_function",
        "copies variables": "synchronizer",
        "one variable; sac_loss has its loss": "entropy_temperature",
        "changes dtypes": "convert_type",
        "of the layers of small_impala_network": "large_impala_network",
    },
    "nested Space": {
        "one tensor": (
            "activation conv2d conv2d_transpose dense dropout gru instruction_encoder layer_norm "
            "local_response_norm max_pool2d noisy_dense residual shared_value_function_policy "
            "supervised_predictor variational_auto_encoder"
        ),
        "one label; container_loss takes several": "categorical_cross_entropy_loss euclidian_distance_loss",
        "one action; policies have one for each part": (
            "bernoulli bernoulli_distribution_adapter beta_distribution_adapter categorical "
            "categorical_distribution_adapter clipped_normal_distribution_adapter gumbel_softmax "
            "gumbel_softmax_distribution_adapter log_normal_distribution_adapter "
            "multivariate_normal_distribution_adapter normal_distribution_adapter "
            "squashed_normal_distribution_adapter"
        ),
        "as its environment has it": "environment_stepper",
        "one number": "entropy_temperature",
        "one number per item": "standardize",
        "one reward": "generalized_advantage_estimation return_scaling sequence_helper v_trace_function",
        "works on variables": _STEP_VARIABLES,
    },
    "time rank": {
        "items; fold the time": (
            "categorical_dqn_loss dqfd_loss dqn_loss iql_loss quantile_dqn_loss sac_loss "
            "string_to_hash_bucket td3_loss"
        ),
        "makes sequences": "environment_stepper",
        "loops over minibatches": "iterative_optimization",
        "one fragment after the other": "sequence_helper",
        "works on variables": _STEP_VARIABLES,
        "keeps records": (
            "demonstration_replay prioritized_replay replay_memory ring_buffer sequence_replay"
        ),
        "steps are a part of each record": "replayed_sequences",
        "any arrays of known sizes": "staging_area",
        "one number": "entropy_temperature",
        "one step at a time": (
            "actor_component constant_noise epsilon_greedy gaussian_noise noisy_greedy "
            "ornstein_uhlenbeck_noise sequence"
        ),
    },
}
