"""Off-policy actor-critics whose first actions are random."""

import numpy as np
import pytest
from scipy import stats

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

STATES, MOVES = FloatBox(shape=(3,)), FloatBox(np.array([-1.0, 0.0]), np.array([1.0, 5.0]))
SEEN = np.random.default_rng(0).normal(size=(2000, 3)).astype("float32")
ROWS = {"states": SEEN[:8], "rewards": SEEN[:8, 0], "terminals": np.zeros(8, bool), "next_states": SEEN[8:16]}


@pytest.fixture
def make_agent(execution):
    def make(kind, backend, action_space=MOVES, state_space=STATES, **options):
        options = {"random_before_update": True, "network_spec": [{"type": "dense", "units": 8}], **options}
        spec = {"type": kind, "execution_spec": execution(backend), **options}
        return Agent.from_spec(
            spec, state_space=state_space, action_space=action_space, backend=backend, seed=3
        )

    return make


def are_uniform(moves):
    return all(
        stats.kstest(moves[:, i], stats.uniform(*at).cdf).pvalue > 0.01
        for i, at in enumerate([(-1, 2), (0, 5)])
    )


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_actions_are_uniform_until_the_first_update(kind, backend, make_agent):
    agent, other = make_agent(kind, backend), make_agent(kind, backend, random_before_update=False)
    first, greedy = agent.get_actions(SEEN), agent.get_actions(SEEN, use_exploration=False)
    assert are_uniform(first) and not are_uniform(other.get_actions(SEEN))
    np.testing.assert_array_equal(greedy, other.get_actions(SEEN, use_exploration=False))
    agent.update({**ROWS, "actions": first[:8]})
    assert not are_uniform(agent.get_actions(SEEN))
    if kind == "td3":  # noise of a tenth of half the range
        explored, greedy = agent.get_actions(SEEN), agent.get_actions(SEEN, use_exploration=False)
        assert np.abs(explored - greedy).max() < 2.5 * 0.5


def test_categories_that_the_mask_allows(one_backend, make_agent):
    states = Dict(features=STATES, action_mask=BoolBox(shape=(4,)))
    agent = make_agent("sac", one_backend, IntBox(4), states)
    masks = np.tile([False, True, False, True], (2000, 1))
    actions = agent.get_actions({"features": SEEN, "action_mask": masks})
    np.testing.assert_allclose(np.bincount(actions, minlength=4) / 2000, [0, 0.5, 0, 0.5], atol=0.05)


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_a_loaded_agent_knows_that_it_was_updated(kind, one_backend, make_agent, tmp_path):
    agent = make_agent(kind, one_backend)
    agent.update({**ROWS, "actions": agent.get_actions(SEEN[:8])})
    agent.store_model(tmp_path / "agent")
    assert not are_uniform(Agent.load(tmp_path / "agent").get_actions(SEEN))


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_a_run_acts_at_random_until_it_learns(kind, one_backend, make_agent):
    """The standard deviation of TD3's noise is a tenth of half the range; that of SAC's untrained policy a half."""
    agent = make_agent(
        kind,
        one_backend,
        FloatBox(-2.0, 2.0, shape=(1,)),
        memory_spec={"capacity": 400},
        update_spec={"steps_before_update": 300, "batch_size": 4},
        optimizer_spec={"learning_rate": 1e-6},
    )
    agent.learn(400, env="Pendulum-v1")
    actions = agent.learner.executor.storage.host["memory/rows/actions"].ravel()
    uniform = stats.uniform(-2, 4).cdf
    assert stats.kstest(actions[:300], uniform).pvalue > 0.01
    assert stats.kstest(actions[300:], uniform).pvalue < 0.01


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_a_wrong_switch(kind, make_agent):
    with pytest.raises(SpecError, match=r"random_before_update: expected true or false, given 10000"):
        make_agent(kind, "numpy", random_before_update=10_000)
