"""What agents are trained with in `micro/train`: ours, and those of other libraries (`peers/`)."""

from __future__ import annotations

from typing import Any

SEED, DISCOUNT = 1, 0.99
#: Of DQN and QR-DQN: two layers of 64, an update at every fourth step.
DQN_RATE, DQN_BATCH, DQN_CAPACITY, DQN_CLIP_NORM, DQN_START, DQN_INTERVAL = 1e-3, 64, 50_000, 10.0, 1_000, 4
DQN_SYNC, EPSILON_FROM, EPSILON_TO, EPSILON_END, QUANTILES = 500, 1.0, 0.05, 0.2, 50
#: Of PPO and A2C: two layers of 64.
UNITS, NUM_ENVIRONMENTS, CLIP_NORM, EPSILON = 64, 8, 0.5, 1e-5
PPO_STEPS, PPO_EPOCHS, PPO_MINIBATCHES, PPO_RATE, PPO_ENTROPY = 128, 4, 4, 3e-4, 0.01
PPO_BATCH, PPO_LAMBDA, PPO_CLIP, VALUE_WEIGHT = (
    NUM_ENVIRONMENTS * PPO_STEPS // PPO_MINIBATCHES,
    0.95,
    0.2,
    0.5,
)
A2C_STEPS, A2C_RATE = 5, 7e-4
#: Of SAC and TD3: two layers of 256, an update at every step; noise in parts of half the actions' range.
SAC_UNITS, SAC_RATE, SAC_BATCH, SAC_START, SAC_CAPACITY, SAC_TAU = 256, 3e-4, 256, 100, 50_000, 0.005
TD3_NOISE, TD3_TARGET_NOISE, TD3_NOISE_LIMIT, TD3_DELAY = 0.1, 0.2, 0.5, 2

Q_LEARNING: dict[str, Any] = {
    "exploration_spec": {
        "epsilon_spec": {
            "type": "linear_decay",
            "from": EPSILON_FROM,
            "to": EPSILON_TO,
            "end": EPSILON_END,
        }
    },
    "update_spec": {
        "steps_before_update": DQN_START,
        "update_interval": DQN_INTERVAL,
        "update_steps": 1,
        "batch_size": DQN_BATCH,
    },
    "sync_interval": DQN_SYNC,
}
_TANH = [{"type": "dense", "units": UNITS, "activation": "tanh"}] * 2
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
        "network_spec": [{"type": "dense", "units": UNITS, "activation": "relu"}] * 2,
        "memory_spec": {"capacity": DQN_CAPACITY},
        "optimizer_spec": {"learning_rate": DQN_RATE, "clip_grad_norm": DQN_CLIP_NORM},
        **Q_LEARNING,
    },
    "ppo": {
        "rollout_length": PPO_STEPS,
        "num_epochs": PPO_EPOCHS,
        "num_minibatches": PPO_MINIBATCHES,
        "weight_entropy": PPO_ENTROPY,
        "network_spec": _TANH,
        "optimizer_spec": {"learning_rate": PPO_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    },
    "a2c": {
        "rollout_length": A2C_STEPS,
        "weight_entropy": 0.0,
        "network_spec": _TANH,
        "optimizer_spec": {"learning_rate": A2C_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    },
    "sac": _SAC,
    "td3": _SAC,
}


def task_of(kind: str) -> tuple[str, int]:
    """The environment that an agent learns in, and how many of it."""
    env = "Pendulum-v1" if kind in ("sac", "td3") else "CartPole-v1"
    return env, NUM_ENVIRONMENTS if kind in ("ppo", "a2c") else 1
