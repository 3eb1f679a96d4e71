"""What Stable-Baselines3 reaches on several seeds with the settings of RL Baselines3 Zoo, which publishes one run each.

`zoo_settings.yaml` has the settings. It needs an interpreter with Stable-Baselines3 and its extras (`micro/train`
makes one), and writes a file of results:

    .venvs/bench-sb3/bin/python tools/benchmarks learning/zoo ppo/Acrobot-v1 --seeds 1 2 3 4 5
"""

from __future__ import annotations

from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from learning.sb3 import parser_of, record, schedule, trained
from sb3_contrib import QRDQN
from stable_baselines3 import A2C, DQN, PPO

SETTINGS = Path(__file__).with_name("zoo_settings.yaml")
ALGORITHMS: dict[str, Any] = {"a2c": A2C, "dqn": DQN, "ppo": PPO, "qr_dqn": QRDQN}
SCHEDULES = ("learning_rate", "clip_range")


def measure(name: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train one seed with settings of the Zoo."""
    kind, environment = name.split("/", maxsplit=1)
    # Models change the options that they are given.
    options = {
        key: schedule(value) if key in SCHEDULES else value
        for key, value in deepcopy(settings["options"]).items()
    }

    def make(env: Any) -> Any:
        return ALGORITHMS[kind]("MlpPolicy", env, seed=seed, device="cpu", **options)

    normalized = (True, options.get("gamma", 0.99)) if settings.get("normalize") else None
    return trained(environment, settings.get("num_envs", 1), settings["steps"], normalized, make, seed)


def main() -> None:
    known = yaml.safe_load(SETTINGS.read_text())
    parser = parser_of(__doc__, "baselines_zoo", [1, 2, 3, 4, 5])
    parser.add_argument("name", choices=sorted(known))
    given = parser.parse_args()
    settings = known[given.name]
    settings["steps"] = given.steps or settings["steps"]
    file = given.folder / f"{given.name.replace('/', '_')}.json"
    head = {"name": given.name, "settings": settings, "sb3-contrib": version("sb3-contrib")}
    record(file, head, given.seeds, lambda seed: measure(given.name, settings, seed))
