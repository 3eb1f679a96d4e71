"""Samplers, apart from agents."""

import numpy as np

from rlgraph.agents.ppo import PPOAgent
from rlgraph.environments.factory import make_vector_env
from rlgraph.spaces import FloatBox, IntBox


def make(seed):
    layers = [{"type": "dense", "units": 2}]
    return PPOAgent(FloatBox(shape=(4,)), IntBox(2), backend="numpy", seed=seed, network_spec=layers)


def test_it_continues_from_a_file_where_actors_have_no_table(tmp_path):
    """Empty tables are not in the file."""
    agent, environments = make(1), make_vector_env("CartPole-v1", 2)
    sampler = agent.make_sampler(environments)
    sampler.reset(seed=1)
    agent.observe_step(sampler.step())
    agent.store_model(tmp_path / "model")
    other = make(2)
    other.load_model(tmp_path / "model")
    continued = other.make_sampler(make_vector_env("CartPole-v1", 2))
    continued.restore(sampler.get_states())
    for _ in range(3):
        np.testing.assert_array_equal(continued.step().next_states, sampler.step().next_states)


def test_environments_that_got_lost_may_be_a_tuple(monkeypatch):
    """`VectorEnv.dropped` is any sequence."""
    environments = make_vector_env("CartPole-v1", 3)
    sampler = make(1).make_sampler(environments)
    sampler.reset(seed=1)
    step = environments.step

    def losing(actions):
        result = step(actions)
        environments.dropped = (0, 2)
        return result

    monkeypatch.setattr(environments, "step", losing)
    assert sampler.step().valid.tolist() == [False, True, False]
