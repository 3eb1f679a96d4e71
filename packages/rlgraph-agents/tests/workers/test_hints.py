"""A hint where all returns are equal from the beginning, and only there."""

import logging

import pytest
from doubles import Episodes

from rlgraph.agents import Agent
from rlgraph.workers.hints import constant_returns


def rewarded(*episodes):
    """Episodes of two steps; those of the given numbers return 1, the others 0."""
    return Episodes(length=2, reward=lambda env, action: float(env.episode in episodes) / 2)


@pytest.fixture
def learn(caplog):
    """Trains an agent that does not update, on NumPy; its hints, as logged and in the result."""

    def learn(env, *timesteps, **options):
        spec = {
            "type": "dqn",
            "network_spec": [4],
            "update_spec": {"do_updates": False},
            "memory_spec": {"capacity": 9},
        }
        agent = Agent.from_spec(spec, env=env, backend="numpy", seed=0)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "rlgraph.workers"):
            result = [agent.learn(steps, report_interval=10, **options) for steps in timesteps][-1]
        return [record.getMessage() for record in caplog.records], result.hint

    return learn


def test_all_returns_are_equal(learn):
    said, hint = learn(rewarded(), 400)
    assert len(said) == 1 and said[0].startswith(
        "all 50 episodes since the beginning of training have the return 0, so"
    )
    assert hint.startswith("all 200 episodes since the beginning")


def test_nothing_is_said_where_a_return_differs_or_there_are_few(learn):
    assert learn(rewarded(30), 400) == ([], "")
    assert learn(rewarded(), 98) == ([], "")


def test_an_episode_after_the_hint_withdraws_it(learn):
    said, hint = learn(rewarded(150), 400)
    assert len(said) == 1 and hint == ""


def test_rare_rewards_have_a_tenth_of_the_run_to_be_found(learn):
    assert learn(rewarded(80), 2000) == ([], "")


def test_an_agent_that_learned_before_may_be_perfect(learn):
    assert learn(rewarded(0), 20, 400) == ([], "")


def test_by_hand():
    assert constant_returns([1.5] * 49) == constant_returns([1.5] * 49 + [2.0]) == ""
    assert "return 1.5," in constant_returns([1.5] * 50)
