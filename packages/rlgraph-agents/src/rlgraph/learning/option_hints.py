"""What other libraries call the options of agents: unknown names are answered with those here."""

from __future__ import annotations

from types import MappingProxyType

from rlgraph.core.errors import OtherNames
from rlgraph.experience.option_hints import WHEN_TO_LEARN

_ONE_OPTIMIZER = "Policy and value function share 'optimizer_spec': leave it out."
_BUILT = "The constructor builds the agent: leave it out."


def _in_parts(size: str) -> str:
    return f"Give a number of parts: 'num_minibatches' = 'rollout_length' x environments / {size}."


def _in_steps(size: str) -> str:
    return f"A batch is a rollout: give 'rollout_length' = {size} / environments."


#: Sizes of parts of a rollout: not what `num_minibatches` is, but what it follows from.
MINIBATCH_SIZES = ("batch_size", "minibatch_size", "mini_batch_size", "sgd_minibatch_size", "sample_size")

#: Keys of RLgraph 0.5.
_FROM_0_5: OtherNames = {
    "summary_spec": "Leave it out: the section logging of a run says what is recorded.",
    "saver_spec": "Leave it out: the section checkpoints of a run says what is saved; agent.store_model saves.",
    "observe_spec": (
        "Buffers need no size: leave it out; its n_step is 'n_step' of the agent.",
        "Buffers need no size: leave it out.",
    ),
    "internal_states_space": "Recurrent layers declare their states: leave it out.",
    "environment_spec": "env",
    "auto_build": _BUILT,
    "build_options": _BUILT,
    "name": "Agents have no name: leave it out.",
    # demonstrations
    "demo_memory_spec": "One memory has demonstrations and own steps: give 'memory_spec' room for both.",
    "demo_sample_ratio": "memory_spec.demonstration_epsilon",
    # experience of agents that learn from rollouts
    "memory_spec": "rollout_length",
    "update_spec": (
        "Each rollout is one update: give 'rollout_length', 'num_epochs' and 'num_minibatches'.",
        "Each rollout is one update: give 'rollout_length'.",
    ),
    "num_iterations": "num_epochs",
    "sample_episodes": "Minibatches are drawn from all steps of a rollout: leave it out.",
    "clip_rewards": "Wrap the environment, with TransformReward of Gymnasium for example.",
    # policies and value functions
    "policy_spec": (
        "Give its network_spec as 'network_spec' and leave out the rest: actions get the distribution that suits their "
        "Space."
    ),
    "action_adapter_spec": "Give layers before the action layer in 'network_spec'.",
    "value_function_spec": "value_network_spec",
    "value_function_optimizer_spec": (
        "Each part has an optimizer of its own beside 'target_entropy', all with 'optimizer_spec': leave it out.",
        _ONE_OPTIMIZER,
    ),
    "value_function_sync_spec": "tau",
    "value_function_clipping": "value_clipping",
    "gumbel_softmax_temperature": "Categories are learned by expectations: leave it out.",
    # IMPALA
    "weight_baseline": "Give 'weight_vf', half of it: the squared error is not halved.",
    "fifo_queue_spec": "An executor asks each actor for requests_per_actor fragments ahead: leave it out here.",
    "worker_sample_size": "rollout_length",
    "dynamic_batching": "Actors act for all their environments at once: leave it out.",
    # DQN
    **dict.fromkeys(
        ("store_last_memory_batch", "store_last_q_table"),
        'Leave it out; call_api_method("get_q_values", states) gives values of states.',
    ),
    "weight_pg": "The policy's loss has the weight 1: scale 'weight_vf' and 'weight_entropy' instead.",
    "double_q": "There are always two critics beside 'target_entropy': leave it out.",
    "exploration_spec": "The policy explores by its own draws: leave it out.",
}

#: Values of `extra_returns`.
EXTRAS_OF_0_5: OtherNames = {
    "used_exploration": "Give use_exploration; each exploration decides for every state by itself."
}

#: Key -> its place in the spec of an agent, or a sentence. The names are those of Stable-Baselines3, CleanRL, RLlib,
#: TorchRL, Dopamine and RLgraph 0.5, and those of arguments that stand one level deeper here.
IN_AN_AGENT: OtherNames = MappingProxyType(
    {
        **_FROM_0_5,
        "gamma": "discount",
        "double_dqn": "double_q",
        "double": "double_q",
        "dueling": "dueling_q",
        "n_steps": ("n_step", "rollout_length"),
        "n_epochs": "num_epochs",
        "clip_range": "clip_ratio",
        "clip_range_vf": "value_clipping",
        "ent_coef": ("weight_entropy", "initial_alpha"),
        "vf_coef": "weight_vf",
        "target_kl": "kl_limit",
        "normalize_advantage": "standardize_advantages",
        "norm_adv": "standardize_advantages",
        **dict.fromkeys(("clip_coef", "clip_param", "clip_epsilon"), "clip_ratio"),
        "clip_vloss": "value_clipping",
        "vf_clip_param": "Large errors of values are not cut: leave it out, or give 'value_clipping'.",
        **dict.fromkeys(("update_epochs", "ppo_epochs"), "num_epochs"),
        **{size: _in_parts(size) for size in MINIBATCH_SIZES},
        "num_steps": "rollout_length",
        **dict.fromkeys(("lambda_", "lmbda"), "gae_lambda"),
        **dict.fromkeys(("entropy_coeff", "entropy_coef"), "weight_entropy"),
        **dict.fromkeys(("vf_loss_coeff", "critic_coef"), "weight_vf"),
        "anneal_lr": "Give optimizer_spec.learning_rate as [from, to]: leave it out.",
        # network and policy
        "policy_kwargs": "network_spec",
        "net_arch": "network_spec",
        "hidden_sizes": "network_spec",
        "fcnet_hiddens": "network_spec",
        "num_cells": "network_spec",
        "network": "network_spec",
        # optimizer
        "learning_rate": "optimizer_spec.learning_rate",
        "lr": "optimizer_spec.learning_rate",
        "optimizer": "optimizer_spec",
        "max_grad_norm": "optimizer_spec.clip_grad_norm",
        "grad_clip": "optimizer_spec.clip_grad_norm",
        "clip_grad_norm": "optimizer_spec.clip_grad_norm",
        # memory
        "buffer_size": "memory_spec.capacity",
        "memory_size": "memory_spec.capacity",
        "capacity": "memory_spec.capacity",
        "replay_buffer_config": "memory_spec",
        "alpha": "memory_spec.alpha",
        "beta": "memory_spec.beta",
        # goals
        "hindsight_spec": (
            "It does not learn from steps with other goals: take an agent that learns from a memory of single steps, "
            "such as dqn, sac or td3."
        ),
        "her": "hindsight_spec",
        "replay_buffer_class": "hindsight_spec",
        "n_sampled_goal": "hindsight_spec.goals",
        "goal_selection_strategy": "hindsight_spec.strategy",
        # when to learn
        **{name: f"update_spec.{place}" for name, place in WHEN_TO_LEARN.items()},
        "batch_size": ("update_spec.batch_size", _in_parts("batch_size"), _in_steps("batch_size")),
        "train_batch_size": ("update_spec.batch_size", _in_steps("train_batch_size")),
        "target_update_interval": "sync_interval",
        "target_network_frequency": "sync_interval",
        "target_network_update_freq": "sync_interval",
        "tau": "sync_tau",
        # exploration
        "epsilon": "exploration_spec.epsilon_spec",
        "epsilon_spec": "exploration_spec.epsilon_spec",
        "noise_spec": "exploration_spec.noise_spec",
        "exploration_initial_eps": "exploration_spec.epsilon_spec",
        "exploration_final_eps": "exploration_spec.epsilon_spec",
        "exploration_fraction": "exploration_spec.epsilon_spec",
        **dict.fromkeys(("start_e", "end_e", "eps_init", "eps_end"), "exploration_spec.epsilon_spec"),
        **dict.fromkeys(("start_steps", "start_timesteps", "random_timesteps"), "random_before_update"),
        "init_random_frames": "random_before_update",
        # environment and training
        "environment": "env",
        "policy": "Leave it out: 'network_spec' has the layers, and its default follows the states.",
        "total_timesteps": "Give timesteps to agent.learn.",
        "timesteps": "Give timesteps to agent.learn.",
        "num_envs": "Give num_envs to agent.learn.",
        "n_envs": "Give num_envs to agent.learn.",
        "tensorboard_log": "Give folder to agent.learn, which writes TensorBoard events too.",
        "verbose": "Give progress_bar=True to agent.learn.",
        # execution
        "threads": "execution_spec.threads",
        "device": "execution_spec.device",
        **dict.fromkeys(("devices", "num_gpus"), "execution_spec.devices"),
        "compile": "execution_spec.compile",
        "dtype": "execution_spec.dtype",
    }
)
