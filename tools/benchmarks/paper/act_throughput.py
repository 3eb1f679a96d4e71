"""The paper's figure 5b: frames of Pong per second that a dueling network of three convolutions acts on, by batch size.

One thread. ``by hand`` is the network in plain PyTorch, without RLgraph. Frames are four per state, as in the paper.

    python tools/benchmarks paper/act_throughput docs/results/paper_act.json
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from processes import by_backend

from rlgraph.agents import DQNAgent
from rlgraph.spaces import FloatBox, IntBox

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
ROUNDS, SECONDS, FRAMES = 5, 0.5, 4
SHAPE, NUM_ACTIONS = (84, 84, 4), 6
CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))  # filters, size, stride


def measured(backend: str) -> dict[str, Any]:
    """Frames per second by batch size, medians: of RLgraph, and on PyTorch by hand."""
    agent = DQNAgent(
        FloatBox(shape=SHAPE),
        IntBox(NUM_ACTIONS),
        network_spec=[
            *(
                {
                    "type": "conv2d",
                    "filters": filters,
                    "kernel_size": size,
                    "strides": stride,
                    "activation": "relu",
                }
                for filters, size, stride in CONVOLUTIONS
            ),
            {"type": "reshape", "flatten": True},
            {"type": "dense", "units": 512, "activation": "relu"},
        ],
        dueling_q=True,
        memory_spec={"capacity": 100},
        execution_spec={"threads": 1},
        backend=backend,
        acting="backend",
    )
    subjects = {"rlgraph": agent.executor.program("get_greedy_actions")}
    if backend == "torch":
        subjects["by hand"] = by_hand()
    return {name: throughput(act) for name, act in subjects.items()}


def throughput(act: Callable[[np.ndarray], Any]) -> dict[str, float]:
    draws = np.random.default_rng(0)
    found = {}
    for size in BATCH_SIZES:
        states = draws.random((size, *SHAPE), np.float32)
        act(states)
        found[str(size)] = FRAMES * size * statistics.median(rate(act, states) for _ in range(ROUNDS))
    return found


def rate(act: Callable[[np.ndarray], Any], states: np.ndarray) -> float:
    """Calls per second."""
    calls, started = 0, time.perf_counter()
    while (passed := time.perf_counter() - started) < SECONDS:
        act(states)
        calls += 1
    return calls / passed


def by_hand() -> Callable[[np.ndarray], np.ndarray]:
    """The network in PyTorch alone, as fast as that goes."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    layers: list[nn.Module] = []
    channels = SHAPE[-1]
    for filters, size, stride in CONVOLUTIONS:
        layers += [nn.Conv2d(channels, filters, size, stride), nn.ReLU()]
        channels = filters
    layers += [nn.Flatten(), nn.Linear(7 * 7 * channels, 512), nn.ReLU()]
    body, heads = nn.Sequential(*layers), nn.Linear(512, 1 + NUM_ACTIONS)

    @torch.inference_mode()
    def act(states: np.ndarray) -> np.ndarray:
        values = heads(body(torch.from_numpy(states).permute(0, 3, 1, 2)))
        advantages = values[:, 1:]
        q_values = values[:, :1] + advantages - advantages.mean(1, keepdim=True)
        return np.asarray(q_values.argmax(1).numpy())

    return act


def main() -> None:
    by_backend(__doc__, measured)
