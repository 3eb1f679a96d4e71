"""What Stable-Baselines3 reaches with the settings of one of our presets: the last policy, for tables beside ours.

It needs an interpreter with Stable-Baselines3 and its extras (`micro/train` makes one), and writes a file of results:

    .venvs/bench-sb3/bin/python tools/benchmarks learning/sb3 sac/HalfCheetah-v5 --seeds 1

Sizes, schedules, optimizers and numbers of updates are those of the preset; initial weights and distributions of
actions are those of each library.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from measure import machine
from processes import ROOT
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import VecNormalize

PRESETS = ROOT / "packages/rlgraph-agents/src/rlgraph/algorithms/presets"
PACKAGES = ("stable-baselines3", "torch", "gymnasium", "mujoco", "numpy")
ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
EPISODES = 100


def schedule(value: Any) -> float | Callable[[float], float]:
    """A number, or ``[from, to]`` over the run; Stable-Baselines3 counts what is left."""
    if isinstance(value, list):
        start, end = value
        return lambda left: end + left * (start - end)
    return float(value)


def policy_of(agent: dict[str, Any], optimizer: dict[str, Any]) -> dict[str, Any]:
    layers = [layer if isinstance(layer, dict) else {"units": layer} for layer in agent.pop("network_spec")]
    activation = ACTIVATIONS[layers[0].get("activation", "relu")]
    return {
        "net_arch": [layer["units"] for layer in layers],
        "activation_fn": activation,
        "optimizer_kwargs": {"eps": optimizer.pop("epsilon", 1e-8)},  # as ours; its default for PPO is 1e-5
    }


def with_replay(agent: dict[str, Any]) -> dict[str, Any]:
    updates, memory = agent.pop("update_spec"), agent.pop("memory_spec")
    return {
        "buffer_size": memory["capacity"],
        "learning_starts": updates["steps_before_update"],
        "batch_size": updates["batch_size"],
        "train_freq": updates["update_interval"],
        "gradient_steps": updates.get("update_steps", 1),
    }


def options_of(agent: dict[str, Any], num_envs: int, actions: int) -> tuple[Any, dict[str, Any]]:
    """The algorithm of Stable-Baselines3 and its options.

    Raises:
        ValueError: the agent has options that this does not know.
    """
    agent = {**agent, "optimizer_spec": dict(agent["optimizer_spec"])}
    kind, optimizer = agent.pop("type"), agent.pop("optimizer_spec")
    options: dict[str, Any] = {
        "learning_rate": schedule(optimizer.pop("learning_rate")),
        "gamma": agent.pop("discount"),
        "policy_kwargs": policy_of(agent, optimizer),
    }
    if kind == "ppo":
        steps = agent.pop("rollout_length")
        options |= {
            "n_steps": steps,
            "batch_size": num_envs * steps // agent.pop("num_minibatches"),
            "n_epochs": agent.pop("num_epochs"),
            "gae_lambda": agent.pop("gae_lambda"),
            "clip_range": agent.pop("clip_ratio", 0.2),
            "ent_coef": agent.pop("weight_entropy"),
            "max_grad_norm": optimizer.pop("clip_grad_norm"),
        }
    else:
        options |= with_replay(agent)
        if not agent.pop("random_before_update", False):
            raise ValueError(
                "the first actions are uniformly random there, as with random_before_update: true here"
            )
    if kind == "td3":
        noise = agent.pop("exploration_spec")["noise_spec"]
        if not noise["relative"]:
            raise ValueError("noise is a part of half the actions' range there, as with relative: true here")
        options["action_noise"] = NormalActionNoise(np.zeros(actions), np.full(actions, noise["stddev"]))
    unknown = [*agent.keys() - {"normalize_states", "scale_rewards"}, *optimizer.keys() - {"type"}]
    if unknown:
        raise ValueError(f"options of the preset that this script does not know: {', '.join(unknown)}")
    return {"ppo": PPO, "sac": SAC, "td3": TD3}[kind], options


def measure(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train one seed with the settings of a preset."""
    agent, num_envs = document["agent"], document.get("worker", {}).get("num_envs", 1)
    normalized = (
        (bool(agent.get("scale_rewards")), agent["discount"]) if agent.get("normalize_states") else None
    )

    def make(env: Any) -> Any:
        algorithm, options = options_of(agent, num_envs, env.action_space.shape[0])
        return algorithm("MlpPolicy", env, seed=seed, device="cpu", **options)

    return trained(document["environment"], num_envs, document["steps"], normalized, make, seed)


def trained(
    environment: str,
    num_envs: int,
    steps: int,
    normalized: tuple[bool, float] | None,
    make: Callable[[Any], Any],
    seed: int,
) -> dict[str, Any]:
    """Train one seed; judge its last policy, greedily, in new episodes.

    Args:
        environment: an id of Gymnasium.
        num_envs, steps: environments, and steps of all together.
        normalized: whether rewards are scaled beside the states, and the discount; None: neither is.
        make: the model that learns in an environment.
        seed: of everything.
    """
    started = time.perf_counter()
    env: Any = make_vec_env(environment, num_envs, seed=seed)
    judged: Any = make_vec_env(environment, 1, seed=1_000_000 + seed)
    if normalized is not None:
        scales, discount = normalized
        env = VecNormalize(env, norm_reward=scales, gamma=discount)
        judged = VecNormalize(judged, norm_reward=False, training=False)
        judged.obs_rms = env.obs_rms
    model = make(env)
    model.learn(steps)
    returns: Any = evaluate_policy(model, judged, EPISODES, return_episode_rewards=True, warn=False)[0]
    return {
        "seed": seed,
        "mean": round(float(np.mean(returns)), 3),
        "std": round(float(np.std(returns)), 3),
        "lowest": round(float(min(returns)), 3),
        "steps": steps,
        "seconds": round(time.perf_counter() - started, 1),
    }


def provenance() -> dict[str, str]:
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {"revision": revision.stdout.strip(), "machine": machine()}


def record(
    file: Path, head: dict[str, Any], seeds: Sequence[int], measure: Callable[[int], dict[str, Any]]
) -> None:
    """Measure seeds, and add them to those of the same settings and versions in a file of results."""
    torch.set_num_threads(1)
    versions = {"python": platform.python_version(), **{p: importlib.metadata.version(p) for p in PACKAGES}}
    head = {**head, "versions": versions}
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {}
    earlier = known.pop("runs", [])
    runs = {run["seed"]: run for run in earlier} if known == head else {}
    for seed in seeds:
        runs[seed] = measure(seed) | provenance()
        print(file.stem, runs[seed], flush=True)
        file.write_text(json.dumps({**head, "runs": [runs[seed] for seed in sorted(runs)]}, indent=2) + "\n")


def parser_of(description: str | None, folder: str, seeds: Sequence[int]) -> argparse.ArgumentParser:
    """The arguments of what is measured with Stable-Baselines3; a script adds what is trained."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs/results" / folder)
    parser.add_argument("--steps", type=int, help="instead of the given ones, to try it out")
    return parser


def main() -> None:
    parser = parser_of(__doc__, "stable_baselines3", [1])
    parser.add_argument("preset")
    given = parser.parse_args()
    document = yaml.safe_load((PRESETS / f"{given.preset}.yaml").read_text())
    document["steps"] = given.steps or document["steps"]
    head = {"preset": given.preset, "document": document}
    file = given.folder / f"{given.preset.replace('/', '_')}.json"
    record(file, head, given.seeds, lambda seed: measure(document, seed))
