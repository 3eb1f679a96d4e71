"""rlox: environments, replay and advantages in Rust, networks in PyTorch.

What differs: PPO and A2C step a CartPole of its own, in Rust; each critic of SAC and TD3 has an optimizer of its own.
Returns of the others are means of a call. It has no QR-DQN.

Counted: parameters of SAC 67,330 and twice 67,329, of TD3's actor 67,073, of DQN 4,610, of PPO and A2C 9,155 together;
an update at each step of SAC and TD3, of TD3's actor at every second, of DQN at every fourth, 16 to a rollout of PPO,
one of A2C. Every call of `train` makes its first `learning_starts` steps without updates; here the first alone does.
"""

from __future__ import annotations

import importlib
from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH

REQUIREMENTS = (TORCH, "rlox==1.2.0", "gymnasium==1.4.0", "numpy==2.4.6")
PROBE = "import rlox.algorithms"
ON_POLICY: dict[str, Any] = {
    "n_envs": to.NUM_ENVIRONMENTS,
    "gamma": to.DISCOUNT,
    "vf_coef": to.VALUE_WEIGHT,
    "max_grad_norm": to.CLIP_NORM,
}
OFF_POLICY: dict[str, Any] = {
    "hidden": to.SAC_UNITS,
    "learning_rate": to.SAC_RATE,
    "buffer_size": to.SAC_CAPACITY,
    "learning_starts": to.SAC_START,
    "batch_size": to.SAC_BATCH,
    "tau": to.SAC_TAU,
    "gamma": to.DISCOUNT,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {
        "hidden": to.UNITS,
        "learning_rate": to.DQN_RATE,
        "buffer_size": to.DQN_CAPACITY,
        "learning_starts": to.DQN_START,
        "batch_size": to.DQN_BATCH,
        "train_freq": to.DQN_INTERVAL,
        "target_update_freq": to.DQN_SYNC,
        "exploration_initial_eps": to.EPSILON_FROM,
        "exploration_final_eps": to.EPSILON_TO,
        "exploration_fraction": to.EPSILON_END,
        "max_grad_norm": to.DQN_CLIP_NORM,
        "double_dqn": False,
    },
    "ppo": {
        "learning_rate": to.PPO_RATE,
        "n_steps": to.PPO_STEPS,
        "batch_size": to.PPO_BATCH,
        "n_epochs": to.PPO_EPOCHS,
        "gae_lambda": to.PPO_LAMBDA,
        "clip_eps": to.PPO_CLIP,
        "ent_coef": to.PPO_ENTROPY,
        "clip_vloss": False,
        "anneal_lr": False,
        **ON_POLICY,
    },
    "a2c": {
        "learning_rate": to.A2C_RATE,
        "n_steps": to.A2C_STEPS,
        "gae_lambda": 1.0,
        "ent_coef": 0.0,
        **ON_POLICY,
    },
    "sac": OFF_POLICY,
    "td3": {  # noise in units of actions, which are of -2 to 2
        **OFF_POLICY,
        "exploration_noise": 2.0 * to.TD3_NOISE,
        "target_noise": 2.0 * to.TD3_TARGET_NOISE,
        "noise_clip": 2.0 * to.TD3_NOISE_LIMIT,
        "policy_delay": to.TD3_DELAY,
    },
}


def training(kind: str) -> Training:
    import torch

    torch.set_num_threads(1)
    env, _ = to.task_of(kind)
    algorithm = getattr(importlib.import_module(f"rlox.algorithms.{kind}"), kind.upper())
    model = algorithm(env, seed=to.SEED, **OPTIONS[kind])
    returns: list[float] = []

    def train(steps: int) -> None:
        returns[:] = [model.train(steps)["mean_reward"]]
        model.learning_starts = 0  # each call would make its first steps without updates

    on_policy = model.collector  # off-policy it is None
    of_episodes = (lambda: on_policy.episode_rewards) if on_policy else lambda: returns
    return Training(train, of_episodes, ("rlox", "torch", "gymnasium"))
