"""Training: environment steps per second of an agent, RLgraph against Stable-Baselines3.

One thread, equal hyper-parameters, equal networks. Every measurement is a process of its own; the processes alternate.
Processor time is counted, not the clock, so that a busy machine disturbs less.

dqn     CartPole-v1, one environment, an update of 64 transitions at every fourth step, two layers of 64; neither
        dueling nor double, which the other has not.
ppo     CartPole-v1, eight environments, rollouts of 128 steps, 4 epochs of 4 minibatches of 256, networks of 64-64 with
        tanh. ``by hand``: the same loop by `by_hand/ppo_loop.py`, over the same
        environments. ``envpool``: EnvPool's CartPole.
a2c     CartPole-v1, eight environments, rollouts of 5 steps, networks of 64-64 with tanh.
sac     Pendulum-v1, one environment, an update of 256 transitions at every step, networks of 256-256.
td3     As sac; the noise on actions has a standard deviation of 0.1 of half their range.
qr_dqn  As dqn, with 50 quantiles; the other is sb3-contrib's.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from micro.training import Comparison, Training, agent_training, compare, sb3_training

SEED = 1
#: Of PPO and A2C.
NUM_ENVIRONMENTS, CLIP_NORM, EPSILON = 8, 0.5, 1e-5
PPO_STEPS, PPO_EPOCHS, PPO_MINIBATCHES, PPO_RATE, PPO_ENTROPY = 128, 4, 4, 3e-4, 0.01
A2C_STEPS, A2C_RATE = 5, 7e-4
QUANTILES = 50
SAC_UNITS, SAC_RATE, SAC_BATCH, SAC_START, SAC_CAPACITY = 256, 3e-4, 256, 100, 50_000
#: Of DQN and QR-DQN.
Q_LEARNING: dict[str, Any] = {
    "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.05, "end": 0.2}},
    "update_spec": {"steps_before_update": 1000, "update_interval": 4, "update_steps": 1, "batch_size": 64},
    "sync_interval": 500,
}
TANH = [{"type": "dense", "units": 64, "activation": "tanh"}] * 2


def dqn(backend: str, compiled: bool) -> Training:
    from subject import make_agent

    agent = make_agent(
        backend,
        double_q=False,
        dueling_q=False,
        execution_spec={"threads": 1, "compile": ["update_from_memory"] if compiled else False},
        seed=SEED,
        **Q_LEARNING,
    )
    return agent_training(agent, backend, "CartPole-v1")


def ppo_by_hand(backend: str, compiled: bool) -> Training:
    from by_hand.ppo_loop import ByHand

    loop = ByHand(backend, compiled, "auto", SEED)
    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(loop.learn, lambda: loop.returns, ("rlgraph-agents", framework, "gymnasium"))


_SAC: dict[str, Any] = {
    "network_spec": [{"type": "dense", "units": SAC_UNITS, "activation": "relu"}] * 2,
    "memory_spec": {"capacity": SAC_CAPACITY},
    "optimizer_spec": {"learning_rate": SAC_RATE},
    "update_spec": {"steps_before_update": SAC_START, "update_interval": 1, "batch_size": SAC_BATCH},
}
#: Agent -> its options.
AGENTS: dict[str, dict[str, Any]] = {
    "qr_dqn": {
        "num_quantiles": QUANTILES,
        "network_spec": [{"type": "dense", "units": 64, "activation": "relu"}] * 2,
        "memory_spec": {"capacity": 50_000},
        "optimizer_spec": {"learning_rate": 1e-3, "clip_grad_norm": 10.0},
        **Q_LEARNING,
    },
    "ppo": {
        "rollout_length": PPO_STEPS,
        "num_epochs": PPO_EPOCHS,
        "num_minibatches": PPO_MINIBATCHES,
        "weight_entropy": PPO_ENTROPY,
        "network_spec": TANH,
        "optimizer_spec": {"learning_rate": PPO_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    },
    "a2c": {
        "rollout_length": A2C_STEPS,
        "weight_entropy": 0.0,
        "network_spec": TANH,
        "optimizer_spec": {"learning_rate": A2C_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    },
    "sac": _SAC,
    "td3": _SAC,
}


def task_of(kind: str) -> tuple[str, int]:
    """The environment that an agent learns in, and how many of it."""
    env = "Pendulum-v1" if kind in ("sac", "td3") else "CartPole-v1"
    return env, NUM_ENVIRONMENTS if kind in ("ppo", "a2c") else 1


def ours(kind: str, backend: str, compiled: bool, vectorization: str = "auto") -> Training:
    from rlgraph.agents import Agent

    env, num_envs = task_of(kind)
    execution, spec = {"threads": 1, "compile": compiled}, {"type": kind, **AGENTS[kind]}
    agent = Agent.from_spec(spec, env=env, backend=backend, execution_spec=execution, seed=SEED)
    return agent_training(agent, backend, env, num_envs=num_envs, vectorization=vectorization)


# Stable-Baselines3.

_SB3_DQN: dict[str, Any] = {
    "learning_rate": 1e-3,
    "buffer_size": 50_000,
    "learning_starts": 1000,
    "batch_size": 64,
    "train_freq": 4,
    "gradient_steps": 1,
    "target_update_interval": 500,
    "exploration_initial_eps": 1.0,
    "exploration_final_eps": 0.05,
    "exploration_fraction": 0.2,
    "max_grad_norm": 10,
    "policy_kwargs": {"net_arch": [64, 64]},
}
_SB3_ACTOR_CRITIC = {"vf_coef": 0.5, "max_grad_norm": CLIP_NORM}
_SB3_SAC: dict[str, Any] = {
    "learning_rate": SAC_RATE,
    "buffer_size": SAC_CAPACITY,
    "learning_starts": SAC_START,
    "batch_size": SAC_BATCH,
    "tau": 0.005,
    "train_freq": 1,
    "gradient_steps": 1,
    "policy_kwargs": {"net_arch": [SAC_UNITS, SAC_UNITS]},
}
SB3: dict[str, dict[str, Any]] = {
    "dqn": _SB3_DQN,
    "qr_dqn": {**_SB3_DQN, "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": QUANTILES}},
    "ppo": {
        "learning_rate": PPO_RATE,
        "n_steps": PPO_STEPS,
        "batch_size": NUM_ENVIRONMENTS * PPO_STEPS // PPO_MINIBATCHES,
        "n_epochs": PPO_EPOCHS,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "ent_coef": PPO_ENTROPY,
        **_SB3_ACTOR_CRITIC,
    },
    "a2c": {
        "learning_rate": A2C_RATE,
        "n_steps": A2C_STEPS,
        "gae_lambda": 1.0,
        "ent_coef": 0.0,
        "rms_prop_eps": EPSILON,
        **_SB3_ACTOR_CRITIC,
    },
    "sac": _SB3_SAC,
    "td3": _SB3_SAC,
}


def sb3(kind: str) -> Training:
    """An algorithm of Stable-Baselines3, or of sb3-contrib."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.noise import NormalActionNoise

    module = import_module("sb3_contrib" if kind == "qr_dqn" else "stable_baselines3")
    (env, num_envs), options = task_of(kind), SB3[kind]
    if kind == "td3":  # noise on actions of -1 to 1, which it scales
        options = {**options, "action_noise": NormalActionNoise(np.zeros(1), np.full(1, 0.1))}
    algorithm = getattr(module, kind.replace("_", "").upper())
    made = make_vec_env(env, num_envs, seed=SEED) if num_envs > 1 else env
    return sb3_training(algorithm, made, gamma=0.99, seed=SEED, **options)


def against_sb3(
    kind: str, targets: tuple[float | None, ...], steps: int, warm_up: int, **others: Any
) -> Comparison:
    """A comparison with further subjects of ours."""
    return Comparison(partial(sb3, kind), {"rlgraph": partial(ours, kind), **others}, targets, steps, warm_up)


# Every program is compiled, and the memory filled, before the clock starts. Some have a target for the best way only.
PPO_OTHERS = {"by hand": ppo_by_hand, "envpool": partial(ours, "ppo", vectorization="envpool")}
COMPARISONS = {
    "dqn": against_sb3("dqn", (3.5, 9.0, None, 5.5), 20_000, 1_500, rlgraph=dqn),
    "ppo": against_sb3("ppo", (3.2, None, 3.2, 5.5), 51_200, 4_096, **PPO_OTHERS),
    "a2c": against_sb3("a2c", (None, 6.0, None, None), 51_200, 4_096),
    "sac": against_sb3("sac", (None, None, 2.4, None), 1_000, 200),
    "td3": against_sb3("td3", (None, None, 2.4, None), 1_000, 200),
    "qr_dqn": against_sb3("qr_dqn", (None, 2.4, None, None), 10_000, 1_500),
}


def main() -> None:
    compare(__doc__, COMPARISONS)
