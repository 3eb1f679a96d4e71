"""What other libraries call the options of an agent and a run, and where these stand here.

Only hints come of it: a key by such a name is refused, and the message names the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: Key -> its place in the spec of an agent. The names are those of Stable-Baselines3, CleanRL, RLlib and Dopamine,
#: and those of arguments that stand one level deeper here.
IN_AN_AGENT: Mapping[str, str] = MappingProxyType(
    {
        "gamma": "discount",
        "double_dqn": "double_q",
        "double": "double_q",
        "dueling": "dueling_q",
        "n_steps": "n_step",
        # network and policy
        "policy_kwargs": "network_spec",
        "net_arch": "network_spec",
        "hidden_sizes": "network_spec",
        "fcnet_hiddens": "network_spec",
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
        # when to learn
        "batch_size": "update_spec.batch_size",
        "train_batch_size": "update_spec.batch_size",
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
        # execution
        "threads": "execution_spec.threads",
        "device": "execution_spec.device",
        "compile": "execution_spec.compile",
        "dtype": "execution_spec.dtype",
    }
)

#: Key -> its place in `UpdateSpec`.
IN_UPDATES: Mapping[str, str] = MappingProxyType(
    {
        name: place.removeprefix("update_spec.")
        for name, place in IN_AN_AGENT.items()
        if place.startswith("update_spec.")
    }
)

#: Key -> its place in the document of a run.
IN_A_RUN: Mapping[str, str] = MappingProxyType(
    {
        **{name: f"agent.{place}" for name, place in IN_AN_AGENT.items()},
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
        "eval_freq": "evaluation.interval",
        "n_eval_episodes": "evaluation.episodes",
        "save_freq": "checkpoints.interval",
        "log_interval": "logging.report_interval",
        "tensorboard": "logging.tensorboard",
        "wandb": "logging.wandb",
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
