"""What `rlgraph graph` draws unless told otherwise."""

import struct
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

from rlgraph.draw.drawing import PAGE, PAGE_SIDES

PARTS = {
    "camera": gym.spaces.Box(0, 255, (84, 84, 3), np.uint8),
    "gear": gym.spaces.Discrete(4),
    "joints": gym.spaces.Dict({name: gym.spaces.Box(-1.0, 1.0, (3,), np.float32) for name in ("arm", "leg")}),
}


class Robot(gym.Env):
    observation_space, action_space = gym.spaces.Dict(PARTS), gym.spaces.Discrete(3)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}


@pytest.fixture
def robot(monkeypatch):
    monkeypatch.setitem(
        gym.registry, "Robot-v0", gym.envs.registration.EnvSpec("Robot-v0", entry_point=Robot)
    )
    return ["--env", "Robot-v0"]


def test_a_state_of_parts_is_drawn_on_a_page(rlgraph, robot, tmp_path):
    outcome = rlgraph("graph", "--agent", "ppo", *robot, "--file", "g.png")
    assert (outcome.code, outcome.out) == (0, "wrote g.png\n")
    shorter, longer = sorted(struct.unpack(">II", (tmp_path / "g.png").read_bytes()[16:24]))
    assert shorter <= PAGE_SIDES[0] and longer <= PAGE_SIDES[1]
    # The note says what was left out, where, and the option that shows it.
    (note,) = [line for line in outcome.err.splitlines() if line.startswith("Folded")]
    assert PAGE in note and "ppo/policy (" in note
    depth = note.split("--depth ")[1].split()[0]
    whole = rlgraph("graph", "--agent", "ppo", *robot, "--depth", depth, "--format", "svg")
    assert "Folded" not in whole.err and "components inside" not in whole.out
    longest = max(float(ElementTree.fromstring(whole.out).get(key)) for key in ("width", "height"))
    assert longest > max(PAGE_SIDES)


def test_the_note_is_not_part_of_what_is_printed(rlgraph, robot):
    outcome = rlgraph("graph", "--agent", "ppo", *robot, "--format", "mermaid")
    assert outcome.out.startswith("flowchart") and "Folded" not in outcome.out and "Folded" in outcome.err
    assert "Folded" not in rlgraph("graph", "--agent", "ppo", *robot, "--quiet").err
    small = rlgraph("graph", "--agent", "random", "--env", "CartPole-v1")
    assert small.code == 0 and "Folded" not in small.err
