"""SequentialVectorEnv: rows, ends, buffers, seeds and every mistake one is likely to make with it."""

import gymnasium
import numpy as np
import pytest

from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    DeterministicEnv,
    Environment,
    EnvironmentFault,
    GridWorld,
    OpenAIGymEnv,
    RandomEnv,
    SequentialVectorEnv,
    environment_seed,
)
from rlgraph.environments.vector.sequential_vector_env import CHECKED_STEPS
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple


class Scripted(Environment):
    """Gives the steps it was told, with one float32 as the state."""

    def __init__(self, *script, first=0.0, action_space=None):
        super().__init__(FloatBox(-10.0, 10.0, shape=(1,)), action_space or IntBox(2))
        self.script, self.first, self.actions, self.closed = list(script), first, [], False

    def reset(self, seed=None):
        return np.array([self.first], np.float32)

    def step(self, action):
        self.actions.append(action)
        given = self.script.pop(0)
        if isinstance(given, Exception):
            raise given
        state, reward, terminated, truncated = given
        return np.asarray(state, np.float32).reshape(-1), reward, terminated, truncated, {}

    def render(self):
        return "picture"

    def terminate(self):
        self.closed = True


def zeros(env):
    return np.zeros(env.num_environments, np.int64)


def test_deterministic_envs_by_hand():
    env = SequentialVectorEnv([lambda: DeterministicEnv(2, 0.0), lambda: DeterministicEnv(9, 5.0, 50.0, 3)])
    assert env.reset(seed=0).tolist() == [[0.0], [50.0]]
    expected = [
        # states, rewards, terminated, truncated, final states, finished
        ([1, 51], [0, 5], [False, False], [False, False], [1, 51], []),
        ([0, 52], [1, 6], [True, False], [False, False], [2, 52], [0]),
        ([1, 50], [0, 7], [False, False], [False, True], [1, 53], [1]),
        ([0, 51], [1, 5], [True, False], [False, False], [2, 51], [0]),
        ([1, 52], [0, 6], [False, False], [False, False], [1, 52], []),
        ([0, 50], [1, 7], [True, False], [False, True], [2, 53], [0, 1]),
    ]
    for states, rewards, terminated, truncated, final, finished in expected:
        got = env.step(zeros(env))
        assert got[0].ravel().tolist() == states and got[0].dtype == np.float32 and got[0].shape == (2, 1)
        assert got[1].tolist() == rewards and got[1].dtype == np.float32
        assert got[2].tolist() == terminated and got[2].dtype == np.bool_
        assert got[3].tolist() == truncated and got[3].dtype == np.bool_
        assert got[4] == [{}, {}]
        assert env.final_states.ravel().tolist() == final
        assert env.finished == finished


def test_terminated_and_truncated_in_one_step_both_stay():
    env = SequentialVectorEnv([DeterministicEnv(1, 0.0, 0.0, 1)])
    env.reset()
    _, _, terminated, truncated, _ = env.step([0])
    assert terminated.tolist() == [True] and truncated.tolist() == [True]


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_cart_pole_equals_a_loop_over_gymnasium(size, validate):
    env = SequentialVectorEnv(
        [lambda: OpenAIGymEnv("CartPole-v1", max_episode_steps=25)] * size, validate_states=validate
    )
    raws = [gymnasium.make("CartPole-v1", max_episode_steps=25) for _ in range(size)]
    first = [raw.reset(seed=environment_seed(11, i))[0] for i, raw in enumerate(raws)]
    np.testing.assert_array_equal(env.reset(seed=11), first)
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(300):
        actions = rng.integers(2, size=size)
        states, rewards, terminated, truncated, infos = env.step(actions)
        for i, raw in enumerate(raws):
            observation, reward, ended, cut, info = raw.step(int(actions[i]))
            assert (rewards[i], terminated[i], truncated[i], infos[i]) == (reward, ended, cut, info)
            np.testing.assert_array_equal(env.final_states[i], observation)
            if ended or cut:
                kinds.add((ended, cut))
                observation, _ = raw.reset()
            np.testing.assert_array_equal(states[i], observation)
    assert {(True, False), (False, True)} <= kinds


def test_pendulum_with_float_actions():
    env = SequentialVectorEnv([lambda: OpenAIGymEnv("Pendulum-v1", max_episode_steps=4)] * 2)
    raws = [gymnasium.make("Pendulum-v1", max_episode_steps=4) for _ in range(2)]
    env.reset(seed=1)
    for i, raw in enumerate(raws):
        raw.reset(seed=environment_seed(1, i))
    rng = np.random.default_rng(0)
    for _ in range(10):
        actions = rng.uniform(-2.0, 2.0, (2, 1)).astype(np.float32)
        _, rewards, terminated, truncated, _ = env.step(actions)
        for i, raw in enumerate(raws):
            observation, reward, _, cut, _ = raw.step(actions[i])
            np.testing.assert_array_equal(env.final_states[i], observation)
            assert rewards[i] == np.float32(reward) and truncated[i] == cut and not terminated[i]
            if cut:
                raw.reset()


def test_containers_of_states_and_actions():
    states = Dict(a=FloatBox(-1.0, 1.0, shape=(2,)), b=Tuple(IntBox(5), BoolBox()))
    actions = Dict(move=IntBox(4), aim=Tuple(FloatBox(-1.0, 1.0, shape=(2,)), BoolBox()))

    class Watching(RandomEnv):
        def step(self, action):
            given.append(action)
            result = super().step(action)
            seen.append(result[0])
            return result

    given, seen = [], []
    env = SequentialVectorEnv([lambda: Watching(states, actions, terminal_prob=0.5)] * 3)
    first = env.reset(seed=2)
    assert first["a"].shape == (3, 2) and first["b"][0].shape == (3,) and first["b"][1].dtype == np.bool_
    rng = np.random.default_rng(0)
    for _ in range(20):
        batch = actions.sample(3, rng=rng)
        given.clear()
        seen.clear()
        env.step(batch)
        for i in range(3):
            assert given[i]["move"] == batch["move"][i] and given[i]["aim"][1] == batch["aim"][1][i]
            np.testing.assert_array_equal(given[i]["aim"][0], batch["aim"][0][i])
            np.testing.assert_array_equal(env.final_states["a"][i], seen[i]["a"])
            assert (
                env.final_states["b"][0][i] == seen[i]["b"][0]
                and env.final_states["b"][1][i] == seen[i]["b"][1]
            )


def test_arrays_live_through_the_next_step_and_no_longer():
    env = SequentialVectorEnv([lambda: DeterministicEnv(2, 0.0)])
    s0 = env.reset()
    s1, r1, t1, _, _ = env.step([0])
    s2, r2, t2, _, _ = env.step([0])
    assert (s1.item(), r1.item(), t1.item()) == (1.0, 0.0, False)
    assert (s2.item(), r2.item(), t2.item(), env.final_states.item()) == (0.0, 1.0, True, 2.0)
    assert s0 is s2 and not np.shares_memory(s1, s2)
    final = env.final_states
    s3, _, t3, _, _ = env.step([0])
    assert s3 is s1 and final.item() == 2.0 and s2.item() == 0.0 and t2.item() is True and t3.item() is False
    assert env.final_states is s3


def test_seeds():
    env = SequentialVectorEnv(
        [lambda: RandomEnv(FloatBox(0.0, 1.0, shape=(4,)), IntBox(2), terminal_prob=0.2)] * 3
    )

    def run(seed):
        trace = [env.reset(seed=seed).copy()]
        for _ in range(50):
            trace.append(env.step(zeros(env))[0].copy())
        return np.stack(trace)

    first = run(3)
    np.testing.assert_array_equal(first, run(3))
    assert not np.array_equal(first, run(4)) and not np.array_equal(first, run(None))
    assert len({tuple(row) for row in first[0]}) == 3


def test_reset_in_the_middle_clears_the_ends():
    env = SequentialVectorEnv([lambda: DeterministicEnv(1, 0.0)])
    env.reset()
    env.step([0])
    assert env.finished == [0]
    env.reset()
    assert env.finished == [] and env.final_states.item() == 0.0


def test_render_and_terminate():
    parts = [Scripted(), Scripted()]
    env = SequentialVectorEnv(parts)
    assert env.render(1) == "picture"
    env.terminate()
    assert parts[0].closed and parts[1].closed
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step([0, 0])


# Checks of the first episode, and after it.


def test_a_state_outside_the_space_names_environment_step_and_leaf():
    environments = [Scripted((1.0, 0.0, False, False)), Scripted((11.0, 0.0, False, False))]
    env = SequentialVectorEnv(environments, validate_states=True)
    env.reset()
    with pytest.raises(EnvironmentFault, match=r"Scripted, environment 1, step 1: .*state"):
        env.step([0, 0])
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step([0, 0])


def test_a_leaf_of_a_container_is_named():
    class Wrong(RandomEnv):
        def step(self, action):
            state, *rest = super().step(action)
            return {**state, "gear": np.int64(3)}, *rest

    space = Dict(speed=FloatBox(-1.0, 1.0, shape=(2,)), gear=IntBox(3))
    env = SequentialVectorEnv([RandomEnv(space, IntBox(2)), Wrong(space, IntBox(2))])
    env.reset(seed=1)
    with pytest.raises(EnvironmentFault, match=r"Wrong, environment 1, step 1: state/gear"):
        env.step([0, 0])


def test_the_first_state_is_step_0():
    env = SequentialVectorEnv([Scripted(first=-11.0)], validate_states=True)
    with pytest.raises(EnvironmentFault, match=r"Scripted, environment 0, step 0: .*state"):
        env.reset()


def test_bounds_of_floats_are_checked_in_every_episode_or_in_none():
    script = [(99.0, 0.0, True, False), (99.0, 0.0, False, False)]
    quick = SequentialVectorEnv([Scripted(*script, first=-11.0)])
    quick.reset()
    for _ in range(2):
        quick.step([0])
        assert quick.final_states.item() == 99.0
    script = [(1.0, 0.0, True, False), (99.0, 0.0, False, False)]
    strict = SequentialVectorEnv([Scripted(*script)], validate_states=True)
    strict.reset()
    strict.step([0])
    with pytest.raises(EnvironmentFault, match=r"environment 0, step 1: .*state"):
        strict.step([0])


def test_checks_of_an_endless_first_episode_end():
    env = SequentialVectorEnv([Scripted(*[(0.0, 0.0, False, False)] * CHECKED_STEPS)])
    env.reset()
    for _ in range(CHECKED_STEPS - 1):
        env.step([0])
    env.step([5])  # no action of its Space


def test_each_environment_is_checked_for_its_own_first_episode():
    short, long = [(0.0, 0.0, True, False)] * 4, [(0.0, 0.0, False, False)] * 4
    env = SequentialVectorEnv([Scripted(*short), Scripted(*long)])
    env.reset()
    for action in (0, 5, 5):
        env.step([action, 0])
    with pytest.raises(EnvironmentFault, match=r"environment 1, step 4: .*action"):
        env.step([0, 5])


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), float("-inf"), np.float32("nan"), 1e39])
@pytest.mark.parametrize("episodes_before", [0, 1])
def test_a_reward_that_is_not_finite(reward, episodes_before):
    good, last = (0.0, 1.0, True, False), (0.0, 1.0, False, False)
    env = SequentialVectorEnv(
        [
            Scripted(*[good] * episodes_before, last, last, last),
            Scripted(*[good] * episodes_before, last, (0.0, reward, False, False)),
        ]
    )
    env.reset()
    for _ in range(episodes_before + 1):
        env.step([0, 0])
    with pytest.raises(
        EnvironmentFault, match=r"Scripted, environment 1, step 2: the reward is (nan|-?inf|1e.39)"
    ):
        env.step([0, 0])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ((np.zeros(1, np.float32), 0.0, False, {}), "got a tuple of 4"),
        (None, "got NoneType"),
        (
            (np.zeros(1, np.float32), np.zeros(2), False, False, {}),
            r"the reward is one number, got ndarray of shape \(2,\)",
        ),
        ((np.zeros(1, np.float32), 0.0, 0, False, {}), "terminated is a bool, got 0"),
        ((np.zeros(1, np.float32), 0.0, False, None, {}), "truncated is a bool, got None"),
        ((np.zeros(1, np.float32), 0.0, False, False, None), "info is a dict, got NoneType"),
    ],
)
def test_a_step_of_the_wrong_form(result, message):
    class Odd(Scripted):
        def step(self, action):
            return result

    env = SequentialVectorEnv([Odd()])
    env.reset()
    with pytest.raises(EnvironmentFault, match=rf"Odd, environment 0, step 1: .*{message}"):
        env.step([0])


def test_infos_are_plain_dicts():
    class Info(dict):
        def get(self, key, default=None):
            raise RuntimeError("no luck")

    class Unreadable(Info):
        def keys(self):
            raise RuntimeError("no luck")

        __iter__ = keys

    def environment(info):
        class Odd(Scripted):
            def step(self, action):
                return np.zeros(1, np.float32), 0.0, False, False, info

        env = SequentialVectorEnv([Odd()])
        env.reset()
        return env

    (info,) = environment(Info(a=1)).step([0])[-1]
    assert (type(info), info) == (dict, {"a": 1})
    with pytest.raises(EnvironmentFault, match=r"Odd, environment 0, step 1: .*RuntimeError: no luck"):
        environment(Unreadable(a=1)).step([0])


# Actions.


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (
            np.zeros((2, 1), np.int64),
            r"actions has the shape \(2, 1\), expected \(2,\): one row per environment",
        ),
        (np.zeros(3, np.int64), r"shape \(3,\), expected \(2,\)"),
        (1, r"shape \(\), expected \(2,\)"),
        (np.zeros(2, np.float32), "actions has the dtype float32, expected int"),
    ],
)
def test_actions_of_the_wrong_shape_or_dtype_reach_no_environment(actions, message):
    parts = [Scripted((0.0, 0.0, False, False)), Scripted((0.0, 0.0, False, False))]
    env = SequentialVectorEnv(parts)
    env.reset()
    with pytest.raises(EnvironmentFault, match=message):
        env.step(actions)
    assert not parts[0].actions
    env.step([0, 1])
    assert [part.actions for part in parts] == [[0], [1]]


def test_container_actions_of_the_wrong_structure():
    space = Dict(move=IntBox(4), aim=Tuple(FloatBox(-1.0, 1.0, shape=(2,)), BoolBox()))
    env = SequentialVectorEnv([RandomEnv(IntBox(3), space)])
    env.reset(seed=1)
    good = space.sample(1, rng=np.random.default_rng(0))
    for batch, message in [
        ({"move": good["move"]}, r"actions is a dict with the keys \['aim', 'move'\], got \['move'\]"),
        (good["move"], r"actions is a dict with the keys \['aim', 'move'\], got ndarray"),
        ({**good, "aim": good["aim"][:1]}, "actions/aim is a tuple of 2, got 1"),
        ({**good, "aim": 3}, "actions/aim is a tuple of 2, got int"),
        (
            {**good, "aim": (np.zeros((1, 3), np.float32), good["aim"][1])},
            r"actions/aim/0 has the shape \(1, 3\)",
        ),
    ]:
        with pytest.raises(EnvironmentFault, match=message):
            env.step(batch)
    env.step(good)


@pytest.mark.parametrize("episodes_before", [0, 1])
def test_an_action_outside_the_space(episodes_before):
    env = SequentialVectorEnv([lambda: GridWorld("2x2"), lambda: GridWorld("2x2")])
    env.reset()
    for _ in range(episodes_before):
        env.step([1, 1])  # into the hole
    with pytest.raises(
        EnvironmentFault, match=r"GridWorld\('2x2'\), environment 1, step 1: action: .* given 7"
    ):
        env.step([0, 7])


@pytest.mark.parametrize("episodes_before", [0, 1])
def test_an_action_outside_the_space_of_gymnasium(episodes_before):
    env = SequentialVectorEnv([lambda: OpenAIGymEnv("CartPole-v1", max_episode_steps=1)])
    env.reset()
    for _ in range(episodes_before):
        env.step([1])
    with pytest.raises(EnvironmentFault, match=r"CartPole-v1, environment 0, step 1: .*action"):
        env.step([2])


@pytest.mark.parametrize("episodes_before", [0, 1])
def test_an_error_inside_an_environment_is_a_fault_that_says_where(episodes_before):
    good = [(0.0, 0.0, True, False)] * episodes_before
    env = SequentialVectorEnv(
        [Scripted(*good, (0.0, 0.0, False, False)), Scripted(*good, ZeroDivisionError("inside"))]
    )
    env.reset()
    for _ in range(episodes_before):
        env.step([0, 0])
    where = r"Scripted, environment 1, step 1: raised ZeroDivisionError: inside \(.*test_sequential_vector_env.py, line"
    with pytest.raises(EnvironmentFault, match=where) as caught:
        env.step([0, 1])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.__cause__.__notes__ == ["action 1"]


def test_after_an_error_a_reset_makes_all_well():
    end = (1.0, 0.0, True, False)
    env = SequentialVectorEnv(
        [Scripted(end, end, *[(2.0, 0.0, False, False)] * 3), Scripted(end, ValueError("x"), *[end] * 3)]
    )
    env.reset()
    env.step([0, 0])
    with pytest.raises(EnvironmentFault, match="environment 1, step 1: raised ValueError: x"):
        env.step([0, 0])  # after environment 0 has ended
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step([0, 0])
    env.reset()
    for _ in range(2):
        _, _, terminated, _, _ = env.step([0, 0])
        assert terminated.tolist() == [False, True]


def test_an_error_in_a_reset_says_where():
    class Stuck(Scripted):
        def reset(self, seed=None):
            raise OSError("no window")

    env = SequentialVectorEnv([Scripted(), Stuck()])
    with pytest.raises(EnvironmentFault, match="Stuck, environment 1, reset: raised OSError: no window"):
        env.reset()


# Construction.


@pytest.mark.parametrize(
    ("environments", "message"),
    [
        ([], "at least one environment"),
        (
            [lambda: gymnasium.make("CartPole-v1")],
            "environment 0 is a TimeLimit, not an Environment; wrap .*OpenAIGymEnv",
        ),
        ([gymnasium.make("CartPole-v1")], "environment 0 is a TimeLimit, not an Environment"),
        (GridWorld("2x2"), "a list of environments or of functions that make them, got GridWorld"),
        ([GridWorld("2x2")] * 2, "one environment object was given more than once"),
        (
            [GridWorld("2x2"), GridWorld("4x4")],
            "all environments need the same state_space; environment 0 has .*environment 1",
        ),
        ([Scripted(), Scripted(action_space=IntBox(3))], "all environments need the same action_space"),
    ],
)
def test_wrong_construction(environments, message):
    with pytest.raises(SpecError, match=message):
        SequentialVectorEnv(environments)


def test_step_before_reset():
    with pytest.raises(EnvironmentFault, match=r"SequentialVectorEnv: call reset\(\) before step\(\)"):
        SequentialVectorEnv([GridWorld("2x2")]).step([0])
