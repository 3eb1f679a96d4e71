"""DeterministicEnv, RandomEnv, seeds of environments, and the table of built-in names."""

import numpy as np
import pytest

from rlgraph.core import registry
from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    BitFlip,
    DeterministicEnv,
    Environment,
    EnvironmentFault,
    PartiallyObservedEnv,
    RandomEnv,
    TargetQuadrant,
    TMaze,
    environment_seed,
    make_environment,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


def test_deterministic_env_counts():
    env = DeterministicEnv(steps_to_terminal=3, reward_start=10.0)
    for _ in range(2):
        assert env.reset().tolist() == [0.0]
        steps = [env.step(0) for _ in range(3)]
        assert [step[0].tolist() for step in steps] == [[1.0], [2.0], [3.0]]
        assert [step[1:] for step in steps] == [(10.0 + i, i == 2, False, {}) for i in range(3)]
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
    env.reset()
    env.step(0)
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step(0)


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


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: DeterministicEnv(steps_to_terminal=0), "steps_to_terminal=0"),
        (lambda: RandomEnv(IntBox(3), IntBox(2), terminal_prob=2), "terminal_prob is a probability, got 2"),
        (lambda: RandomEnv(int, int, reward_space=FloatBox(shape=(2,))), "reward_space is a scalar Space"),
        (lambda: TMaze(length=0), r"TMaze.length: expected an integer >= 1, given 0"),
        (lambda: BitFlip(0), r"BitFlip.bits: expected an integer >= 1, given 0"),
        (
            lambda: TargetQuadrant(hidden="sound"),
            "hidden: expected 'picture', 'target' or None, given 'sound'",
        ),
        (
            lambda: PartiallyObservedEnv("CartPole-v1", [4]),
            r"observed: expected indices from 0 to 3, given \[4\]",
        ),
        (lambda: PartiallyObservedEnv("CartPole-v1", []), "observed: expected indices"),
        (
            lambda: PartiallyObservedEnv({"type": "grid_world"}, [0]),
            r"env: expected states that are floats \[N\]",
        ),
    ],
)
def test_wrong_arguments(make, said):
    with pytest.raises(SpecError, match=said):
        make()


@pytest.mark.parametrize("env", [RandomEnv(IntBox(3), IntBox(2)), TMaze(), DeterministicEnv(1)])
def test_step_before_reset(env):
    with pytest.raises(EnvironmentFault, match=rf"{type(env).__name__}: .*call reset"):
        env.step(0)


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
    "name",
    [
        "atari",
        "bit_flip",
        "deterministic",
        "grid_world",
        "gym",
        "openai",
        "openai_gym",
        "random",
        "random_env",
    ],
)
def test_names_in_specs_lead_to_environments(name):
    assert issubclass(registry("rlgraph.environments").load(name), Environment)


# Tasks that need memory.

EAST, WEST, NORTH, SOUTH = range(4)


def walk(env, seed, moves):
    """The first state, and what each move gave: (state, reward, terminated, truncated)."""
    first = env.reset(seed=seed).tolist()
    return first, [(state.tolist(), *rest[:3]) for state, *rest in map(env.step, moves)]


@pytest.mark.parametrize("seed", range(4))
def test_the_sign_of_the_maze_is_seen_once_and_tells_the_goal(seed):
    env = TMaze(length=2)
    (sign, *place), steps = walk(env, seed, [EAST, EAST, NORTH])
    assert place == [1.0, 0.0] and abs(sign) == 1.0
    assert steps[0] == ([0.0, 1.0, 0.0], 0.0, False, False)
    assert steps[1] == ([0.0, 0.0, 1.0], 0.0, False, False)
    assert steps[2][1:] == (4.0 if sign > 0 else -0.1, True, False)
    assert walk(env, seed, [EAST, EAST, SOUTH])[1][2][1] == (4.0 if sign < 0 else -0.1)


def test_walls_of_the_maze_cost_and_a_limit_truncates():
    _, steps = walk(TMaze(length=2, max_steps=4), 0, [WEST, NORTH, EAST, SOUTH])
    assert [step[1] for step in steps] == [-0.1, -0.1, 0.0, -0.1]
    assert [step[3] for step in steps] == [False, False, False, True]
    _, steps = walk(TMaze(length=1), 0, [EAST, EAST, WEST])
    assert [step[1] for step in steps] == [0.0, -0.1, 0.0]


def test_signs_differ_and_a_maze_continues_from_its_state():
    assert {TMaze().reset(seed=seed)[0] for seed in range(8)} == {-1.0, 1.0}
    env, other = TMaze(length=2), TMaze(length=2)
    env.reset(seed=3)
    env.step(EAST)
    assert other.set_state(env.get_state()).tolist() == [0.0, 1.0, 0.0]
    both = [[e.step(EAST), e.step(NORTH), e.reset(), e.reset(), e.reset()] for e in (env, other)]
    assert str(both[0]) == str(both[1])


def test_a_part_of_the_states_is_seen():
    env = PartiallyObservedEnv("CartPole-v1", observed=[0, 2])
    whole = make_environment("CartPole-v1")
    assert env.state_space.shape == (2,) and env.action_space == whole.action_space
    np.testing.assert_array_equal(env.state_space.high, whole.state_space.high[[0, 2]])
    np.testing.assert_array_equal(env.reset(seed=1), whole.reset(seed=1)[[0, 2]])
    (seen, *rest), (state, *others) = env.step(1), whole.step(1)
    np.testing.assert_array_equal(seen, state[[0, 2]])
    assert rest == others
    np.testing.assert_array_equal(
        PartiallyObservedEnv("CartPole-v1", [0]).set_state(env.get_state()), seen[:1]
    )


# Goals.


def test_bits_are_flipped_until_they_are_those_of_the_goal():
    env = BitFlip(6)
    state = env.reset(seed=2)
    wrong = np.flatnonzero(state["achieved_goal"] != state["desired_goal"])
    assert 0 < len(wrong) <= 6
    for i, bit in enumerate(wrong):
        before, (state, reward, terminated, truncated, info) = state, env.step(int(bit))
        assert np.flatnonzero(before["observation"] != state["observation"]).tolist() == [bit]
        assert env.state_space.explain(state, "state") is None
        is_last = i == len(wrong) - 1
        assert (reward, terminated, info["is_success"]) == (0.0 if is_last else -1.0, is_last, is_last)
    assert not truncated or len(wrong) == 6
    with pytest.raises(EnvironmentFault, match=r"BitFlip: .*call reset"):
        env.step(0)


def test_an_episode_of_bits_has_as_many_steps_as_bits_and_continues_from_its_state():
    env, other = BitFlip(3), BitFlip(3)
    env.reset(seed=1)
    env.step(0)
    np.testing.assert_equal(other.set_state(env.get_state()), env._observed())
    for each in (env, other):
        assert [each.step(action)[2:4] for action in (0, 0)][-1] in [(False, True), (True, True)]
    np.testing.assert_equal(env.reset(), other.reset())


def quadrant(env, state):
    """The action that picture and vector ask for, by a search."""
    rows, columns = np.nonzero(state["picture"][..., int(np.argmax(state["target"]))])
    return 2 * int(rows[0] >= 5) + int(columns[0] >= 5)


def test_target_quadrant_rewards_the_quadrant_of_the_target():
    env, total = TargetQuadrant(), 0.0
    state = env.reset(seed=3)
    for step in range(20):
        assert env.state_space.explain(state, "state") is None
        assert [np.count_nonzero(state["picture"][..., i]) for i in (0, 1)] == [1, 1]
        wrong = step == 4
        state, reward, terminal, truncated, _ = env.step((quadrant(env, state) + wrong) % 4)
        assert (reward, terminal, truncated) == (float(not wrong), False, step == 19)
        total += reward
    assert total == 19.0
    with pytest.raises(EnvironmentFault, match="reset"):
        env.step(0)


def test_target_quadrant_without_the_target_has_at_most_5_of_8_of_the_return():
    env, rewards = TargetQuadrant(), []
    state = env.reset(seed=1)
    for _ in range(4000):
        first = {**state, "target": np.array([1.0, 0.0])}
        state, reward, _, truncated, _ = env.step(quadrant(env, first))
        rewards.append(reward)
        state = env.reset() if truncated else state
    assert np.mean(rewards) == pytest.approx(12.5 / 20, abs=0.03)


@pytest.mark.parametrize(("hidden", "other"), [("picture", "target"), ("target", "picture")])
def test_target_quadrant_hides_a_part(hidden, other):
    state = TargetQuadrant(hidden=hidden).reset(seed=1)
    assert not state[hidden].any() and state[other].any()


def test_target_quadrant_goes_on_from_its_state():
    env, other = TargetQuadrant(), TargetQuadrant()
    assert env.get_state() is None
    env.reset(seed=1)
    env.step(0)
    state = other.set_state(env.get_state())
    assert quadrant(other, state) == quadrant(env, env._state())
    for action in (0, 1, 2):
        (mine, *rest), (its, *others) = env.step(action), other.step(action)
        assert rest == others
        assert all(np.array_equal(mine[name], its[name]) for name in mine)
