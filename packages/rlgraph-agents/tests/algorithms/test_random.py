"""The agent that learns nothing."""

import numpy as np
import pytest

from rlgraph.agents import Agent, RandomAgent
from rlgraph.core import InputError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

ACTIONS = Dict(move=FloatBox(-1.0, 3.0, shape=(2,)), gear=IntBox(3), brake=BoolBox())


def test_actions_are_uniform_whatever_the_states_are():
    agent = RandomAgent(Dict(x=FloatBox(shape=(2,))), ACTIONS, backend="numpy", seed=1)
    actions = agent.get_actions({"x": np.zeros((6000, 2))}, use_exploration=False)
    assert ACTIONS.with_batch_rank().contains(actions)
    np.testing.assert_allclose(actions["move"].mean(axis=0), 1.0, atol=0.1)
    np.testing.assert_allclose(np.bincount(actions["gear"]) / 6000, 1 / 3, atol=0.03)
    assert abs(actions["brake"].mean() - 0.5) < 0.03


def test_it_trains_without_an_update():
    agent = Agent.from_spec("random", env="CartPole-v1", backend="numpy", seed=1)
    result = agent.learn(300, num_envs=3)
    assert (result.timesteps, agent.updates) == (300, 0) and len(result.returns) > 5
    with pytest.raises(InputError, match="this one has no update"):
        agent.update()
