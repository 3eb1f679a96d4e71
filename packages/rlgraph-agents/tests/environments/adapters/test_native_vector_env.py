"""Gymnasium's vector environments: no mode of resetting gives a transition across two episodes."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import cartpole
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from rlgraph.core.errors import SpecError
from rlgraph.environments import EnvironmentFault, NativeVectorEnv, SequentialVectorEnv, make_vector_env
from rlgraph.environments.adapters.cart_pole_vector_env import CartPoleVectorEnv


class Counting(gymnasium.Env):
    """Counts its steps; the episode is terminated after `steps`, or truncated."""

    action_space = gymnasium.spaces.Discrete(2, start=1)

    def __init__(self, steps, truncates=False, is_dict=False):
        box = gymnasium.spaces.Box(-100.0, 100.0, (1,), np.float64)
        self.observation_space = gymnasium.spaces.Dict(x=box) if is_dict else box
        self.steps, self.truncates, self.is_dict, self.count = steps, truncates, is_dict, 0

    def _state(self):
        state = np.array([self.count], np.float64)
        return {"x": state} if self.is_dict else state

    def reset(self, seed=None, options=None):
        self.count = 0
        return self._state(), {}

    def step(self, action):
        assert action in (1, 2)
        self.count += 1
        end = self.count == self.steps
        return (
            self._state(),
            float(action),
            end and not self.truncates,
            end and self.truncates,
            {"n": self.count},
        )


def transitions(env, steps):
    """What an agent would observe: (environment, state, reward, terminated, truncated, next state)."""
    seen, states = [], env.reset(seed=0)
    pick = (lambda rows: rows["x"]) if isinstance(states, dict) else (lambda rows: rows)
    for _ in range(steps):
        before = np.array(pick(states))
        states, rewards, terminated, truncated, infos = env.step(np.array([0, 1]))
        after = pick(env.final_states)
        for i in range(2):
            if i not in env.dropped:
                values = before[i, 0], rewards[i], terminated[i], truncated[i], after[i, 0], infos[i]["n"]
                seen.append((i, *(float(value) for value in values)))
    return seen


EPISODES = [
    [(0, 0, 1, 0, 0, 1, 1), (0, 1, 1, 1, 0, 2, 2)],
    [(1, 0, 2, 0, 0, 1, 1), (1, 1, 2, 0, 0, 2, 2), (1, 2, 2, 0, 1, 3, 3)],
]


@pytest.mark.parametrize("is_dict", [False, True])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_every_autoreset_mode_gives_whole_episodes(mode, is_dict):
    makers = [lambda: Counting(2, False, is_dict), lambda: Counting(3, True, is_dict)]
    env = make_vector_env(SyncVectorEnv(makers, autoreset_mode=mode))
    assert isinstance(env, NativeVectorEnv) and env.num_environments == 2
    seen = transitions(env, 12)
    for i, episode in enumerate(EPISODES):
        mine = [row for row in seen if row[0] == i]
        whole = [tuple(float(v) for v in row) for row in episode * 6]
        assert mine == whole[: len(mine)] and len(mine) >= 8
    assert len(seen) == 24 if mode is not AutoresetMode.NEXT_STEP else len(seen) == 8 + 9
    assert env.restarts == 0


def test_idle_rows_are_those_that_were_reset():
    env = NativeVectorEnv(SyncVectorEnv([lambda: Counting(2), lambda: Counting(3)]))
    env.reset()
    idle = []
    for _ in range(5):
        env.step(np.array([0, 1]))
        idle.append((list(env.finished), list(env.idle), list(env.dropped)))
    assert idle == [([], [], []), ([0], [], []), ([1], [0], [0]), ([], [1], [1]), ([0], [], [])]


def test_cart_poles_equal_single_ones():
    """Each row moves like Gymnasium's single environment from the same state, and every row is a transition."""
    env, single = make_vector_env("CartPole-v1", 8), gymnasium.make("CartPole-v1").unwrapped
    assert isinstance(env, NativeVectorEnv)
    states, rng, ends = env.reset(seed=3), np.random.default_rng(0), 0
    for _ in range(60):
        actions, kept, inner = rng.integers(0, 2, 8), states.copy(), env.gym_env.state.T.copy()
        following, rewards, terminated, truncated, _ = env.step(actions)
        np.testing.assert_array_equal(states, kept)
        for i, action in enumerate(actions):
            single.reset()
            single.state = inner[i]
            expected, _, ended, _, _ = single.step(action)
            np.testing.assert_allclose(env.final_states[i], expected, rtol=1e-6)
            assert terminated[i] == ended and rewards[i] == 1 and not truncated[i]
            if ended:
                ends += 1
                assert (np.abs(following[i]) <= 0.05).all() and i in env.finished
            else:
                np.testing.assert_array_equal(following[i], env.final_states[i])
        assert not env.dropped
        states = following
    assert ends > 8


def test_cart_poles_are_truncated_after_500_steps():
    env = make_vector_env("CartPole-v1", 8)
    env.reset(seed=1)
    for i in range(1, 501):
        env.gym_env.state[:, 1:] = 0.0  # these stay upright
        _, _, terminated, truncated, _ = env.step(np.zeros(8, np.int64))
        assert not terminated[1:].any() and truncated[1:].all() == (i == 500)
    assert env.gym_env.steps[1:].tolist() == [0] * 7


@pytest.mark.parametrize("penalizes", [False, True])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"kinematics_integrator": "semi-implicit", "length": 0.8, "gravity": 5.0},
        {"gravity": np.float32(9.81), "tau": np.float32(0.02)},
    ],
)
@pytest.mark.parametrize("number", [16, 20])  # one by one, all at once
def test_cart_poles_equal_those_of_gymnasium(changed, penalizes, number):
    """The same numbers, bit for bit, as Gymnasium's vector class from the same states, with the same attributes."""
    env, gyms = (
        cls(number, sutton_barto_reward=penalizes) for cls in (CartPoleVectorEnv, cartpole.CartPoleVectorEnv)
    )
    for each in (env, gyms):
        each.reset(seed=0)
        for name, value in changed.items():
            setattr(each, name, value)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(300):
        env.steps[0] = rng.integers(450, 500)
        gyms.state, gyms.steps, gyms.prev_done = (
            env.state.copy(),
            env.steps.copy(),
            np.zeros(number, np.bool_),
        )
        actions, before = rng.integers(0, 2, number), env.state
        kept = before.copy()
        observations, *results, infos = env.step(actions)
        expected, *others, _ = gyms.step(actions)
        np.testing.assert_array_equal(before, kept, err_msg="the old states are left as they were")
        np.testing.assert_array_equal(infos.get("final_obs", observations), expected, strict=True)
        for result, other in zip(results, others, strict=True):
            np.testing.assert_array_equal(result, other, strict=True)
        ended = results[1] | results[2]
        np.testing.assert_array_equal(env.state[:, ~ended], gyms.state[:, ~ended], strict=True)
        np.testing.assert_array_equal(env.steps, np.where(ended, 0, gyms.steps))
        assert (np.abs(env.state[:, ended]) <= 0.05).all() and (ended == infos.get("_final_obs", False)).all()
        ends += ended.sum()
    assert ends > 100


@pytest.mark.parametrize("wrong", [2, -1])
def test_cart_poles_refuse_other_actions(wrong):
    env, actions = NativeVectorEnv("CartPole-v1", 3), np.array([0, 1, 1])
    env.reset(seed=0)
    env.step(actions.astype(np.int32))
    actions[2] = wrong
    expected = rf"CartPole-v1, step 2 .*0 or 1 for each of 3 poles, given array\(\[ *0, +1, +{wrong}\]"
    with pytest.raises(EnvironmentFault, match=expected):
        env.step(actions)


def test_cart_poles_refuse_what_is_not_a_step():
    env = CartPoleVectorEnv(3)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"reset\(\) before step"):
        env.step(np.zeros(3, np.int64))
    env.reset(seed=0)
    env.step([0, 1, 1])
    for wrong in (np.zeros(2, np.int64), np.zeros((3, 1), np.int64), np.zeros(3), 0):
        with pytest.raises(ValueError, match="0 or 1 for each of 3 poles"):
            env.step(wrong)


def test_empty_infos_are_dicts_like_others():
    env = make_vector_env("CartPole-v1", 8)
    env.reset(seed=1)
    *_, infos = env.step(np.zeros(8, np.int64))
    assert len(infos) == 8 and not any(infos) and infos[1:3] == [{}, {}]
    infos[0]["seen"] = True
    expected = [{"seen": True}, *[{}] * 7]
    assert infos == expected == copy.deepcopy(infos) == list(infos) and repr(infos) == repr(expected)


def test_what_auto_takes():
    assert isinstance(make_vector_env("CartPole-v1", 7), SequentialVectorEnv)
    assert isinstance(make_vector_env({"type": "openai_gym", "gym_env": "CartPole-v1"}, 16), NativeVectorEnv)
    limited = {"type": "openai_gym", "gym_env": "CartPole-v1", "max_episode_steps": 5}
    assert isinstance(make_vector_env(limited, 16), SequentialVectorEnv)
    assert isinstance(make_vector_env("Acrobot-v1", 16), SequentialVectorEnv)
    assert isinstance(make_vector_env("CartPole-v1", 16, validate_states=True), SequentialVectorEnv)
    assert isinstance(make_vector_env("CartPole-v1", 2, "native"), NativeVectorEnv)


def test_mistakes():
    with pytest.raises(SpecError, match="no vectorised class for 'Acrobot-v1'"):
        make_vector_env("Acrobot-v1", 2, "native")
    with pytest.raises(SpecError, match="takes a gymnasium id"):
        make_vector_env({"type": "grid_world"}, 2, "native")
    with pytest.raises(SpecError, match="vectorization: expected one of auto, sequential"):
        make_vector_env("CartPole-v1", 2, "parallel")
    env = NativeVectorEnv("CartPole-v1", 2)
    with pytest.raises(EnvironmentFault, match=r"call reset\(\)"):
        env.step(np.zeros(2, np.int64))
    env.reset()
    with pytest.raises(EnvironmentFault, match="one row per environment"):
        env.step(np.zeros(3, np.int64))
    unspoken = SyncVectorEnv([lambda: Counting(2)])
    unspoken.metadata = {}
    with pytest.raises(SpecError, match="autoreset_mode"):
        NativeVectorEnv(unspoken)


# States.


def test_a_restored_vector_continues_with_the_same_numbers():
    actions = np.random.default_rng(0).integers(0, 2, (80, 3))
    env, other = (make_vector_env("CartPole-v1", 3, "native") for _ in range(2))
    assert env.get_states() is None
    env.reset(seed=1)
    ends = 0
    for i in range(40):
        following = env.step(actions[i])[0]
        ends += len(env.finished)
        states = env.get_states()
        np.testing.assert_array_equal(other.set_states(states), following)
        ahead = [other.step(action)[:4] for action in actions[i + 1 : i + 40]]
        env.set_states(states)
        for action, expected in zip(actions[i + 1 : i + 40], ahead, strict=True):
            np.testing.assert_equal(env.step(action)[:4], expected)
        env.set_states(states)
    assert ends >= 3
    with pytest.raises(ValueError, match="expected the states of 3 environments, given 2"):
        env.set_states(states[:2])


def test_unknown_vectors_have_no_states():
    env = NativeVectorEnv(SyncVectorEnv([lambda: Counting(2)] * 2))
    env.reset()
    assert env.get_states() is None


# Mistakes.


def test_what_a_vector_environment_lacks():
    class Bare(gymnasium.vector.VectorEnv):
        num_envs = 2
        single_observation_space = gymnasium.spaces.Discrete(2)

    env = Bare()
    env.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    with pytest.raises(SpecError, match="Bare: expected an attribute 'single_action_space', as gymnasium"):
        NativeVectorEnv(env)


def test_a_pool_that_steps_some_at_a_time():
    env = SyncVectorEnv([lambda: Counting(2)] * 2)
    env.is_async = True  # EnvPool with a batch_size
    with pytest.raises(
        SpecError, match="expected a pool that steps all its environments at once.*batch_size out"
    ):
        NativeVectorEnv(env)


@pytest.mark.parametrize(
    ("reset", "said"),
    [
        (lambda self: 0, r"expected reset\(\) to take seed and options"),
        (lambda self, *, seed=None, options=None: 0, r"expected reset\(\) to return \(observation, info\)"),
    ],
)
def test_a_reset_of_the_old_gym(reset, said):
    reset.__qualname__ = "Old.reset"
    old = type("Old", (Counting,), {"reset": reset})
    with pytest.raises(
        EnvironmentFault, match=f"^SyncVectorEnv, step 0 of all environments: {said}.*gym before"
    ):
        make_vector_env(SyncVectorEnv([lambda: old(2)] * 2))


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.filterwarnings("ignore")  # of AsyncVectorEnv, about its processes
def test_a_step_of_the_old_gym(kind):
    old = type("Old", (Counting,), {"step": lambda self, action: (0, 0.0, False, {})})
    env = make_vector_env(kind([lambda: old(2)] * 2))
    env.reset()
    said = r"step 1 of all environments: expected step\(\) to return five values, .* given four.*gym before"
    with pytest.raises(EnvironmentFault, match=said):
        env.step(np.zeros(2, np.int64))
    env.terminate()
