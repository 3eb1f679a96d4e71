"""RLlib's side of `executors`: the new API stack, in an environment of its own.

What is not said here is RLlib's default; the learner is in the driver's process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import settings
from distributed.settings import APEX, NUM_ENVIRONMENTS, Apex, Subject

DENSE: dict[str, Any] = {"fcnet_hiddens": [settings.UNITS, settings.UNITS], "fcnet_activation": "tanh"}
PICTURES: dict[str, Any] = {
    "conv_filters": [[*convolution, "valid"] for convolution in settings.CONVOLUTIONS],
    "conv_activation": "relu",
    "head_fcnet_hiddens": [settings.CONVOLUTION_UNITS],
    "head_fcnet_activation": "relu",
}


def impala(samplers: int) -> Subject:
    from ray.rllib.algorithms.impala import IMPALAConfig

    return _actor_critic(
        _sampled(IMPALAConfig(), "CartPole-v1", samplers, NUM_ENVIRONMENTS, settings.IMPALA_STEPS),
        train_batch_size_per_learner=settings.IMPALA_STEPS * NUM_ENVIRONMENTS * settings.IMPALA_FRAGMENTS,
        lr=settings.IMPALA_RATE,
        grad_clip=settings.IMPALA_CLIP_NORM,
    )


def ppo(samplers: int) -> Subject:
    from ray.rllib.algorithms.ppo import PPOConfig

    batch = settings.PPO_STEPS * NUM_ENVIRONMENTS * samplers
    return _actor_critic(
        _sampled(PPOConfig(), "CartPole-v1", samplers, NUM_ENVIRONMENTS, settings.PPO_STEPS),
        train_batch_size_per_learner=batch,
        minibatch_size=batch // settings.PPO_MINIBATCHES,
        num_epochs=settings.PPO_EPOCHS,
        lr=settings.PPO_RATE,
        grad_clip=settings.PPO_CLIP_NORM,
    )


def _actor_critic(config: Any, **options: Any) -> Subject:
    config = config.rl_module(model_config={**DENSE, "vf_share_layers": False}).training(
        vf_loss_coeff=settings.WEIGHT_VALUES, entropy_coeff=settings.WEIGHT_ENTROPY, **options
    )
    return _subject(config)


def dqn(task: Apex) -> Subject:
    """Distributed prioritized DQN; it samples and learns in turn."""
    from ray.rllib.algorithms.dqn import DQNConfig

    config = _sampled(DQNConfig(), task.env, task.samplers, task.environments, "auto")
    config = config.rl_module(model_config=DENSE if task.env == "CartPole-v1" else PICTURES).training(
        train_batch_size_per_learner=task.batch_size,
        training_intensity=task.batch_size / task.update_interval,
        num_steps_sampled_before_learning_starts=settings.LEARNING_STARTS if task.learns else 10**9,
        n_step=settings.N_STEP,
        double_q=True,
        dueling=True,
        lr=settings.APEX_RATE,
        target_network_update_freq=settings.TARGET_INTERVAL,
        replay_buffer_config={
            "type": "PrioritizedEpisodeReplayBuffer",
            "capacity": task.capacity,
            "alpha": 0.6,
            "beta": 0.4,
        },
    )
    return _subject(config, task.batch_size)


def appo_sampling(task: Apex) -> Subject:
    """What APPO's samplers give where nobody learns and nothing is kept: two requests of each in flight."""
    import ray
    from ray.rllib.algorithms.appo import APPOConfig

    config = _sampled(APPOConfig(), task.env, task.samplers, task.environments, 16)
    group = config.rl_module(model_config=PICTURES).build_algo().env_runner_group
    runners, counts = group._worker_manager.actors(), {"steps": 0}
    asked = {runner.sample.remote(): runner for runner in list(runners.values()) * 2}

    def advance() -> None:
        done, _ = ray.wait(list(asked), num_returns=1)
        counts["steps"] += sum(len(episode) for episode in ray.get(done[0]))
        runner = asked.pop(done[0])
        asked[runner.sample.remote()] = runner

    return Subject(advance, lambda: counts, list, ("ray", "torch", "gymnasium"))


def _sampled(config: Any, env: str, samplers: int, environments: int, length: int | str) -> Any:
    """With samplers for a task."""
    import ray

    ray.init(num_cpus=samplers + 2, include_dashboard=False, log_to_driver=False)
    return (
        config.environment(env if env == "CartPole-v1" else _registered_pong())
        .env_runners(
            num_env_runners=samplers, num_envs_per_env_runner=environments, rollout_fragment_length=length
        )
        .reporting(min_time_s_per_iteration=0.5)
    )


def _registered_pong() -> str:
    from ray.tune.registry import register_env

    register_env("pong", _pong)
    return "pong"


def _pong(_: Any) -> Any:
    import ale_py
    import gymnasium
    from ray.rllib.env.wrappers.atari_wrappers import wrap_atari_for_new_api_stack

    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ale_py:ALE/Pong-v5", frameskip=1, repeat_action_probability=0.0)
    return wrap_atari_for_new_api_stack(env, dim=84, framestack=4)


def _subject(config: Any, batch_size: int = 1) -> Subject:
    """An algorithm that trains."""
    algorithm = config.build_algo()
    counts = {"steps": 0.0, "updates": 0.0}
    returns: list[float] = []

    def advance() -> None:
        result = algorithm.train()
        sampled, trained = result["env_runners"], result.get("learners", {}).get("__all_modules__", {})
        counts["steps"] = float(sampled.get("num_env_steps_sampled_lifetime", 0))
        counts["updates"] = float(trained.get("num_module_steps_trained_lifetime", 0)) / batch_size
        returns.append(float(sampled.get("episode_return_mean", float("nan"))))

    return Subject(advance, lambda: counts, lambda: returns[-1:], ("ray", "torch", "gymnasium"))


SUBJECTS: dict[str, Callable[[], Subject]] = {
    **{f"impala {n} rllib": lambda n=n: impala(n) for n in (1, 2)},
    **{f"ppo {n} rllib": lambda n=n: ppo(n) for n in (1, 2)},
    **{f"apex {name} rllib": lambda task=task: dqn(task) for name, task in APEX.items()},
    **{f"apex {name} appo": lambda task=task: appo_sampling(task) for name, task in APEX.items()},
}
