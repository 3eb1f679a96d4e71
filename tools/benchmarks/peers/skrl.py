"""skrl, on PyTorch and Gymnasium's environments; networks are written by hand there, these are ours.

What differs: DQN has the squared error and no limit on gradients; SAC draws normal numbers, cut to the actions' range,
without tanh; A2C has Adam and normalized advantages; Adam's epsilon is 1e-8; the end of time is not bootstrapped. It
has no QR-DQN.

Counted: parameters of SAC 67,330 and 134,658, of TD3's actor 67,073, of DQN 4,610, of PPO and A2C 9,155 together; an
update at each step of SAC and TD3, of TD3's actor at every second, of DQN at every fourth, 16 to a rollout of PPO, one
of A2C. Every call of a trainer makes its first steps without updates; here the first alone does.
"""

from __future__ import annotations

import importlib
from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH, recorded

REQUIREMENTS = (TORCH, "skrl==2.1.1", "gymnasium==1.4.0", "numpy==2.4.6")
PROBE = "import skrl.agents.torch.sac"
_OFF_POLICY: dict[str, Any] = {
    "gradient_steps": 1,
    "batch_size": to.SAC_BATCH,
    "polyak": to.SAC_TAU,
    "learning_rate": to.SAC_RATE,
    "random_timesteps": to.SAC_START,
    "learning_starts": to.SAC_START,
}
#: The configuration of an agent, ``memory`` apart.
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {
        "memory": to.DQN_CAPACITY,
        "gradient_steps": 1,
        "batch_size": to.DQN_BATCH,
        "polyak": 1.0,
        "learning_rate": to.DQN_RATE,
        "random_timesteps": to.DQN_START,
        "learning_starts": to.DQN_START,
        "update_interval": to.DQN_INTERVAL,
        "target_update_interval": to.DQN_SYNC // to.DQN_INTERVAL,  # of updates
    },
    "ppo": {
        "memory": to.PPO_STEPS,
        "rollouts": to.PPO_STEPS,
        "learning_epochs": to.PPO_EPOCHS,
        "mini_batches": to.PPO_MINIBATCHES,
        "gae_lambda": to.PPO_LAMBDA,
        "learning_rate": to.PPO_RATE,
        "grad_norm_clip": to.CLIP_NORM,
        "ratio_clip": to.PPO_CLIP,
        "value_clip": 0.0,
        "entropy_loss_scale": to.PPO_ENTROPY,
        "value_loss_scale": to.VALUE_WEIGHT,
    },
    "a2c": {
        "memory": to.A2C_STEPS,
        "rollouts": to.A2C_STEPS,
        "mini_batches": 1,
        "gae_lambda": 1.0,
        "learning_rate": to.A2C_RATE,
        "grad_norm_clip": to.CLIP_NORM,
        "entropy_loss_scale": 0.0,
    },
    "sac": {"memory": to.SAC_CAPACITY, **_OFF_POLICY, "initial_entropy_value": 1.0},
    "td3": {  # noise in units of actions, which are of -2 to 2
        "memory": to.SAC_CAPACITY,
        **_OFF_POLICY,
        "policy_delay": to.TD3_DELAY,
        "smooth_regularization_clip": 2.0 * to.TD3_NOISE_LIMIT,
    },
}


def epsilon(step: int, steps: int) -> float:
    """The exploration of DQN."""
    share = min(step / max(to.EPSILON_END * steps, 1.0), 1.0)
    return to.EPSILON_FROM + share * (to.EPSILON_TO - to.EPSILON_FROM)


def models_of(kind: str, env: Any) -> dict[str, Any]:
    """The networks of an agent, by their roles."""
    import torch
    from skrl.models.torch import CategoricalMixin, DeterministicMixin, GaussianMixin, Model

    units, activation = (to.SAC_UNITS, torch.nn.ReLU) if kind in ("sac", "td3") else (to.UNITS, torch.nn.Tanh)
    activation = torch.nn.ReLU if kind == "dqn" else activation
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}

    def network(mixin: Any, outputs: int, last: Any, with_actions: bool = False, **options: Any) -> Any:
        class Network(mixin, Model):  # type: ignore[misc]
            def __init__(self) -> None:
                Model.__init__(self, **spaces)
                mixin.__init__(self, **options)
                inputs = self.num_observations + with_actions * self.num_actions
                layers = (
                    torch.nn.Linear(inputs, units),
                    activation(),
                    torch.nn.Linear(units, units),
                    activation(),
                )
                self.layers = torch.nn.Sequential(*layers, torch.nn.Linear(units, outputs))

            def compute(self, inputs: Any, role: str = "") -> Any:
                taken = (inputs["taken_actions"],) if with_actions else ()
                return last(self.layers(torch.cat((inputs["observations"], *taken), dim=1)))

        return Network()

    def plain(output: Any) -> Any:
        return output, {}

    def gaussian(output: Any) -> Any:
        mean, log_std = output.chunk(2, dim=1)
        return 2.0 * mean.tanh(), {"log_std": log_std}

    if kind == "dqn":
        return {role: network(DeterministicMixin, 2, plain) for role in ("q_network", "target_q_network")}
    if kind in ("ppo", "a2c"):
        return {"policy": network(CategoricalMixin, 2, plain), "value": network(DeterministicMixin, 1, plain)}
    critics = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
    models = {role: network(DeterministicMixin, 1, plain, with_actions=True) for role in critics}
    if kind == "sac":
        return {"policy": network(GaussianMixin, 2, gaussian, clip_actions=True), **models}
    policies = ("policy", "target_policy")
    return {
        role: network(DeterministicMixin, 1, lambda x: (2.0 * x.tanh(), {})) for role in policies
    } | models


def training(kind: str) -> Training:
    import torch
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.memories.torch import RandomMemory
    from skrl.resources.noises.torch import GaussianNoise
    from skrl.trainers.torch import SequentialTrainer
    from skrl.utils import set_seed

    torch.set_num_threads(1)
    set_seed(to.SEED)
    made, returns = recorded(kind)
    env = wrap_env(made, wrapper="gymnasium")
    quiet = {"write_interval": 0, "checkpoint_interval": 0}
    options = {"discount_factor": to.DISCOUNT, "experiment": quiet, **OPTIONS[kind]}
    replacement, size = kind not in ("ppo", "a2c"), options.pop("memory")
    memory = RandomMemory(memory_size=size, num_envs=env.num_envs, device="cpu", replacement=replacement)
    if kind == "dqn":
        options["exploration_scheduler"] = epsilon
    elif kind == "td3":
        for name, deviation in (
            ("exploration", to.TD3_NOISE),
            ("smooth_regularization", to.TD3_TARGET_NOISE),
        ):
            options[f"{name}_noise"] = GaussianNoise
            options[f"{name}_noise_kwargs"] = {"mean": 0.0, "std": 2.0 * deviation}
    agent = getattr(importlib.import_module(f"skrl.agents.torch.{kind}"), kind.upper())(
        models=models_of(kind, env),
        memory=memory,
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
        cfg=options,
    )
    trainer = SequentialTrainer(env=env, agents=agent, cfg={"headless": True, "disable_progressbar": True})

    def train(steps: int) -> None:
        trainer.cfg.timesteps = steps // env.num_envs
        trainer.train()
        if kind not in ("ppo", "a2c"):  # each call would make its first steps without updates
            agent.cfg.random_timesteps = agent.cfg.learning_starts = 0

    return Training(train, lambda: returns, ("skrl", "torch", "gymnasium"))
