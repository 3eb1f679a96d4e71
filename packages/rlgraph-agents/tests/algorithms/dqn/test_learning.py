"""Presets of small worlds learn what can be worked out by hand, with every kind of action."""

import numpy as np
import pytest

from rlgraph.algorithms.presets import find_preset
from rlgraph.environments import Environment, make_environment
from rlgraph.spaces import BoolBox, Dict, IntBox, Tuple

pytestmark = pytest.mark.slow

WORLD = {"type": "grid_world", "world": "4x4"}

#: The shortest way has six steps at -0.1 each but the last, which earns 1.
WAY = 0.5


def walk(agent, environment, limit=50):
    """The return of one greedy episode, -inf if it does not end."""
    state, total = environment.reset(seed=0), 0.0
    for _ in range(limit):
        state, reward, terminated, _, _ = environment.step(agent.get_actions(state, use_exploration=False))
        total += float(reward)
        if terminated:
            return total
    return -np.inf


def test_the_four_by_four_world(make_agent, backend):
    agent = make_agent(backend, **{**find_preset("dqn", WORLD).agent, "env": WORLD, "seed": 1})
    agent.learn(9000)
    assert walk(agent, make_environment(WORLD)) == pytest.approx(WAY)


class Lock(Environment):
    """A row of numbers to be dialled one after the other, each with both hands at once.

    A wrong number costs 0.1 and changes nothing; the last right one earns 1. Twenty steps are given.
    """

    combination = ((0, True, 2), (2, False, 0), (1, True, 1), (2, True, 0))

    def __init__(self):
        actions = Dict(left=Tuple(IntBox(3), BoolBox()), right=IntBox(3))
        super().__init__(IntBox(len(self.combination) + 1), actions)
        self.place = self.steps = 0

    def reset(self, seed=None):
        self.place = self.steps = 0
        return np.int64(0)

    def step(self, action):
        given = (int(action["left"][0]), bool(action["left"][1]), int(action["right"]))
        right = given == self.combination[self.place]
        self.place, self.steps = self.place + right, self.steps + 1
        opened = self.place == len(self.combination)
        return np.int64(self.place), 1.0 if opened else -0.1, opened, self.steps == 20 and not opened, {}


def test_a_lock_of_nested_actions(make_agent, backend):
    options = {"dueling_q": True, "shared_container_action_target": True, "env": Lock(), "seed": 1}
    agent = make_agent(backend, **{**find_preset("dqn", WORLD).agent, **options})
    agent.learn(6000)
    assert walk(agent, Lock()) == pytest.approx(0.7)
