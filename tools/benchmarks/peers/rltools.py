"""RLtools: SAC and TD3 in C++, compiled for the task when they are built, on Gymnasium's Pendulum.

It needs a compiler for C++, the headers of Python, and MKL: without a BLAS it makes a hundredth of the updates. What
differs: updates start when there is a batch of 256. PPO is for continuous actions alone, so
that CartPole is out; it has no DQN.

Counted: layers of 256 x 3, 256 x 256 and 2 x 256 in the policy that SAC exports, which is another after each step;
after every second of TD3.
"""

from __future__ import annotations

from typing import Any

from micro import settings as to
from micro.training import Training

from peers import recorded

REQUIREMENTS = (
    "rltools==2.2.1",
    "mkl==2026.2.0",
    "mkl-include==2026.2.0",
    "gymnasium==1.4.0",
    "numpy==2.4.6",
)
PROBE = "import rltools, gymnasium, importlib.metadata as m; m.version('mkl')"
_BOTH: dict[str, Any] = {
    "GAMMA": to.DISCOUNT,
    "ACTOR_BATCH_SIZE": to.SAC_BATCH,
    "CRITIC_BATCH_SIZE": to.SAC_BATCH,
    "ACTOR_POLYAK": 1.0 - to.SAC_TAU,
    "CRITIC_POLYAK": 1.0 - to.SAC_TAU,
    "ACTOR_HIDDEN_DIM": to.SAC_UNITS,
    "CRITIC_HIDDEN_DIM": to.SAC_UNITS,
    "ACTOR_NUM_LAYERS": 3,  # the last one is counted
    "CRITIC_NUM_LAYERS": 3,
    "N_WARMUP_STEPS": to.SAC_BATCH,  # the fewest that it allows
    "REPLAY_BUFFER_CAP": to.SAC_CAPACITY,
    "STEP_LIMIT": 10**6,
    "OPTIMIZER_ALPHA": to.SAC_RATE,
    "OPTIMIZER_EPSILON": 1e-8,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "sac": {**_BOTH, "ALPHA": 1.0},
    "td3": {
        **_BOTH,
        "EXPLORATION_NOISE": to.TD3_NOISE,
        "TARGET_NEXT_ACTION_NOISE_STD": to.TD3_TARGET_NOISE,
        "TARGET_NEXT_ACTION_NOISE_CLIP": to.TD3_NOISE_LIMIT,
        "ACTOR_TRAINING_INTERVAL": to.TD3_DELAY,
        "CRITIC_TARGET_UPDATE_INTERVAL": to.TD3_DELAY,
        "ACTOR_TARGET_UPDATE_INTERVAL": to.TD3_DELAY,
    },
}


def training(kind: str) -> Training:
    import rltools
    from gymnasium.wrappers import RescaleAction

    env, returns = recorded(kind)
    scaled = RescaleAction(env, -1, 1)
    compiled = getattr(rltools, kind.upper())(lambda: scaled, enable_evaluation=False, **OPTIONS[kind])
    state = compiled.State(to.SEED)

    def train(steps: int) -> None:
        for _ in range(steps):
            state.step()

    train(to.SAC_BATCH)  # without updates
    return Training(train, lambda: returns, ("rltools", "mkl", "gymnasium"))
