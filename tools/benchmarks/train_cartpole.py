#!/usr/bin/env python3
"""Training: environment steps per second of DQN on CartPole-v1, RLgraph against Stable-Baselines3.

One environment, one thread, an update of 64 transitions at every fourth step, equal hyper-parameters, the same network;
neither dueling nor double, which the other has not. Every measurement is a process of its own; the processes alternate.
Processor time is counted, not the clock, so that a busy machine disturbs less.
"""

from __future__ import annotations

from training import Training, agent_training, compare, sb3_training

#: Times SB3, where there is a target.
TARGETS = {
    "sb3": None,
    "rlgraph torch": 2.8,
    "rlgraph torch compiled": 8.0,
    "rlgraph tf": None,
    "rlgraph tf compiled": 6.5,
}
SEED = 1


def make(subject: str) -> Training:
    if subject == "sb3":
        return sb3()
    _, backend, *compiled = subject.split()
    return rlgraph(backend, bool(compiled))


def rlgraph(backend: str, compiled: bool) -> Training:
    if backend == "torch":
        import torch

        torch.set_num_threads(1)
    from subject import make_agent

    agent = make_agent(
        backend,
        double_q=False,
        dueling_q=False,
        exploration_spec={"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.05, "end": 0.2}},
        update_spec={
            "steps_before_update": 1000,
            "update_interval": 4,
            "update_steps": 1,
            "batch_size": 64,
            "sync_interval": 500,
        },
        execution_spec={"threads": 1, "compile": ["update_from_memory"] if compiled else False},
        seed=SEED,
    )
    return agent_training(agent, backend)


def sb3() -> Training:
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
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
        policy_kwargs={"net_arch": [64, 64]},
        seed=SEED,
        device="cpu",
    )
    return sb3_training(model)


if __name__ == "__main__":
    # The memory is filled and every program compiled before the clock starts.
    compare("train_cartpole", __doc__, make, TARGETS, steps=20_000, warm_up=1_500)
