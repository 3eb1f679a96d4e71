"""Stable-Baselines3, and QR-DQN of sb3-contrib.

DQN is neither dueling nor double there, so ours is neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from micro import settings as to
from micro.training import Training

from peers import TORCH

REQUIREMENTS = (
    TORCH,
    "stable-baselines3==2.9.2",
    "sb3-contrib==2.9.2",
    "gymnasium[mujoco]==1.4.0",
    "pyyaml==6.0.4",
)
PROBE = "import sb3_contrib"
DQN: dict[str, Any] = {
    "learning_rate": to.DQN_RATE,
    "buffer_size": to.DQN_CAPACITY,
    "learning_starts": to.DQN_START,
    "batch_size": to.DQN_BATCH,
    "train_freq": to.DQN_INTERVAL,
    "gradient_steps": 1,
    "target_update_interval": to.DQN_SYNC,
    "exploration_initial_eps": to.EPSILON_FROM,
    "exploration_final_eps": to.EPSILON_TO,
    "exploration_fraction": to.EPSILON_END,
    "max_grad_norm": to.DQN_CLIP_NORM,
    "policy_kwargs": {"net_arch": [to.UNITS, to.UNITS]},
}
ACTOR_CRITIC = {"vf_coef": to.VALUE_WEIGHT, "max_grad_norm": to.CLIP_NORM}
SAC: dict[str, Any] = {
    "learning_rate": to.SAC_RATE,
    "buffer_size": to.SAC_CAPACITY,
    "learning_starts": to.SAC_START,
    "batch_size": to.SAC_BATCH,
    "tau": to.SAC_TAU,
    "train_freq": 1,
    "gradient_steps": 1,
    "policy_kwargs": {"net_arch": [to.SAC_UNITS, to.SAC_UNITS]},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": DQN,
    "qr_dqn": {**DQN, "policy_kwargs": {**DQN["policy_kwargs"], "n_quantiles": to.QUANTILES}},
    "ppo": {
        "learning_rate": to.PPO_RATE,
        "n_steps": to.PPO_STEPS,
        "batch_size": to.PPO_BATCH,
        "n_epochs": to.PPO_EPOCHS,
        "gae_lambda": to.PPO_LAMBDA,
        "clip_range": to.PPO_CLIP,
        "ent_coef": to.PPO_ENTROPY,
        **ACTOR_CRITIC,
    },
    "a2c": {
        "learning_rate": to.A2C_RATE,
        "n_steps": to.A2C_STEPS,
        "gae_lambda": 1.0,
        "ent_coef": 0.0,
        "rms_prop_eps": to.EPSILON,
        **ACTOR_CRITIC,
    },
    "sac": SAC,
    "td3": SAC,
}


def training(kind: str) -> Training:
    import torch

    torch.set_num_threads(1)
    module = "sb3_contrib" if kind == "qr_dqn" else "stable_baselines3"
    return trained(import_module(module), kind, OPTIONS[kind], ("stable-baselines3", "torch"), device="cpu")


def trained(
    module: Any, kind: str, options: dict[str, Any], versions: tuple[str, ...], **more: Any
) -> Training:
    """A subject of an algorithm with the interface of Stable-Baselines3."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.noise import NormalActionNoise

    if kind == "td3":  # noise on actions of -1 to 1, which it scales
        more["action_noise"] = NormalActionNoise(np.zeros(1), np.full(1, to.TD3_NOISE))
    env, num_envs = to.task_of(kind)
    made = make_vec_env(env, num_envs, seed=to.SEED) if num_envs > 1 else env
    algorithm = getattr(module, kind.replace("_", "").upper())
    model = algorithm("MlpPolicy", made, gamma=to.DISCOUNT, seed=to.SEED, **options, **more)

    def train(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    return Training(train, lambda: [each["r"] for each in model.ep_info_buffer], (*versions, "gymnasium"))
