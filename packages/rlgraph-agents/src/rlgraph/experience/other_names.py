"""What other libraries call the options of agents, runs and methods, and what these are called here.

Only hints come of it: a key by such a name is refused, and the message names the place, or says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from rlgraph.core.errors import Fault, OtherNames, SpecError, offer

P = ParamSpec("P")
R = TypeVar("R")

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
    "weight_pg": "The policy's loss has the weight 1: scale 'weight_vf' and 'weight_entropy' instead.",
    "double_q": "There are always two critics beside 'target_entropy': leave it out.",
    "exploration_spec": "The policy explores by its own draws: leave it out.",
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
        "batch_size": ("update_spec.batch_size", _in_parts("batch_size"), _in_steps("batch_size")),
        "train_batch_size": ("update_spec.batch_size", _in_steps("train_batch_size")),
        "learning_starts": "update_spec.steps_before_update",
        "steps_before_update": "update_spec.steps_before_update",
        "train_freq": "update_spec.update_interval",
        "train_frequency": "update_spec.update_interval",
        "update_interval": "update_spec.update_interval",
        "gradient_steps": "update_spec.update_steps",
        "update_steps": "update_spec.update_steps",
        "do_updates": "update_spec.do_updates",
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


def _first(hint: str | tuple[str, ...]) -> str:
    return hint if isinstance(hint, str) else hint[0]


_PPO = "PPO has it, as num_epochs and num_minibatches of the agent: leave it out."
#: Key -> its place in `UpdateSpec`, or a sentence.
IN_UPDATES: OtherNames = MappingProxyType(
    {
        **{
            name: _first(hint).removeprefix("update_spec.")
            for name, hint in IN_AN_AGENT.items()
            if _first(hint).startswith("update_spec.")
        },
        "update_mode": "Intervals are environment steps, as in the mode time_steps: leave it out.",
        "num_iterations": _PPO,
        "sample_size": _PPO,
        "max_timesteps": "The run has the number of steps: leave it out.",
        "sync_interval": "The targets of this agent follow with every update: leave it out.",
        "sync_tau": "The targets of this agent follow with every update: give the agent's option tau.",
    }
)

#: Key -> its place in ``hindsight_spec``.
IN_HINDSIGHT: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(("n_sampled_goal", "k", "replay_k"), "goals"),
        **dict.fromkeys(("goal_selection_strategy", "type"), "strategy"),
    }
)

#: Key -> its place in the document of a run, outside of the agent, or a sentence.
OUTSIDE_AN_AGENT: OtherNames = MappingProxyType(
    {
        "demonstrations": "data.file",
        "dataset": "data.file",
        "env": "environment",
        "env_id": "environment",
        "timesteps": "steps",
        "total_timesteps": "steps",
        "max_timesteps": "steps",
        "num_envs": "worker.num_envs",
        "n_envs": "worker.num_envs",
        "num_environments": "worker.num_envs",
        "frameskip": "worker.frameskip",
        "max_timesteps_per_episode": "worker.max_timesteps_per_episode",
        **dict.fromkeys(("validate", "validate_states"), "worker.validate_states"),
        "eval_freq": "evaluation.interval",
        "n_eval_episodes": "evaluation.episodes",
        "save_freq": "checkpoints.interval",
        "log_interval": "logging.report_interval",
        "tensorboard": "logging.tensorboard",
        "tensorboard_log": "logging.tensorboard",
        "verbose": "The command line shows the progress: leave it out.",
        "wandb": "logging.wandb",
    }
)

#: Key -> its place in the document of a run, or a sentence.
IN_A_RUN: OtherNames = MappingProxyType(
    {
        **{
            name: _first(hint) if _first(hint).endswith(".") else f"agent.{_first(hint)}"
            for name, hint in IN_AN_AGENT.items()
        },
        **OUTSIDE_AN_AGENT,
        "network_spec": "agent.network_spec",
        "optimizer_spec": "agent.optimizer_spec",
        "memory_spec": "agent.memory_spec",
        "update_spec": "agent.update_spec",
        "exploration_spec": "agent.exploration_spec",
        "execution_spec": "agent.execution_spec",
        "preprocessing_spec": "agent.preprocessing_spec",
        "discount": "agent.discount",
    }
)

#: Argument -> its name in `Agent.learn`, or a sentence.
IN_LEARN: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "total_timesteps",
                "max_timesteps",
                "num_timesteps",
                "total_steps",
                "num_steps",
                "steps",
                "n_steps",
            ),
            "timesteps",
        ),
        **dict.fromkeys(("environment", "env_spec", "env_id"), "env"),
        "n_envs": "num_envs",
        "callback": "callbacks",
        "log_interval": "report_interval",
        "validate": "validate_states",
        **dict.fromkeys(("eval_freq", "eval_interval"), "evaluation_interval"),
        **dict.fromkeys(("n_eval_episodes", "eval_episodes"), "evaluation_episodes"),
        "eval_env": "Evaluations use new environments like those of training: give 'evaluation_interval'.",
        "save_freq": "checkpoint_interval",
        **dict.fromkeys(("tensorboard_log", "tb_log_name", "log_path", "eval_log_path", "log_dir"), "folder"),
        "verbose": "progress_bar",
        "reset_num_timesteps": "Every call continues the count of steps: leave it out.",
    }
)

#: Argument -> its name in `Agent.evaluate`, or a sentence.
IN_EVALUATE: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(("n_eval_episodes", "n_episodes", "num_episodes", "eval_episodes"), "episodes"),
        **dict.fromkeys(("environment", "env_spec", "env_id", "eval_env"), "env"),
        **dict.fromkeys(("n_envs", "num_environments"), "num_envs"),
        **dict.fromkeys(("explore", "use_exploration", "sample"), "stochastic"),
        **dict.fromkeys(("record_video", "video_folder", "video_path", "render"), "video"),
        **dict.fromkeys(("deterministic", "greedy"), "Give 'stochastic', which is the opposite."),
    }
)


def answers_to(
    other_names: OtherNames, options: Callable[[], Iterable[str]] = tuple
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function refuse unknown keyword arguments with the name that they have here.

    Args:
        other_names: what other libraries call the arguments.
        options: gives the names that its ``**`` parameter takes.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters.values()
        named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        named.remove("self")

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            known = {*named, *options()} if kwargs.keys() - named else named
            faults = [
                Fault(
                    f"there is no such argument. {offer(key, known, other_names)}",
                    f"{function.__name__}.{key}",
                )
                for key in kwargs
                if key not in known
            ]
            if faults:
                raise SpecError(*faults)
            return function(*args, **kwargs)

        return checked

    return decorate


#: Methods and attributes of agents in other libraries.
OF_AN_AGENT: OtherNames = MappingProxyType(
    {
        "predict": "Call get_actions(states, use_exploration=False).",
        "save": "store_model",
        "set_parameters": "set_weights",
        "get_parameters": "get_weights",
        "set_env": "Give env to learn or evaluate.",
        "get_env": "env_spec",
        "num_timesteps": "timesteps",
        "set_logger": "Give folder to learn, which writes metrics and TensorBoard events.",
        "train": "learn",
        "policy": "Its weights are those below policy in get_weights(); its layers are agent.network.",
    }
)


class AnswersToOtherNames:
    """An unknown attribute is answered with its name here."""

    if not TYPE_CHECKING:  # the attributes that there are stay checked

        def __getattr__(self, name):
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                public = [each for each in {*dir(type(self)), *vars(self)} if not each.startswith("_")]
                message = f"{message}. {offer(name, public, OF_AN_AGENT)}"
            raise AttributeError(message)
