"""RLlib: its new API stack, sampler and learner in the driver's process, on Gymnasium 1.2.2.

What differs: Adam's epsilon is 1e-8; PPO adds a row to each episode, so that most rollouts take 17 updates. It has
neither A2C, TD3 nor QR-DQN. Processor time is that of the driver, without Ray's own processes.

Counted: parameters of SAC 67,330 and twice 67,329, of DQN 4,610, of PPO 9,155; an update at each step of SAC, at every
fourth of DQN.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH

#: The last two are of `distributed/executors`.
REQUIREMENTS = (
    TORCH,
    "ray[rllib]==2.60.0",
    "gymnasium==1.2.2",
    "ale-py==0.12.1",
    "opencv-python-headless==5.0.0.93",
)
PROBE = "import ray.rllib, ale_py, cv2"
#: Of ``config.training``; ``model``, ``fragment`` and ``explore`` apart.
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {
        "model": {
            "fcnet_hiddens": [to.UNITS, to.UNITS],
            "fcnet_activation": "relu",
            "head_fcnet_hiddens": [],
        },
        "fragment": to.DQN_INTERVAL,
        "lr": to.DQN_RATE,
        "train_batch_size_per_learner": to.DQN_BATCH,
        "replay_buffer_config": {"type": "EpisodeReplayBuffer", "capacity": to.DQN_CAPACITY},
        "num_steps_sampled_before_learning_starts": to.DQN_START,
        "target_network_update_freq": to.DQN_SYNC,
        "epsilon": [[0, to.EPSILON_FROM], [int(to.EPSILON_END * 20_000), to.EPSILON_TO]],
        "grad_clip": to.DQN_CLIP_NORM,
        "double_q": False,
        "dueling": False,
        "n_step": 1,
        "num_atoms": 1,
    },
    "ppo": {
        "model": {
            "fcnet_hiddens": [to.UNITS, to.UNITS],
            "fcnet_activation": "tanh",
            "vf_share_layers": False,
        },
        "fragment": to.PPO_STEPS,
        "lr": to.PPO_RATE,
        "train_batch_size_per_learner": to.PPO_STEPS * to.NUM_ENVIRONMENTS,
        "minibatch_size": to.PPO_BATCH,
        "num_epochs": to.PPO_EPOCHS,
        "lambda_": to.PPO_LAMBDA,
        "clip_param": to.PPO_CLIP,
        "entropy_coeff": to.PPO_ENTROPY,
        "vf_loss_coeff": to.VALUE_WEIGHT,
        "vf_clip_param": math.inf,
        "use_kl_loss": False,
        "grad_clip": to.CLIP_NORM,
    },
    "sac": {
        "model": {
            "fcnet_hiddens": [to.SAC_UNITS, to.SAC_UNITS],
            "fcnet_activation": "relu",
            "head_fcnet_hiddens": [],
        },
        "fragment": 1,
        "actor_lr": to.SAC_RATE,
        "critic_lr": to.SAC_RATE,
        "alpha_lr": to.SAC_RATE,
        "lr": None,
        "train_batch_size_per_learner": to.SAC_BATCH,
        "replay_buffer_config": {"type": "EpisodeReplayBuffer", "capacity": to.SAC_CAPACITY},
        "num_steps_sampled_before_learning_starts": to.SAC_START,
        "tau": to.SAC_TAU,
        "target_network_update_freq": 1,
        "n_step": 1,
    },
}
#: Steps of an iteration; every measurement is some of them.
ITERATION = {"dqn": 500, "ppo": to.PPO_STEPS * to.NUM_ENVIRONMENTS, "sac": 100}


def catalog() -> Any:
    """Builds the critics of SAC: its own have an encoder for actions beside that for states, 658,433 parameters."""
    import torch
    from ray.rllib.algorithms.sac.sac_catalog import SACCatalog
    from ray.rllib.core.models.configs import MLPEncoderConfig
    from ray.rllib.core.models.torch.encoder import TorchMLPEncoder

    class Critic(TorchMLPEncoder):  # type: ignore[misc]
        def _forward(self, inputs: Any, **options: Any) -> Any:
            return super()._forward({"obs": torch.cat((inputs["obs"], inputs["actions"]), dim=-1)}, **options)

    class Catalog(SACCatalog):  # type: ignore[misc]
        def _build_qf_encoder_continuous(self, framework: str) -> Any:
            sizes = {"hidden_layer_dims": [to.SAC_UNITS], "output_layer_dim": to.SAC_UNITS}
            activations = {"hidden_layer_activation": "relu", "output_layer_activation": "relu"}
            return Critic(MLPEncoderConfig(input_dims=(4,), **sizes, **activations))

    return Catalog


def training(kind: str) -> Training:
    import ray
    import torch
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    torch.set_num_threads(1)
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    options = dict(OPTIONS[kind])
    model, fragment = options.pop("model"), options.pop("fragment")
    env, num_envs = to.task_of(kind)
    catalog_class = catalog() if kind == "sac" else None
    config = getattr(importlib.import_module(f"ray.rllib.algorithms.{kind}"), f"{kind.upper()}Config")()
    config = (
        config.environment(env)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs, rollout_fragment_length=fragment)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(model_config=model, catalog_class=catalog_class))
        .training(gamma=to.DISCOUNT, **options)
        .reporting(min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=ITERATION[kind])
        .debugging(seed=to.SEED)
    )
    algorithm = config.build_algo()
    returns: list[float] = []

    def train(steps: int) -> None:
        trained = 0
        while trained < steps:
            found = algorithm.train()["env_runners"]
            trained += int(found["num_env_steps_sampled"])
            mean = found.get("episode_return_mean", math.nan)
            returns[:] = [] if math.isnan(mean) else [mean]

    return Training(train, lambda: returns, ("ray", "torch", "gymnasium"))
