#!/usr/bin/env python3
"""Training: environment steps per second of an agent, RLgraph against Stable-Baselines3.

One thread, equal hyper-parameters, equal networks. Every measurement is a process of its own; the processes alternate.
Processor time is counted, not the clock, so that a busy machine disturbs less.

dqn     CartPole-v1, one environment, an update of 64 transitions at every fourth step, two layers of 64; neither
        dueling nor double, which the other has not.
ppo     CartPole-v1, eight environments, rollouts of 128 steps, 4 epochs of 4 minibatches of 256, networks of 64-64 with
        tanh. ``by hand``: the same loop by `ppo_by_hand`, over the same environments. ``envpool``: EnvPool's CartPole.
a2c     CartPole-v1, eight environments, rollouts of 5 steps, networks of 64-64 with tanh.
sac     Pendulum-v1, one environment, an update of 256 transitions at every step, networks of 256-256.
td3     As sac; the noise on actions has a standard deviation of 0.1 of half their range.
qr_dqn  As dqn, with 50 quantiles; the other is sb3-contrib's.
"""

from __future__ import annotations

from typing import Any

from training import Comparison, Training, agent_training, compare, sb3_training

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


def qr_dqn(backend: str, compiled: bool) -> Training:
    return _trained(
        "CartPole-v1",
        backend,
        compiled,
        num_envs=1,
        type="qr_dqn",
        num_quantiles=QUANTILES,
        network_spec=[{"type": "dense", "units": 64, "activation": "relu"}] * 2,
        memory_spec={"capacity": 50_000},
        optimizer_spec={"learning_rate": 1e-3, "clip_grad_norm": 10.0},
        **Q_LEARNING,
    )


def ppo(backend: str, compiled: bool, vectorization: str = "auto") -> Training:
    return _trained(
        "CartPole-v1",
        backend,
        compiled,
        type="ppo",
        vectorization=vectorization,
        rollout_length=PPO_STEPS,
        num_epochs=PPO_EPOCHS,
        num_minibatches=PPO_MINIBATCHES,
        weight_entropy=PPO_ENTROPY,
        network_spec=TANH,
        optimizer_spec={"learning_rate": PPO_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    )


def ppo_envpool(backend: str, compiled: bool) -> Training:
    return ppo(backend, compiled, "envpool")


def ppo_by_hand(backend: str, compiled: bool) -> Training:
    from ppo_by_hand import ByHand

    loop = ByHand(backend, compiled, "auto", SEED)
    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(loop.learn, lambda: loop.returns, ("rlgraph-agents", framework, "gymnasium"))


def a2c(backend: str, compiled: bool) -> Training:
    return _trained(
        "CartPole-v1",
        backend,
        compiled,
        type="a2c",
        rollout_length=A2C_STEPS,
        weight_entropy=0.0,
        network_spec=TANH,
        optimizer_spec={"learning_rate": A2C_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
    )


def sac(backend: str, compiled: bool, kind: str = "sac") -> Training:
    return _trained(
        "Pendulum-v1",
        backend,
        compiled,
        num_envs=1,
        type=kind,
        network_spec=[{"type": "dense", "units": SAC_UNITS, "activation": "relu"}] * 2,
        memory_spec={"capacity": SAC_CAPACITY},
        optimizer_spec={"learning_rate": SAC_RATE},
        update_spec={"steps_before_update": SAC_START, "update_interval": 1, "batch_size": SAC_BATCH},
    )


def td3(backend: str, compiled: bool) -> Training:
    return sac(backend, compiled, "td3")


def _trained(
    env: str,
    backend: str,
    compiled: bool,
    num_envs: int = NUM_ENVIRONMENTS,
    vectorization: str = "auto",
    **spec: Any,
) -> Training:
    from rlgraph.agents import Agent

    execution = {"threads": 1, "compile": compiled}
    agent = Agent.from_spec(spec, env=env, backend=backend, execution_spec=execution, seed=SEED)
    return agent_training(agent, backend, env, num_envs=num_envs, vectorization=vectorization)


def sb3_dqn() -> Training:
    from stable_baselines3 import DQN

    return _sb3_dqn(DQN)


def sb3_qr_dqn() -> Training:
    from sb3_contrib import QRDQN

    return _sb3_dqn(QRDQN, n_quantiles=QUANTILES)


def _sb3_dqn(algorithm: Any, **architecture: Any) -> Training:
    return sb3_training(
        algorithm,
        "CartPole-v1",
        learning_rate=1e-3,
        buffer_size=50_000,
        learning_starts=1000,
        batch_size=64,
        gamma=0.99,
        train_freq=4,
        gradient_steps=1,
        target_update_interval=500,
        exploration_initial_eps=1.0,
        exploration_final_eps=0.05,
        exploration_fraction=0.2,
        max_grad_norm=10,
        policy_kwargs={"net_arch": [64, 64], **architecture},
        seed=SEED,
    )


def sb3_ppo() -> Training:
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    return sb3_training(
        PPO,
        make_vec_env("CartPole-v1", NUM_ENVIRONMENTS, seed=SEED),
        learning_rate=PPO_RATE,
        n_steps=PPO_STEPS,
        batch_size=NUM_ENVIRONMENTS * PPO_STEPS // PPO_MINIBATCHES,
        n_epochs=PPO_EPOCHS,
        gamma=0.99,
        gae_lambda=0.95,
        clip_range=0.2,
        ent_coef=PPO_ENTROPY,
        vf_coef=0.5,
        max_grad_norm=CLIP_NORM,
        seed=SEED,
    )


def sb3_a2c() -> Training:
    from stable_baselines3 import A2C
    from stable_baselines3.common.env_util import make_vec_env

    return sb3_training(
        A2C,
        make_vec_env("CartPole-v1", NUM_ENVIRONMENTS, seed=SEED),
        learning_rate=A2C_RATE,
        n_steps=A2C_STEPS,
        gamma=0.99,
        gae_lambda=1.0,
        ent_coef=0.0,
        vf_coef=0.5,
        max_grad_norm=CLIP_NORM,
        rms_prop_eps=EPSILON,
        seed=SEED,
    )


def sb3_sac() -> Training:
    from stable_baselines3 import SAC

    return _sb3_sac(SAC)


def sb3_td3() -> Training:
    import numpy as np
    from stable_baselines3 import TD3
    from stable_baselines3.common.noise import NormalActionNoise

    # Of actions of -1 to 1, which it scales.
    return _sb3_sac(TD3, action_noise=NormalActionNoise(np.zeros(1), np.full(1, 0.1)))


def _sb3_sac(algorithm: Any, **options: Any) -> Training:
    return sb3_training(
        algorithm,
        "Pendulum-v1",
        learning_rate=SAC_RATE,
        buffer_size=SAC_CAPACITY,
        learning_starts=SAC_START,
        batch_size=SAC_BATCH,
        tau=0.005,
        gamma=0.99,
        train_freq=1,
        gradient_steps=1,
        policy_kwargs={"net_arch": [SAC_UNITS, SAC_UNITS]},
        seed=SEED,
        **options,
    )


# Every program is compiled, and the memory filled, before the clock starts. Some have a target for the best way only.
COMPARISONS = {
    "dqn": Comparison(sb3_dqn, {"rlgraph": dqn}, (3.5, 9.0, None, 5.5), steps=20_000, warm_up=1_500),
    "ppo": Comparison(
        sb3_ppo,
        {"by hand": ppo_by_hand, "rlgraph": ppo, "envpool": ppo_envpool},
        (3.2, None, 3.2, 5.5),
        steps=51_200,
        warm_up=4_096,
    ),
    "a2c": Comparison(sb3_a2c, {"rlgraph": a2c}, (None, 6.0, None, None), steps=51_200, warm_up=4_096),
    "sac": Comparison(sb3_sac, {"rlgraph": sac}, (None, None, 2.4, None), steps=1_000, warm_up=200),
    "td3": Comparison(sb3_td3, {"rlgraph": td3}, (None, None, 2.4, None), steps=1_000, warm_up=200),
    "qr_dqn": Comparison(
        sb3_qr_dqn, {"rlgraph": qr_dqn}, (None, 2.4, None, None), steps=10_000, warm_up=1_500
    ),
}

if __name__ == "__main__":
    compare(__doc__, COMPARISONS)
