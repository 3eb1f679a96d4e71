"""Evaluation: whole greedy episodes, a fixed number in every environment, nothing learned."""

import numpy as np
import pytest
from doubles import Episodes, kept

from rlgraph.core import SpecError
from rlgraph.environments import DeterministicEnv, environment_seed, make_vector_env
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import Evaluation, EvaluationWarning, evaluate


class Noisy(Episodes):
    """States are noise by seed; the return counts how often action 1 was done in 6 steps."""

    def __init__(self):
        states, actions = FloatBox(shape=(3,)), IntBox(4)
        super().__init__(states, actions, length=6, reward=lambda env, action: float(action == 1))
        self.pairs = []

    def state(self):
        self.now = self.rng.normal(size=3).astype(np.float32)
        return self.now

    def step(self, action):
        self.pairs.append((self.now, int(action)))
        return super().step(action)


def lengths_from_one():
    """A list of environments and what makes them; their episodes last 1, 2, 3 ... steps, reward 1 each."""
    made, factory = kept(lambda: DeterministicEnv(len(made) + 1, reward_start=0.0))
    return made, factory


@pytest.fixture
def counting(make_agent):
    return make_agent("numpy", env={"type": "deterministic"})


@pytest.mark.parametrize(
    ("episodes", "lengths"),
    [
        (1, [1]),
        (3, [1, 2, 3]),
        (10, list(range(1, 11))),
        (13, [1, 1, 2, 2, 3, 3, *range(4, 11)]),
        (20, [n for n in range(1, 11) for _ in range(2)]),
    ],
)
def test_every_environment_has_its_quota(counting, episodes, lengths):
    """Whichever episodes end first would be the short ones: their mean would be 1, not 5.5."""
    made, factory = lengths_from_one()
    evaluation = evaluate(counting, factory, episodes, seed=0)
    assert list(evaluation.lengths) == lengths
    assert len(made) == min(episodes, 10)
    # 0 + 1 + ... + (n - 1)
    assert list(evaluation.returns) == [n * (n - 1) / 2 for n in lengths]


@pytest.mark.parametrize(("number", "made"), [(1, 1), (3, 3), (4, 4), (13, 13), (50, 13)])
def test_any_number_of_environments_shares_the_episodes(counting, number, made):
    """As evenly as whole episodes can be: nobody plays more for having shorter ones."""
    environments, factory = lengths_from_one()
    evaluation = evaluate(counting, factory, 13, seed=0, num_envs=number)
    shares = [evaluation.lengths.count(n) for n in range(1, made + 1)]
    assert len(environments) == made and sum(shares) == 13 and max(shares) - min(shares) <= 1
    assert counting.evaluate(13, env=lengths_from_one()[1], num_envs=number).lengths == evaluation.lengths


def test_the_number_of_environments_does_not_change_what_is_measured(make_agent):
    """Episodes end at random, long ones with higher returns: means over all numbers agree with the true one."""

    class Coin(Noisy):
        def step(self, action):
            state, _, _, _, info = super().step(action)
            return state, 1.0, bool(self.rng.random() < 0.2), False, info

    agent = make_agent("numpy", env=Noisy)
    for number in (1, 7, 40, 200):
        mean = evaluate(agent, Coin, 400, seed=3, num_envs=number).mean
        assert mean == pytest.approx(5.0, abs=4 * 20**0.5 / 20)  # of a geometric number: variance 20


def test_environments_that_cannot_be_several(counting):
    environment = DeterministicEnv(3)
    assert counting.evaluate(4, env=environment, num_envs=1).lengths == (3,) * 4
    with pytest.raises(
        SpecError, match="num_envs: expected an id, a spec or a function.*given one environment"
    ):
        counting.evaluate(4, env=environment, num_envs=2)
    vector = make_vector_env({"type": "deterministic"}, 2)
    assert len(counting.evaluate(4, env=vector, num_envs=2).lengths) == 4
    with pytest.raises(SpecError, match="num_envs"):
        counting.evaluate(4, env=vector, num_envs=3)
    vector.terminate()
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(SpecError, match="num_envs: expected an integer >= 1"):
            counting.evaluate(4, num_envs=wrong)
    with pytest.raises(SpecError, match="n_envs: there is no such argument. It is 'num_envs' here"):
        counting.evaluate(4, n_envs=2)


def test_mean_and_spread():
    evaluation = Evaluation((1.0, 2.0, 6.0), (3, 4, 5), 70)
    assert evaluation.mean == 3.0
    assert evaluation.std == pytest.approx(np.sqrt((4 + 1 + 9) / 3))
    assert evaluation.timesteps == 70


def test_it_is_greedy_and_leaves_the_agent_as_it_was(make_agent):
    made, factory = kept(Noisy)
    agent = make_agent("numpy", exploration_spec={"epsilon_spec": 1.0})
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    weights = agent.get_weights()
    streams = str(agent.executor.storage.stream("exploration").bit_generator.state)
    evaluation = agent.evaluate(4, env=factory)
    assert evaluation.lengths == (6, 6, 6, 6)
    for environment, episode_return in zip(made, evaluation.returns, strict=True):
        states = np.array([state for state, _ in environment.pairs])
        actions = [action for _, action in environment.pairs]
        assert actions == agent.get_actions(states, use_exploration=False).tolist()
        assert episode_return == actions[:6].count(1)
    assert agent.timesteps == evaluation.timesteps == 0
    assert agent.call_api_method("get_memory_size") == 0
    assert str(agent.executor.storage.stream("exploration").bit_generator.state) == streams
    np.testing.assert_equal(agent.get_weights(), weights)


def test_stochastic_actions_are_drawn_and_follow_the_seed(make_agent):
    """With epsilon 1, the return of 6 steps counts draws of one of four actions."""
    agent = make_agent("numpy", exploration_spec={"epsilon_spec": 1.0})
    drawn = agent.evaluate(400, env=Noisy, seed=5, stochastic=True)
    assert drawn.mean == pytest.approx(6 / 4, abs=4 * np.sqrt(6 * 3 / 16 / 400))
    assert drawn.std == pytest.approx(np.sqrt(6 * 3 / 16), rel=0.2)
    assert agent.evaluate(400, env=Noisy, seed=5, stochastic=True) == drawn
    assert agent.evaluate(400, env=Noisy, seed=6, stochastic=True) != drawn
    assert (agent.timesteps, agent.call_api_method("get_memory_size")) == (0, 0)


def test_seeds(make_agent):
    agent, (made, factory) = make_agent("numpy"), kept(Noisy)

    first = agent.evaluate(5, env=factory, seed=40)
    assert [environment.seeds[0] for environment in made] == [environment_seed(40, i) for i in range(5)]
    assert agent.evaluate(5, env=Noisy, seed=40) == first
    assert agent.evaluate(5, env=Noisy) == agent.evaluate(5, env=Noisy)
    others = {agent.evaluate(5, env=Noisy, seed=seed).returns for seed in range(6)}
    assert len(others) > 1


def test_evaluations_beside_training_play_other_episodes_each_time(make_agent):
    made, factory = kept(Noisy)
    agent = make_agent("numpy", update_spec={"do_updates": False})
    agent.learn(30, env=factory, evaluation_interval=10, evaluation_episodes=2)
    first_seeds = [environment.seeds[0] for environment in made]
    assert len(first_seeds) == len(set(first_seeds)) == 1 + 3 * 2


def test_made_environments_are_closed(counting):
    made, factory = kept(Episodes)
    evaluate(counting, factory, 3, seed=0)
    assert [environment.closed for environment in made] == [True] * 3
    instance = Episodes()
    assert len(evaluate(counting, instance, 3, seed=0).returns) == 3 and not instance.closed


def test_no_episodes(counting):
    with pytest.raises(SpecError, match="episodes: expected an integer >= 1, given 0"):
        counting.evaluate(0)


def test_an_episode_that_never_ends_is_cut(counting, monkeypatch):
    monkeypatch.setattr("rlgraph.workers.evaluation.LONGEST_EPISODE", 20)
    with pytest.warns(
        EvaluationWarning, match="did not end within 20 steps and were cut.*max_timesteps_per_episode"
    ):
        evaluation = evaluate(counting, lambda: DeterministicEnv(1000), 3, seed=0)
    assert evaluation.lengths == (20, 20, 20)
