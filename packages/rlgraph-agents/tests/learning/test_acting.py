"""`get_actions`: shapes, exploration, and the two ways to act, which must never tell apart or fall behind."""

from importlib import import_module

import numpy as np
import pytest

from rlgraph.core import InputError, find_backend
from rlgraph.spaces import FloatBox, IntBox

WAYS = ("numpy", "backend")


@pytest.fixture
def states():
    return np.random.default_rng(8).normal(size=(200, 3)).astype(np.float32)


# Shapes.


@pytest.mark.parametrize("acting", WAYS)
def test_batch_and_single_state(make_agent, backend, acting, states):
    agent = make_agent(backend, acting=acting)
    actions = agent.get_actions(states, use_exploration=False)
    assert actions.shape == (200,)
    assert actions.dtype == np.int64
    for row in (0, 17):
        single = agent.get_actions(states[row], use_exploration=False)
        assert np.shape(single) == ()
        assert single == actions[row]
    assert len(np.unique(actions)) > 1


def test_lists_and_other_dtypes(make_agent, backend, states):
    agent = make_agent(backend)
    expected = agent.get_actions(states[:5], use_exploration=False)
    for given in (states[:5].tolist(), states[:5].astype(np.float64)):
        np.testing.assert_array_equal(agent.get_actions(given, use_exploration=False), expected)
    assert agent.get_actions(states[0].tolist(), use_exploration=False) == expected[0]


def test_get_action_is_another_name(make_agent, backend, states):
    agent = make_agent(backend)
    np.testing.assert_array_equal(
        agent.get_action(states, use_exploration=False), agent.get_actions(states, use_exploration=False)
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            np.zeros((2, 5), np.float32),
            r"get_actions: argument states: expected float32\[B, 3\], given float32\[2, 5\]",
        ),
        (np.zeros(5, np.float32), r"expected float32\[B, 3\], given float32\[1, 5\]"),
        (
            3.0,
            r"get_actions: argument states: expected 1 axes, or 2 with a batch rank, given an array of shape \(\)",
        ),
        (np.zeros((2, 2, 3), np.float32), r"expected 1 axes, or 2 with a batch rank"),
    ],
)
def test_states_that_do_not_fit(make_agent, backend, given, said):
    with pytest.raises(InputError, match=said):
        make_agent(backend).get_actions(given)


# Greedy actions.


@pytest.mark.parametrize("dueling_q", [True, False])
@pytest.mark.parametrize("acting", WAYS)
def test_greedy_is_the_largest_value(make_agent, backend, acting, dueling_q, reference, states):
    agent = make_agent(backend, acting=acting, dueling_q=dueling_q)
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    greedy = agent.get_actions(states, use_exploration=False)
    q_values = agent.call_api_method("get_q_values", states)
    assert q_values.shape == (200, 4)
    np.testing.assert_array_equal(greedy, q_values.argmax(axis=1))
    by_hand = reference.q_values(agent.get_weights(), states)
    np.testing.assert_allclose(q_values, by_hand, rtol=0, atol=1e-5)
    assert len(np.unique(greedy)) >= 3


@pytest.mark.parametrize("acting", WAYS)
@pytest.mark.parametrize("way", ["update", "update_from_memory", "set_weights", "load_model"])
def test_every_write_is_seen_by_the_next_action(
    make_agent, make_batch, backend, acting, way, reference, states, tmp_path
):
    agent = make_agent(backend, acting=acting, optimizer_spec={"learning_rate": 0.3})
    before = agent.get_actions(states, use_exploration=False)
    if way == "update":
        agent.update(make_batch(32))
    elif way == "update_from_memory":
        agent.observe(**make_batch(32), batched=True)
        agent.update()
    elif way == "set_weights":
        agent.set_weights(reference.randomised(agent.get_weights(), seed=2))
    else:
        other = make_agent(backend)
        other.set_weights(reference.randomised(agent.get_weights(), seed=2))
        agent.load_model(other.store_model(tmp_path / "model"))
    after = agent.get_actions(states, use_exploration=False)
    np.testing.assert_array_equal(after, reference.q_values(agent.get_weights(), states).argmax(axis=1))
    assert (after != before).mean() > 0.1


@pytest.fixture
def lowered(backend, monkeypatch):
    """Which plans the framework is given."""
    module, _, name = find_backend(backend).factory.partition(":")
    factory, lowered = getattr(import_module(module), name), []
    lower = factory.lower

    def spy(self, plan, segment, storage):
        lowered.append(plan.name)
        return lower(self, plan, segment, storage)

    monkeypatch.setattr(factory, "lower", spy)
    return lowered


def test_who_acts(make_agent, backend, lowered, states):
    """Acting on NumPy spares the framework all of it."""
    for acting, expected in (("numpy", []), ("backend", ["act", "act_greedily"])):
        lowered.clear()
        agent = make_agent(backend, acting=acting)
        agent.get_actions(states)
        agent.get_actions(states, use_exploration=False)
        assert lowered == expected


# Exploration.


def test_both_ways_to_act_explore_alike(make_agent, backend, states):
    agents = [make_agent(backend, acting=acting, exploration_spec={"epsilon_spec": 0.5}) for acting in WAYS]
    for _ in range(5):
        first, second = (agent.get_actions(states) for agent in agents)
        np.testing.assert_array_equal(first, second)
        assert agents[0].get_actions(states[0]) == agents[1].get_actions(states[0])


@pytest.mark.parametrize("batched", [True, False])
def test_exploration_is_uniform_with_probability_epsilon(make_agent, backend, batched):
    agent = make_agent(backend, exploration_spec={"epsilon_spec": 0.4})
    state, number = np.array([0.3, -0.2, 0.9], np.float32), 4000
    greedy = int(agent.get_actions(state, use_exploration=False))
    if batched:
        actions = agent.get_actions(np.tile(state, (number, 1)))
    else:
        actions = np.array([agent.get_actions(state) for _ in range(number)])
    shares = np.bincount(actions, minlength=4) / number
    expected = np.full(4, 0.4 / 4)
    expected[greedy] += 0.6
    # Five standard deviations of a binomial share.
    assert (np.abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / number)).all()


def test_no_exploration_on_request_and_none_at_epsilon_zero(make_agent, backend, states):
    always = make_agent(backend, exploration_spec={"epsilon_spec": 1.0})
    never = make_agent(backend, exploration_spec={"epsilon_spec": 0.0})
    greedy = never.get_actions(states, use_exploration=False)
    np.testing.assert_array_equal(never.get_actions(states), greedy)
    np.testing.assert_array_equal(always.get_actions(states, use_exploration=False), greedy)
    assert (always.get_actions(states) != greedy).mean() > 0.5


def test_greedy_actions_leave_the_random_stream_alone(make_agent, backend, states):
    first, second = (make_agent(backend, exploration_spec={"epsilon_spec": 1.0}) for _ in range(2))
    for _ in range(3):
        first.get_actions(states, use_exploration=False)
    np.testing.assert_array_equal(first.get_actions(states), second.get_actions(states))


def test_epsilon_follows_the_progress(make_agent, backend, states):
    schedule = {"type": "linear_decay", "from": 1.0, "to": 0.2, "end": 0.5}
    agent = make_agent(backend, exploration_spec={"epsilon_spec": schedule})
    for progress, epsilon in ((0.0, 1.0), (0.25, 0.6), (0.5, 0.2), (1.0, 0.2)):
        agent.set_progress(progress)
        assert agent.metrics() == {"epsilon": pytest.approx(epsilon, abs=1e-6)}
    greedy = agent.get_actions(states, use_exploration=False)
    # 0.2 * 3/4 of the actions differ from the greedy one.
    assert 0.05 < np.mean([(agent.get_actions(states) != greedy).mean() for _ in range(5)]) < 0.25


def test_scalar_states(make_agent, backend):
    agent = make_agent(
        backend,
        state_space=FloatBox(shape=(1,)),
        action_space=IntBox(2),
        exploration_spec={"epsilon_spec": 0.0},
    )
    actions = agent.get_actions(np.linspace(-1, 1, 7, dtype=np.float32)[:, None])
    assert actions.shape == (7,)
    assert np.shape(agent.get_actions([0.5])) == ()


def test_preprocessing_in_front_of_numpy_runs_there_too(make_agent, backend, lowered):
    options = {"state_space": IntBox(5), "preprocessing_spec": [{"type": "reshape", "flatten": True}]}
    for acting in WAYS:
        lowered.clear()
        agent = make_agent(backend, acting=acting, **options)
        states = agent.preprocess_states([3, 0])
        np.testing.assert_array_equal(states, [[0, 0, 0, 1, 0], [1, 0, 0, 0, 0]])
        assert states.dtype == np.float32
        assert ("preprocess" in lowered) == (acting == "backend")
