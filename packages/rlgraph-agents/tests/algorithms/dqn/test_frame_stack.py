"""Frames that are kept once change nothing but the memory that is needed."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.spaces import IntBox

IMAGE = IntBox(0, 256, shape=(12, 12, 4), dtype="uint8")
CONVOLUTION = {"type": "conv2d", "filters": 4, "kernel_size": 4, "strides": 4, "activation": "relu"}
NETWORK = [{"type": "divide", "divisor": 255.0}, CONVOLUTION, {"type": "reshape", "flatten": True}]


class Camera:
    """Three environments in one: each shows its last four images, begins anew at an end, and keeps its last state."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.frames = [[self.image()] * 4 for _ in range(3)]

    def image(self):
        return self.rng.integers(256, size=(12, 12)).astype(np.uint8)

    def states(self):
        return np.stack([np.stack(frames, axis=-1) for frames in self.frames])

    def step(self):
        """``states, actions, rewards, terminals, next_states, truncations``."""
        states = self.states()
        self.frames = [[*frames[1:], self.image()] for frames in self.frames]
        next_states = self.states()
        terminals, truncations = self.rng.random((2, 3)) < 0.03
        for i in np.flatnonzero(terminals | truncations):
            self.frames[i] = [self.image()] * 4
        rewards = self.rng.standard_normal(3).astype(np.float32)
        return states, self.rng.integers(4, size=3), rewards, terminals, next_states, truncations & ~terminals


def losses(backend, kind, n_step, **memory):
    agent = Agent.from_spec(
        {
            "type": "dqn",
            "network_spec": NETWORK,
            "memory_spec": {"type": kind, "capacity": 60, **memory},
            "n_step": n_step,
            "update_spec": {"batch_size": 16},
        },
        state_space=IMAGE,
        action_space=IntBox(4),
        backend=backend,
        seed=1,
    )
    camera, found = Camera(), []
    for _ in range(40):
        agent.observe(*camera.step(), batched=True, env_id=["a", "b", "c"])
        if agent.executor.execute("get_memory_size") > 30:
            found.append(agent.update()["loss"])
    held = agent.executor.storage.host
    return found, sum(array.nbytes for name, array in held.items() if "tails" not in name)


@pytest.mark.parametrize(
    ("kind", "n_step"), [("replay_memory", 1), ("replay_memory", 3), ("prioritized_replay", 1)]
)
def test_the_same_losses(backend, kind, n_step):
    found, held = losses(backend, kind, n_step, frame_stack={"size": 4, "frames_per_record": 2})
    expected, whole = losses(backend, kind, n_step)
    assert len(found) > 20
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert held < whole / 2
