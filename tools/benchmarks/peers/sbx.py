"""SBX: the algorithms of Stable-Baselines3 with updates in JAX, on its environments and replay.

What differs: DQN does not limit gradients; policy and values of PPO have optimizers and limits of their own. It has
neither A2C nor QR-DQN.

Counted: parameters of SAC 67,330 and twice 67,329, of TD3's actor 67,073, of DQN 4,610, of PPO 4,610 and 4,545; an
update at each step of SAC and TD3 after the first 100, of TD3's actor at every second, of DQN at every fourth, 16 to
a rollout of PPO.
"""

from __future__ import annotations

import importlib
from typing import Any

from micro.training import Training

from peers import TORCH, sb3

REQUIREMENTS = (TORCH, "sbx-rl==0.28.0", "stable-baselines3==2.9.2", "gymnasium==1.4.0", "jax==0.10.2")
PROBE = "import sbx"
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {name: value for name, value in sb3.DQN.items() if name != "max_grad_norm"},
    **{kind: sb3.OPTIONS[kind] for kind in ("ppo", "sac", "td3")},
}


def training(kind: str) -> Training:
    return sb3.trained(importlib.import_module("sbx"), kind, OPTIONS[kind], ("sbx-rl", "jax"))
