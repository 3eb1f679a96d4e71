"""DeterministicEnv, RandomEnv, seeds of environments, and the table of built-in names."""

import numpy as np
import pytest

from rlgraph.core import registry
from rlgraph.core.errors import SpecError
from rlgraph.environments import DeterministicEnv, Environment, EnvironmentFault, RandomEnv, environment_seed
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


def test_deterministic_env_counts():
    env = DeterministicEnv(steps_to_terminal=3, reward_start=10.0)
    for _ in range(2):
        assert env.reset().tolist() == [0.0]
        steps = [env.step(0) for _ in range(3)]
        assert [step[0].tolist() for step in steps] == [[1.0], [2.0], [3.0]]
        assert [step[1:] for step in steps] == [
            (10.0, False, False, {}),
            (11.0, False, False, {}),
            (12.0, True, False, {}),
        ]
    assert env.state_space.explain(env.reset(), "state") is None


def test_deterministic_env_truncates():
    env = DeterministicEnv(steps_to_terminal=3, steps_to_truncation=2)
    env.reset()
    env.step(0)
    assert env.step(0)[2:4] == (False, True)
    both = DeterministicEnv(steps_to_terminal=1, steps_to_truncation=1)
    both.reset()
    assert both.step(0)[2:4] == (True, True)


def test_deterministic_env_errors():
    env = DeterministicEnv(steps_to_terminal=1)
    with pytest.raises(EnvironmentFault, match=r"DeterministicEnv: .*call reset"):
        env.step(0)
    env.reset()
    env.step(0)
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step(0)
    with pytest.raises(SpecError, match="steps_to_terminal=0"):
        DeterministicEnv(steps_to_terminal=0)


def episode(env, seed):
    trace = [env.reset(seed=seed)]
    for _ in range(1000):
        state, reward, terminated, truncated, _ = env.step(0)
        assert not truncated and type(reward) is float
        trace += [state, reward]
        if terminated:
            break
    return trace


def test_random_env_is_repeatable_and_stays_in_its_spaces():
    space = Dict(a=FloatBox(-1.0, 1.0, shape=(3,)), b=IntBox(5), c=BoolBox())
    env, other = RandomEnv(space, IntBox(2)), RandomEnv(space, IntBox(2), seed=4)
    first, second, third = episode(env, 4), episode(env, 4), episode(other, None)
    assert len(first) == len(second) == len(third)
    for x, y, z in zip(first, second, third, strict=True):
        np.testing.assert_equal(x, y)
        np.testing.assert_equal(x, z)
    assert all(space.explain(state, "state") is None for state in [first[0], *first[1::2]])


def test_random_env_terminal_probability():
    env = RandomEnv(float, int, terminal_prob=0.25, seed=1)
    ends = 0
    env.reset()
    for _ in range(4000):
        if env.step(0)[2]:
            ends += 1
            env.reset()
    assert 900 < ends < 1100  # 1000 expected, standard deviation 27


def test_random_env_reward_space():
    env = RandomEnv(IntBox(3), IntBox(2), reward_space=FloatBox(5.0, 6.0), terminal_prob=0.0, seed=1)
    env.reset()
    assert all(5.0 <= env.step(1)[1] <= 6.0 for _ in range(20))


def test_random_env_errors():
    with pytest.raises(SpecError, match="terminal_prob is a probability, got 2"):
        RandomEnv(IntBox(3), IntBox(2), terminal_prob=2)
    with pytest.raises(SpecError, match="reward_space is a scalar Space"):
        RandomEnv(IntBox(3), IntBox(2), reward_space=FloatBox(shape=(2,)))
    with pytest.raises(EnvironmentFault, match=r"RandomEnv: .*call reset"):
        RandomEnv(IntBox(3), IntBox(2)).step(0)


def test_environment_seed_is_that_of_the_spawned_sequence():
    spawned = np.random.SeedSequence(7).spawn(3)
    assert [environment_seed(7, i) for i in range(3)] == [int(s.generate_state(1)[0]) for s in spawned]
    seeds = {
        environment_seed(root, i, *more) for root in range(20) for i in range(20) for more in ((), (0,), (1,))
    }
    assert len(seeds) == 20 * 20 * 3


@pytest.mark.parametrize("env", [RandomEnv(float, int, seed=3), DeterministicEnv(), DeterministicEnv(3)])
def test_inner_state_leads_back_to_the_same_trajectory(env):
    env.reset()
    env.step(0)
    taken = env.get_state()

    def onwards():
        for _ in range(30):
            outcome = env.step(0)
            yield outcome
            if outcome[2]:
                yield env.reset()

    expected = list(onwards())
    env.set_state(taken)
    np.testing.assert_equal(list(onwards()), expected)


def test_deterministic_random_env():
    one, two, third = (RandomEnv(float, int, deterministic=flag) for flag in (True, True, False))
    states = [[env.reset() for _ in range(3)] for env in (one, two, third)]
    assert states[0] == states[1] != states[2]
    again = RandomEnv(float, int, deterministic=True, seed=10)
    assert [again.reset() for _ in range(3)] == states[0]


@pytest.mark.parametrize(
    "name", ["atari", "deterministic", "grid_world", "gym", "openai", "openai_gym", "random", "random_env"]
)
def test_names_in_specs_lead_to_environments(name):
    assert issubclass(registry("rlgraph.environments").load(name), Environment)
