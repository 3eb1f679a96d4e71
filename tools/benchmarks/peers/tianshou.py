"""Tianshou, by its trainers, on Gymnasium's environments one after the other.

What differs: DQN and QR-DQN have no limit on gradients; Adam's epsilon is 1e-8 but for PPO; each critic of SAC and TD3
has an optimizer; the trainer looks for NaN in the whole memory after each collection.

Counted: parameters of SAC 67,330 and twice 67,329, of TD3's actor 67,073, of DQN 4,610, of QR-DQN 10,980, of PPO and
A2C 9,155; an update at each step of SAC and TD3, of TD3's actor at every second, of DQN and QR-DQN at every fourth, 16
to a rollout of PPO, one of A2C.
"""

from __future__ import annotations

from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH

REQUIREMENTS = (TORCH, "tianshou==2.0.1", "gymnasium==1.4.0", "numpy==2.4.6")
PROBE = "import tianshou.algorithm"
_DQN: dict[str, Any] = {
    "rate": to.DQN_RATE,
    "capacity": to.DQN_CAPACITY,
    "start": to.DQN_START,
    "trainer": {
        "batch_size": to.DQN_BATCH,
        "collection_step_num_env_steps": to.DQN_INTERVAL,
        "update_step_num_gradient_steps_per_sample": 1 / to.DQN_INTERVAL,
    },
}
_SYNC = {"target_update_freq": to.DQN_SYNC // to.DQN_INTERVAL}  # of updates
_SAC: dict[str, Any] = {
    "rate": to.SAC_RATE,
    "capacity": to.SAC_CAPACITY,
    "start": to.SAC_START,
    "trainer": {
        "batch_size": to.SAC_BATCH,
        "collection_step_num_env_steps": 1,
        "update_step_num_gradient_steps_per_sample": 1.0,
    },
}
_ACTOR_CRITIC = {"vf_coef": to.VALUE_WEIGHT, "max_grad_norm": to.CLIP_NORM}
#: ``trainer`` are options of the trainer, ``algorithm`` of the algorithm.
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {**_DQN, "algorithm": {**_SYNC, "is_double": False, "huber_loss_delta": 1.0}},
    "qr_dqn": {**_DQN, "algorithm": {**_SYNC, "num_quantiles": to.QUANTILES}},
    "ppo": {
        "rate": to.PPO_RATE,
        "capacity": to.PPO_STEPS * to.NUM_ENVIRONMENTS,
        "trainer": {
            "batch_size": to.PPO_BATCH,
            "collection_step_num_env_steps": to.PPO_STEPS * to.NUM_ENVIRONMENTS,
            "update_step_num_repetitions": to.PPO_EPOCHS,
        },
        "algorithm": {
            "gae_lambda": to.PPO_LAMBDA,
            "eps_clip": to.PPO_CLIP,
            "ent_coef": to.PPO_ENTROPY,
            **_ACTOR_CRITIC,
        },
    },
    "a2c": {
        "rate": to.A2C_RATE,
        "capacity": to.A2C_STEPS * to.NUM_ENVIRONMENTS,
        "trainer": {
            "batch_size": None,
            "collection_step_num_env_steps": to.A2C_STEPS * to.NUM_ENVIRONMENTS,
            "update_step_num_repetitions": 1,
        },
        "algorithm": {"gae_lambda": 1.0, "ent_coef": 0.0, **_ACTOR_CRITIC},
    },
    "sac": {**_SAC, "algorithm": {"tau": to.SAC_TAU}},
    "td3": {
        **_SAC,
        "algorithm": {
            "tau": to.SAC_TAU,
            "policy_noise": to.TD3_TARGET_NOISE,
            "noise_clip": to.TD3_NOISE_LIMIT,
            "update_actor_freq": to.TD3_DELAY,
        },
    },
}


def algorithm_of(kind: str, spaces: dict[str, Any], size: int) -> Any:
    """An algorithm with its networks; `size` of observations."""
    from tianshou import algorithm as of
    from tianshou.algorithm.modelfree import ddpg, dqn, qrdqn, reinforce, sac
    from tianshou.algorithm.optim import AdamOptimizerFactory, RMSpropOptimizerFactory
    from tianshou.exploration import GaussianNoise
    from tianshou.utils.net import continuous, discrete
    from tianshou.utils.net.common import Net
    from torch.nn import ReLU, Tanh

    options = {"gamma": to.DISCOUNT, **OPTIONS[kind]["algorithm"]}
    rate = OPTIONS[kind]["rate"]

    def net(**more: Any) -> Any:
        units = to.SAC_UNITS if kind in ("sac", "td3") else to.UNITS
        activation = Tanh if kind in ("ppo", "a2c") else ReLU
        return Net(state_shape=size, hidden_sizes=(units, units), activation=activation, **more)

    def adam(**more: Any) -> Any:
        return AdamOptimizerFactory(lr=rate, **more)

    if kind in ("dqn", "qr_dqn"):
        atoms = to.QUANTILES if kind == "qr_dqn" else 1
        policy: Any = qrdqn.QRDQNPolicy if kind == "qr_dqn" else dqn.DiscreteQLearningPolicy
        make = of.QRDQN if kind == "qr_dqn" else of.DQN
        model = net(action_shape=2, num_atoms=atoms)
        return make(policy=policy(model=model, **spaces), optim=adam(), **options)
    if kind in ("ppo", "a2c"):
        actor = discrete.DiscreteActor(preprocess_net=net(), action_shape=2, softmax_output=False)
        critic = discrete.DiscreteCritic(preprocess_net=net())
        policy = reinforce.DiscreteActorPolicy(actor=actor, **spaces)
        optimizer = (
            adam(eps=to.EPSILON) if kind == "ppo" else RMSpropOptimizerFactory(lr=rate, eps=to.EPSILON)
        )
        return getattr(of, kind.upper())(policy=policy, critic=critic, optim=optimizer, **options)
    critics = [continuous.ContinuousCritic(preprocess_net=net(action_shape=1, concat=True)) for _ in range(2)]
    both = {"critic": critics[0], "critic2": critics[1], "policy_optim": adam(), "critic_optim": adam()}
    if kind == "sac":
        actor = continuous.ContinuousActorProbabilistic(
            preprocess_net=net(), action_shape=1, unbounded=True, conditioned_sigma=True
        )
        alpha = sac.AutoAlpha(-1.0, 0.0, adam())
        return of.SAC(policy=sac.SACPolicy(actor=actor, **spaces), alpha=alpha, **both, **options)
    actor = continuous.ContinuousActorDeterministic(preprocess_net=net(), action_shape=1, max_action=1.0)
    noise = GaussianNoise(sigma=to.TD3_NOISE)
    policy = ddpg.ContinuousDeterministicPolicy(actor=actor, exploration_noise=noise, **spaces)
    return of.TD3(policy=policy, **both, **options)


def training(kind: str) -> Training:
    import gymnasium
    import torch
    from gymnasium.wrappers import RecordEpisodeStatistics
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams

    torch.set_num_threads(1)
    torch.manual_seed(to.SEED)
    name, num_envs = to.task_of(kind)
    options, on_policy = OPTIONS[kind], kind in ("ppo", "a2c")
    made = [RecordEpisodeStatistics(gymnasium.make(name)) for _ in range(num_envs)]
    env = DummyVectorEnv([lambda each=each: each for each in made])
    env.seed(to.SEED)
    spaces = {"action_space": made[0].action_space, "observation_space": made[0].observation_space}
    algorithm = algorithm_of(kind, spaces, made[0].observation_space.shape[0])
    buffer = VectorReplayBuffer(options["capacity"], num_envs)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    collector.reset()
    if not on_policy:
        collector.collect(n_step=options["start"], random=True)
    parameters: Any = OnPolicyTrainerParams if on_policy else OffPolicyTrainerParams

    def train(steps: int) -> None:
        def explore(_: int, step: int) -> None:
            share = min(step / (to.EPSILON_END * steps), 1.0)
            algorithm.policy.set_eps_training(to.EPSILON_FROM + share * (to.EPSILON_TO - to.EPSILON_FROM))

        given = {
            "training_collector": collector,
            "training_fn": explore if kind in ("dqn", "qr_dqn") else None,
            "max_epochs": 1,
            "epoch_num_steps": steps,
            "show_progress": False,
            "verbose": False,
        }
        algorithm.run_training(parameters(**given, **options["trainer"]))

    def returns() -> list[float]:
        return [value for each in made for value in each.return_queue]

    return Training(train, returns, ("tianshou", "torch", "gymnasium"))
