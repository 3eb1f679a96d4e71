#!/usr/bin/env python3
"""Training: environment steps per second of PPO on CartPole-v1, RLgraph against Stable-Baselines3.

Eight environments, one thread, rollouts of 128 steps, 4 epochs of 4 minibatches of 256, equal hyper-parameters, and
networks of 64-64 with tanh. ``by hand``: the same loop by `ppo_by_hand`, over the same environments. Every
measurement is a process of its own; the processes alternate. Processor time is counted, not the clock, so that a busy
machine disturbs less.
"""

from __future__ import annotations

from training import Training, agent_training, compare, sb3_training

#: Times SB3, where there is a target.
TARGETS = {
    "sb3": None,
    **{
        f"{whose} {backend}{how}": target if whose == "rlgraph" else None
        for backend, target, compiled in (("torch", 3.2, None), ("tf", 3.2, 5.5))
        for how, target in (("", target), (" compiled", compiled))
        for whose in ("by hand", "rlgraph")
    },
}
NUM_ENVIRONMENTS, STEPS, EPOCHS, MINIBATCHES = 8, 128, 4, 4
LEARNING_RATE, EPSILON, CLIP_NORM = 3e-4, 1e-5, 0.5
WEIGHT_ENTROPY, SEED = 0.01, 1


def make(subject: str) -> Training:
    if subject == "sb3":
        return sb3()
    *whose, backend = subject.removesuffix(" compiled").split()
    compiled = subject.endswith(" compiled")
    return by_hand(backend, compiled) if whose == ["by", "hand"] else rlgraph(backend, compiled)


def rlgraph(backend: str, compiled: bool) -> Training:
    if backend == "torch":
        import torch

        torch.set_num_threads(1)
    from rlgraph.agents.ppo import PPOAgent
    from rlgraph.spaces import FloatBox, IntBox

    agent = PPOAgent(
        FloatBox(shape=(4,)),
        IntBox(2),
        backend=backend,
        rollout_length=STEPS,
        num_epochs=EPOCHS,
        num_minibatches=MINIBATCHES,
        weight_entropy=WEIGHT_ENTROPY,
        network_spec=[{"type": "dense", "units": 64, "activation": "tanh"}] * 2,
        optimizer_spec={"learning_rate": LEARNING_RATE, "epsilon": EPSILON, "clip_grad_norm": CLIP_NORM},
        execution_spec={"threads": 1, "compile": compiled},
        seed=SEED,
    )
    return agent_training(agent, backend, num_envs=NUM_ENVIRONMENTS)


def by_hand(backend: str, compiled: bool) -> Training:
    from ppo_by_hand import ByHand

    loop = ByHand(backend, compiled, "auto", SEED)
    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(loop.learn, lambda: loop.returns, ("rlgraph-agents", framework, "gymnasium"))


def sb3() -> Training:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", NUM_ENVIRONMENTS, seed=SEED),
        learning_rate=LEARNING_RATE,
        n_steps=STEPS,
        batch_size=NUM_ENVIRONMENTS * STEPS // MINIBATCHES,
        n_epochs=EPOCHS,
        gamma=0.99,
        gae_lambda=0.95,
        clip_range=0.2,
        ent_coef=WEIGHT_ENTROPY,
        vf_coef=0.5,
        max_grad_norm=CLIP_NORM,
        seed=SEED,
        device="cpu",
    )
    return sb3_training(model)


if __name__ == "__main__":
    compare("train_ppo", __doc__, make, TARGETS, steps=51_200, warm_up=4_096)
