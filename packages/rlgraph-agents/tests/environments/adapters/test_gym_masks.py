"""Masks of Gymnasium environments become a part of their states."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces as gym_spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlgraph.environments import EnvironmentFault, NativeVectorEnv, OpenAIGymEnv, make_vector_env
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple


class Masked(gymnasium.Env):
    """The observation is the step and the episode; the mask says the same: ``[step == 0, 1, 2, episode is odd]``."""

    action_space = gym_spaces.Discrete(4)
    observation_space = gym_spaces.Box(0.0, 100.0, (2,))

    def __init__(self, length=3):
        self.length, self.episode, self.steps = length, -1, 0

    def mask(self):
        return np.array([*(np.arange(3) == self.steps % 3), self.episode % 2], np.int8)

    def observe(self):
        return np.array([self.steps, self.episode], np.float32)

    def info(self):
        return {"action_mask": self.mask()}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.episode = 0, self.episode + 1
        return self.observe(), self.info()

    def step(self, action):
        self.steps += 1
        return self.observe(), 0.0, self.steps == self.length, False, self.info()


class ByMethod(Masked):
    def info(self):
        return {}

    def action_masks(self):
        return self.mask().astype(bool)


class Fixed(Masked):
    """Any actions, and the same mask always."""

    def __init__(self, action_space, given):
        super().__init__()
        self.action_space, self.given = action_space, given

    def mask(self):
        return self.given


class Halfway(Masked):
    """Gives another info from one place on."""

    def __init__(self, place, info, before=None):
        super().__init__()
        self.place, self.other, self.before, self.has_begun = place, info, before, False

    def info(self):
        self.has_begun |= (self.episode, self.steps) == self.place
        own = super().info() if self.before is None else self.before
        return self.other if self.has_begun else own


def check(states):
    """The masks are those of the observations."""
    for (step, episode), mask in zip(states["observation"].astype(int), states["action_mask"], strict=True):
        assert mask.tolist() == [*(np.arange(3) == step % 3), bool(episode % 2)]


STATES = Dict(observation=FloatBox(0.0, 100.0, shape=(2,)), action_mask=BoolBox(shape=(4,)))


@pytest.mark.parametrize("kind", [Masked, ByMethod])
def test_masks_are_a_part_of_the_states(kind):
    env = OpenAIGymEnv(kind())
    assert env.state_space == STATES
    state = env.reset()
    assert state["observation"].tolist() == [0.0, 0.0]  # the reset of the constructor
    assert state["action_mask"].dtype == bool
    for episode in range(2):
        for _ in range(3):
            check({name: value[None] for name, value in env.step(0)[0].items()})
        assert env.reset()["observation"].tolist() == [0.0, episode + 1]


def test_a_seed_resets_again():
    env = OpenAIGymEnv(Masked())
    assert env.reset(seed=1)["observation"].tolist() == [0.0, 1.0]


class Episodes(gymnasium.wrappers.RecordEpisodeStatistics):
    """Counts resets, as RecordVideo makes a video of each."""

    resets = 0

    def reset(self, **options):
        self.resets += 1
        return super().reset(**options)


Episodes.__module__ = "gymnasium.wrappers.common"


def test_wrappers_of_gymnasium_do_not_see_the_reset_of_the_constructor():
    inner = Masked()
    wrapped = Episodes(gymnasium.wrappers.TimeLimit(inner, 9))
    env = OpenAIGymEnv(wrapped, seed=4)
    assert (env.state_space, wrapped.resets, inner.episode) == (STATES, 0, 0)
    drawn = np.random.default_rng(4).integers(9)
    env.reset()
    assert wrapped.resets == 1 and wrapped.np_random.integers(9) == drawn
    assert [env.step(0)[2] for _ in range(3)] == [False, False, True]

    vector = SyncVectorEnv([lambda: Episodes(Masked())] * 2)
    assert NativeVectorEnv(gymnasium.wrappers.vector.RecordEpisodeStatistics(vector)).state_space == STATES
    assert [each.resets for each in vector.envs] == [0, 0]


def test_a_wrapper_that_gives_masks():
    class Wrapper(gymnasium.Wrapper):
        def action_masks(self):
            return np.ones(2, bool)

    env = OpenAIGymEnv("CartPole-v1", wrappers=[Wrapper])
    assert env.state_space["action_mask"] == BoolBox(shape=(2,))
    assert env.reset(seed=1)["action_mask"].all()


def test_taxi():
    env, raw = OpenAIGymEnv("Taxi-v4"), gymnasium.make("Taxi-v4")
    state, (observation, info) = env.reset(seed=5), raw.reset(seed=5)
    assert state["observation"] == observation
    np.testing.assert_array_equal(state["action_mask"], info["action_mask"].astype(bool))


def test_a_dict_keeps_its_parts():
    class InADict(Masked):
        observation_space = gym_spaces.Dict(a=gym_spaces.Discrete(9), b=gym_spaces.Discrete(9))

        def observe(self):
            return {"a": self.steps, "b": self.episode}

    assert set(OpenAIGymEnv(InADict()).reset()) == {"a", "b", "action_mask"}

    class OwnPart(InADict):
        observation_space = gym_spaces.Dict(a=gym_spaces.Discrete(9), action_mask=gym_spaces.MultiBinary(4))

        def observe(self):
            return {"a": self.steps, "action_mask": np.ones(4, np.int8)}

    assert OpenAIGymEnv(OwnPart()).reset()["action_mask"].all()  # not that of the info


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_environments(mode):
    """Under every way to reset, masks belong to the states to act on and to the states reached."""
    vector = NativeVectorEnv(SyncVectorEnv([lambda: Masked(3), lambda: Masked(2)], autoreset_mode=mode))
    assert vector.state_space == STATES
    check(vector.reset(seed=1))
    for _ in range(9):
        states, *_ = vector.step(np.zeros(2, np.int64))
        check(states)
        check(vector.final_states)
        for index in vector.finished:
            assert vector.final_states["observation"][index, 0] == 3 - index


def test_environments_in_turn():
    vector = make_vector_env(Masked, 2)
    check(vector.reset(seed=1))
    for _ in range(9):
        check(vector.step(np.zeros(2, np.int64))[0])
        check(vector.final_states)


ROW = np.array([1, 0, 1], np.int8)
ELEMENTS = gym_spaces.MultiDiscrete([3, 2])
SPREAD = [[True, False, True], [False, True, False]]
FIRST = gym_spaces.Dict(a=gym_spaces.Discrete(3), b=gym_spaces.Box(-1.0, 1.0))


@pytest.mark.parametrize(
    ("actions", "given", "space", "expected"),
    [
        (ELEMENTS, (ROW, np.array([0, 1], np.int8)), BoolBox(shape=(2, 3)), SPREAD),
        (ELEMENTS, np.array([1, 0, 1, 0, 1]), BoolBox(shape=(2, 3)), SPREAD),
        (ELEMENTS, np.array(SPREAD), BoolBox(shape=(2, 3)), SPREAD),
        (FIRST, {"a": ROW, "b": None}, Dict(a=BoolBox(shape=(3,))), {"a": [True, False, True]}),
        (FIRST, {"a": ROW}, Dict(a=BoolBox(shape=(3,))), {"a": [True, False, True]}),
        (
            gym_spaces.Tuple([gym_spaces.Discrete(3), gym_spaces.Discrete(2)]),
            (ROW, None),
            Tuple(BoolBox(shape=(3,))),
            ([True, False, True],),
        ),
    ],
)
def test_parts_of_actions(actions, given, space, expected):
    env = OpenAIGymEnv(Fixed(actions, given))
    assert env.state_space["action_mask"] == space
    np.testing.assert_equal(env.reset()["action_mask"], expected)


@pytest.mark.parametrize(
    ("actions", "given", "said"),
    [
        (
            gym_spaces.Discrete(3),
            np.ones(4, bool),
            r"expected bools or 0 and 1 of shape \[3\], given bool of shape \[4\]",
        ),
        (gym_spaces.Discrete(3), np.ones(3), r"given float64 of shape \[3\]"),
        (gym_spaces.Discrete(3), np.array([0, 1, 2]), r"expected bools or 0 and 1, given \[0 1 2\]"),
        (
            gym_spaces.Box(-1.0, 1.0),
            np.ones(3, bool),
            "expected no mask of FloatBox.*, which has no categories",
        ),
        (FIRST, np.ones(3, bool), "expected a dict by parts of Dict"),
        (FIRST, {"c": ROW}, "expected a dict by parts of Dict"),
        (gym_spaces.Tuple([gym_spaces.Discrete(3)]), ROW, "expected a tuple of 1 masks or None"),
        (
            gym_spaces.Tuple([gym_spaces.Discrete(2), gym_spaces.Discrete(3)]),
            (None, ROW),
            "expected None only for the last parts of a tuple, given None for part 0",
        ),
    ],
)
def test_masks_that_do_not_fit(actions, given, said):
    with pytest.raises(EnvironmentFault, match=f"Fixed, step 0: action_mask.*{said}"):
        OpenAIGymEnv(Fixed(actions, given))


def play(make):
    vector = make()
    vector.reset(seed=1)
    for _ in range(8):
        vector.step(np.zeros(1, np.int64))


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(
    ("place", "info", "said"),
    [
        ((1, 2), {}, "info has no 'action_mask', which that of the first reset had"),
        ((2, 0), {}, "info has no 'action_mask'"),
        ((1, 2), {"action_mask": np.ones(3, bool)}, r"expected bools or 0 and 1 of shape \[4\], given bool"),
    ],
)
def test_masks_that_change_halfway(place, info, said, vectorized):
    step = f"step {place[1]}" if not vectorized else "step"
    where = (
        f"Halfway, environment 0, ({step}|reset)"
        if not vectorized
        else "(Halfway|SyncVectorEnv).*environment 0"
    )

    def make():
        if vectorized:
            return NativeVectorEnv(SyncVectorEnv([lambda: Halfway(place, info)]))
        return make_vector_env(lambda: Halfway(place, info), 1)

    with pytest.raises(EnvironmentFault, match=f"{where}.*{said}"):
        play(make)


@pytest.mark.parametrize("place", [(1, 1), (2, 0)])
def test_masks_that_appear_halfway(place):
    info = {"action_mask": np.ones(4, bool)}
    with pytest.raises(EnvironmentFault, match=r"Halfway, environment 0.*info has 'action_mask', which"):
        play(lambda: make_vector_env(lambda: Halfway(place, info, before={}), 1))


def test_none_in_place_of_a_mask_is_no_mask():
    nothing = {"action_mask": None}
    vector = make_vector_env(lambda: Halfway((1, 2), nothing, before=nothing), 1)
    assert vector.state_space == FloatBox(0.0, 100.0, shape=(2,))
    play(lambda: vector)


def test_unmasked_environments_step_as_before():
    env = OpenAIGymEnv("CartPole-v1")
    assert env.unchecked_step() == env.gym_env.step
    assert env.action_space == IntBox(2)
