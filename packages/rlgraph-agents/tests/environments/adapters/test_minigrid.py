"""MiniGrid with one-hot views, and MinAtar by its ids."""

import gymnasium
import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.environments import MiniGrid, make_environment
from rlgraph.spaces import BoolBox, Dict

DOOR = "MiniGrid-DoorKey-5x5-v0"


def test_ten_lines_learn_in_minigrid():
    env = {"type": "minigrid", "env_id": "MiniGrid-Empty-5x5-v0", "max_episode_steps": 20}
    agent = Agent.from_spec({"type": "a2c", "rollout_length": 8}, env=env, backend="torch", seed=1)
    agent.learn(32, num_envs=2)
    assert "conv2d" in agent.network
    assert 0.0 <= agent.evaluate(1).mean <= 1.0


def test_each_field_has_one_kind_one_colour_and_one_state():
    env = make_environment({"type": "minigrid", "env_id": DOOR})
    assert env.state_space.to_spec() == BoolBox(shape=(7, 7, 21)).to_spec()
    view = gymnasium.make(DOOR).reset(seed=3)[0]["image"]
    state = env.reset(seed=3)
    for row in range(7):
        for column in range(7):
            kind, colour, open_ = view[row, column]
            expected = np.zeros(21, bool)
            expected[[kind, 11 + colour, 17 + open_]] = True
            np.testing.assert_array_equal(state[row, column], expected)


def test_the_whole_grid_and_the_mission():
    whole = make_environment(
        {"type": "minigrid", "env_id": DOOR, "wrappers": ["minigrid.wrappers:FullyObsWrapper"]}
    )
    state = whole.reset(seed=1)
    # The field of the agent has its direction, of which there are four, in place of a door's state.
    assert state.shape == (5, 5, 21) and (state[..., 17:].sum(-1) == 1).all()
    told = MiniGrid(DOOR, mission=True, max_episode_steps=3)
    assert isinstance(told.state_space, Dict)
    assert told.reset(seed=1)["mission"] == "use the key to open the door and then get to the goal"
    assert [told.step(0)[3] for _ in range(3)] == [False, False, True]


def test_a_plain_id_of_minigrid_names_the_type():
    with pytest.raises(
        SpecError, match=rf"{DOOR} is one of MiniGrid.*'type': 'minigrid', 'env_id': '{DOOR}'"
    ):
        make_environment(DOOR)
    assert make_environment(
        {"type": "openai", "env_id": DOOR, "wrappers": ["minigrid.wrappers:ImgObsWrapper"]}
    ).state_space.shape == (7, 7, 3)
    with pytest.raises(SpecError, match=r"expected an environment of MiniGrid.* given Box"):
        MiniGrid("CartPole-v1")


def test_minatar_by_its_ids():
    env = make_environment("MinAtar/Breakout-v1")
    assert env.state_space.to_spec() == BoolBox(shape=(10, 10, 4)).to_spec()
    assert env.action_space.num_categories == 3  # the smallest set of actions; -v0 has all six
    game = env.gym_env.unwrapped.game
    assert game.sticky_action_prob == 0.1


def test_an_episode_of_minatar_knows_nothing_of_the_one_before():
    """Sticky actions repeat the last one, with probability 0.1: of 60 first actions some are repetitions."""
    used, new = make_environment("MinAtar/Breakout-v1"), make_environment("MinAtar/Breakout-v1")
    for seed in range(60):
        first = [used.reset(seed=seed), *(used.step(1)[0] for _ in range(3))]
        again = [new.reset(seed=seed), *(new.step(1)[0] for _ in range(3))]
        np.testing.assert_array_equal(first, again)
        used.step(2)
