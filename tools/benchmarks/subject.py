"""What is measured: a dueling double DQN agent for CartPole, and batches for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.agents import DQNAgent
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space

STATE_SIZE, NUM_ACTIONS, BATCH_SIZE = 4, 2, 64
LEARNING_RATE, DISCOUNT, CLIP_NORM, EPSILON = 1e-3, 0.99, 10.0, 1e-8
#: Layers of the policy in the order in which code by hand takes them.
LAYERS = ("network/dense-0", "network/dense-1", "value", "advantages")
KEYS = ("states", "actions", "rewards", "terminals", "next_states")


def names(scope: str) -> list[str]:
    """The variables of a policy, layer by layer."""
    return [f"{scope}/{layer}/{kind}" for layer in LAYERS for kind in ("weights", "biases")]


def make_agent(backend: str, **overrides: Any) -> DQNAgent:
    """Two hidden layers of 64 with ReLU, dueling, double Q, Huber, replay memory, Adam with a limit on the norm."""
    arguments: dict[str, Any] = {
        "discount": DISCOUNT,
        "double_q": True,
        "dueling_q": True,
        "huber_loss": True,
        "memory_spec": {"capacity": 50_000},
        "optimizer_spec": {
            "type": "adam",
            "learning_rate": LEARNING_RATE,
            "epsilon": EPSILON,
            "clip_grad_norm": CLIP_NORM,
        },
        "execution_spec": {"threads": 1},
        "backend": backend,
        "seed": 1,
    }
    return DQNAgent(FloatBox(shape=(STATE_SIZE,)), IntBox(NUM_ACTIONS), **{**arguments, **overrides})


def update_program(executor: Any) -> Callable[[Mapping[str, Any]], Any]:
    """``f(batch) -> results``: the compiled or eager update on an external batch."""
    program, progress = executor.program("update"), np.zeros((), np.float32)
    return lambda batch: program(batch, progress=progress)


def random_states(number: int, seed: int = 0) -> np.ndarray:
    """``[number, 4]`` float32."""
    return np.random.default_rng(seed).normal(size=(number, STATE_SIZE)).astype(np.float32)


def random_batch(seed: int = 0) -> dict[str, np.ndarray]:
    """A batch of transitions, every tenth of them terminal."""
    rng = np.random.default_rng(seed)
    return {
        "states": rng.normal(size=(BATCH_SIZE, STATE_SIZE)).astype(np.float32),
        "actions": rng.integers(0, NUM_ACTIONS, BATCH_SIZE),
        "rewards": rng.normal(size=BATCH_SIZE).astype(np.float32),
        "terminals": rng.random(BATCH_SIZE) < 0.1,
        "next_states": rng.normal(size=(BATCH_SIZE, STATE_SIZE)).astype(np.float32),
    }


def random_inputs(space: Any, rng: np.random.Generator, batch: int, time: int = 1) -> Any:
    """An array of a Space, or of each in a container: categories, numbers in [0, 1), one of ten is true."""
    if hasattr(space, "items"):
        return {name: random_inputs(part, rng, batch, time) for name, part in space.items()}
    shape = (*(time,) * space.has_time_rank, *(batch,) * space.has_batch_rank, *space.shape)
    if isinstance(space, IntBox):
        return rng.integers(0, space.num_categories, shape)
    drawn = rng.random(shape, np.float32)
    return drawn < 0.1 if space.dtype == "bool" else drawn


def transitions(states: Space, actions: Space) -> Dict:
    """The records of a memory."""
    fields = {"states": states, "actions": actions, "next_states": states}
    return Dict({**fields, "rewards": FloatBox(), "terminals": BoolBox()}, add_batch_rank=True)
