"""OpenAIGymEnv against Gymnasium itself."""

import gymnasium
import numpy as np
import pytest
from doubles import raising
from gymnasium import spaces as gym_spaces
from gymnasium import wrappers

from rlgraph.components import EnvironmentStepper, QPolicy
from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    EnvironmentFault,
    OpenAIGymEnv,
    SequentialVectorEnv,
    make_environment,
    make_vector_env,
)
from rlgraph.environments.adapters import native_vector_env
from rlgraph.environments.option_hints import atari_id
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple

ID = "CartPole-v1"


class Echo(gymnasium.Env):
    """Gives samples of its observation space and keeps the actions it was given. Five steps."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space
        self.actions, self.observations = [], []

    def _observe(self):
        self.observations.append(self.observation_space.sample())
        return self.observations[-1]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.observations = []  # of the first episode: the adapter resets to look for masks
        return self._observe(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.actions.append(action)
        return self._observe(), np.float64(0.5), False, len(self.actions) >= 5, {"n": len(self.actions)}


def test_cart_pole_equals_gymnasium_step_by_step():
    ours, raw = OpenAIGymEnv("CartPole-v1"), gymnasium.make("CartPole-v1")
    assert ours.name == "CartPole-v1"
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(ours.reset(seed=3), raw.reset(seed=3)[0])
    for _ in range(200):
        action = int(rng.integers(2))
        got, expected = ours.step(action), raw.step(action)
        np.testing.assert_array_equal(got[0], expected[0])
        assert got[0].dtype == np.float32 == ours.state_space.numpy_dtype
        assert got[1:] == expected[1:]
        if expected[2] or expected[3]:
            np.testing.assert_array_equal(ours.reset(), raw.reset()[0])
    ours.terminate()
    raw.close()


def test_seed_of_the_constructor_is_used_once():
    seeded, raw = OpenAIGymEnv("CartPole-v1", seed=5), gymnasium.make("CartPole-v1")
    np.testing.assert_array_equal(seeded.reset(), raw.reset(seed=5)[0])
    np.testing.assert_array_equal(seeded.reset(), raw.reset()[0])


@pytest.mark.parametrize("given", ["CartPole-v1", "an environment"])
def test_truncation_keeps_the_final_observation(given):
    gym_env = given if given == "CartPole-v1" else gymnasium.make("CartPole-v1")
    ours, raw = OpenAIGymEnv(gym_env, max_episode_steps=3), gymnasium.make("CartPole-v1")
    ours.reset(seed=1)
    raw.reset(seed=1)
    flags = []
    for _ in range(3):
        state, _, terminated, truncated, _ = ours.step(0)
        expected = raw.step(0)[0]
        flags.append((terminated, truncated))
    assert flags == [(False, False), (False, False), (False, True)]
    np.testing.assert_array_equal(state, expected)


@pytest.mark.parametrize(("force", "dtype"), [(True, np.float32), (False, np.float64)])
def test_float64(force, dtype):
    box = gym_spaces.Box(-0.1, 0.1, (3,), np.float64)
    env = OpenAIGymEnv(Echo(box, box), force_float32=force)
    assert env.state_space.numpy_dtype == env.action_space.numpy_dtype == dtype
    action = np.array([0.05, 0.1, -0.1], dtype)  # 0.1 in float32 lies beyond 0.1 in float64
    states = [env.reset(seed=1), env.step(action)[0]]
    for state, observation in zip(states, env.gym_env.observations, strict=True):
        assert state.dtype == dtype
        np.testing.assert_array_equal(state, observation.astype(dtype))
        assert env.state_space.explain(state, "state") is None
    (received,) = env.gym_env.actions  # Echo has held it against its space
    assert received.dtype == np.float64
    np.testing.assert_allclose(received, [0.05, 0.1, -0.1], rtol=1e-7)


def test_containers_and_counts_that_do_not_start_at_zero():
    parts = {
        "z": gym_spaces.Discrete(3, start=10),
        "a": gym_spaces.MultiDiscrete([2, 3], start=[5, -5]),
        "m": gym_spaces.Tuple((gym_spaces.MultiBinary(2), gym_spaces.Box(0, 255, (2, 2), np.uint8))),
    }
    env = OpenAIGymEnv(Echo(gym_spaces.Dict(parts), gym_spaces.Dict(dict(reversed(parts.items())))))
    assert (
        env.state_space
        == env.action_space
        == Dict(
            a=IntBox([2, 3]),
            m=Tuple(BoolBox(shape=(2,)), IntBox(256, shape=(2, 2), dtype="uint8")),
            z=IntBox(3),
        )
    )
    rng = np.random.default_rng(0)
    states = [env.reset(seed=1)]
    given = []
    for _ in range(5):
        given.append(env.action_space.sample(rng=rng))
        states.append(env.step(given[-1])[0])
    for state, observation in zip(states, env.gym_env.observations, strict=True):
        assert env.state_space.explain(state, "state") is None
        assert list(state) == ["a", "m", "z"]
        assert state["z"] + 10 == observation["z"]
        np.testing.assert_array_equal(state["a"] + [5, -5], observation["a"])
        np.testing.assert_array_equal(state["m"][0], observation["m"][0])
        np.testing.assert_array_equal(state["m"][1], observation["m"][1])
    for action, received in zip(given, env.gym_env.actions, strict=True):
        assert list(received) == list(env.gym_env.action_space)
        assert received["z"] == action["z"] + 10
        np.testing.assert_array_equal(received["a"], action["a"] + [5, -5])
        np.testing.assert_array_equal(received["m"][0], action["m"][0])


def test_bounds_that_float32_cannot_hold_are_none():
    box = gym_spaces.Box(-np.finfo(np.float64).max, 1.0, (2,), np.float64)
    assert OpenAIGymEnv(Echo(box, box)).state_space == FloatBox(None, 1.0, shape=(2,))


def test_text():
    text = gym_spaces.Text(5)
    env = OpenAIGymEnv(Echo(text, text))
    assert env.reset(seed=1) == env.gym_env.observations[0]
    env.step(np.str_("abc"))
    assert env.gym_env.actions == ["abc"]


@pytest.mark.parametrize(
    ("observations", "actions", "direct"),
    [
        (gym_spaces.Box(-1, 1, (2,), np.float64), gym_spaces.Discrete(2), True),
        (gym_spaces.Discrete(4), gym_spaces.Box(-1, 1, (2,), np.float32), True),
        (gym_spaces.Discrete(4, start=1), gym_spaces.Discrete(2), False),
        (gym_spaces.Discrete(4), gym_spaces.Discrete(2, start=1), False),
        (gym_spaces.Discrete(4), gym_spaces.Box(-1, 1, (2,), np.float64), False),
        (gym_spaces.Dict(a=gym_spaces.Discrete(4)), gym_spaces.Discrete(2), False),
    ],
)
def test_gymnasium_is_stepped_directly_where_nothing_needs_translating(observations, actions, direct):
    env = OpenAIGymEnv(Echo(observations, actions))
    assert env.unchecked_step() == (env.gym_env.step if direct else env.step)
    vector = SequentialVectorEnv([OpenAIGymEnv(Echo(observations, actions)) for _ in range(2)])
    states = vector.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(12):  # Echo truncates in each step from the fifth on
        states, *_ = vector.step(vector.action_space.sample(2, rng=rng))
        assert vector.state_space.with_batch_rank().explain(states) is None


def test_reward_and_flags_are_plain():
    env = OpenAIGymEnv(Echo(gym_spaces.Discrete(2), gym_spaces.Discrete(2)))
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(np.asarray(1))
    assert type(reward) is float and (terminated, truncated) == (False, False) and info == {"n": 1}
    assert env.name == "Echo" and type(env.gym_env.actions[0]) is int


@pytest.mark.parametrize(
    ("space", "way_out"),
    [
        (gym_spaces.Sequence(gym_spaces.Discrete(2)), "pad to a Box"),
        (gym_spaces.Graph(gym_spaces.Discrete(2), None), "a Dict of padded Boxes"),
        (gym_spaces.OneOf([gym_spaces.Discrete(2), gym_spaces.Discrete(3)]), "a Discrete that selects one"),
    ],
)
def test_a_space_without_counterpart(space, way_out):
    with pytest.raises(SpaceError, match=rf"inner.*{way_out}"):
        OpenAIGymEnv(Echo(gym_spaces.Dict(inner=space), gym_spaces.Discrete(2)))


def test_arguments_of_gymnasium_in_a_spec():
    env = make_environment(
        {"type": "gym", "gym_env": "FrozenLake-v1", "desc": ["SF", "HG"], "is_slippery": False}
    )
    assert env.state_space == IntBox(4)


def test_the_documents_spec():
    spec = {"type": "openai", "env_id": "CartPole-v1"}
    for given in (
        spec,
        {"type": "gym", "gym_env": "CartPole-v1"},
        gymnasium.spec("CartPole-v1"),
        "CartPole-v1",
    ):
        env = make_environment(given)
        assert isinstance(env, OpenAIGymEnv) and env.name == "CartPole-v1"


class Counting(gymnasium.Env):
    """Observes the number of the step, which is the reward too; ends as told."""

    observation_space = gym_spaces.Box(0, 100, (), np.float32)
    action_space = gym_spaces.Discrete(2)

    def __init__(self, terminates=100, truncates=100):
        self.ends, self.step_number = (terminates, truncates), 0

    def reset(self, *, seed=None, options=None):
        self.step_number = 0
        return np.float32(0), {}

    def step(self, action):
        self.step_number += 1
        n = self.step_number
        return np.float32(n), float(n), n >= self.ends[0], n >= self.ends[1], {"n": n}


def test_frameskip_sums_rewards_and_shows_the_last_state():
    env = OpenAIGymEnv(Counting(), frameskip=3)
    env.reset()
    assert env.step(0) == (3.0, 1 + 2 + 3, False, False, {"n": 3})
    assert env.unchecked_step()(1) == (6.0, 4 + 5 + 6, False, False, {"n": 6})


@pytest.mark.parametrize(("terminates", "truncates"), [(4, 100), (100, 4), (4, 4)])
def test_frameskip_stops_at_an_end(terminates, truncates):
    env = OpenAIGymEnv(Counting(terminates, truncates), frameskip=3)
    env.reset()
    env.step(0)
    assert env.step(0) == (4.0, 4.0, terminates == 4, truncates == 4, {"n": 4})
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step(0)


def doubled(env):
    return gymnasium.wrappers.TransformReward(env, lambda reward: 2 * reward)


@pytest.mark.parametrize(
    "wrapper", ["NormalizeReward", doubled, {"type": "ClipReward", "min_reward": -1.0, "max_reward": 1.0}]
)
def test_wrappers_that_change_rewards_are_told(wrapper):
    with pytest.warns(
        RuntimeWarning, match=r"Reward changes rewards: all returns.* in its units.*scale_rewards"
    ):
        OpenAIGymEnv("CartPole-v1", wrappers=[wrapper])
    OpenAIGymEnv("CartPole-v1", wrappers=[{"type": "TimeLimit", "max_episode_steps": 5}])


def test_vector_wrappers_that_change_rewards_are_told():
    class Halved(gymnasium.vector.VectorRewardWrapper):
        def rewards(self, reward):
            return reward / 2

    with pytest.warns(RuntimeWarning, match="the wrapper Halved changes rewards"):
        native_vector_env.NativeVectorEnv(
            Halved(gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync"))
        )


@pytest.mark.filterwarnings("ignore:the wrapper TransformReward")
def test_wrappers_are_put_around_in_turn():
    env = OpenAIGymEnv(
        Counting(),
        wrappers=[
            doubled,
            {"type": "TimeLimit", "max_episode_steps": 2},
            "gymnasium.wrappers:FlattenObservation",
            {"type": "gymnasium.wrappers:FrameStackObservation", "stack_size": 3},
        ],
    )
    assert env.state_space.shape == (3, 1)
    env.reset()
    state, reward, *_ = env.step(0)
    assert state.tolist() == [[0], [0], [1]] and reward == 2.0
    assert env.step(0)[2:4] == (False, True)


def unknown(gym_id):
    return f"^OpenAIGymEnv: no environment '{gym_id}' is registered with Gymnasium.*nearest is 'CartPole-v1'"


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ("Cartpole-v1", {}, unknown("Cartpole-v1")),
        ("CartPole-v7", {}, unknown("CartPole-v7")),
        ("Cart Pole", {}, unknown("Cart Pole")),
        (None, {}, r"give gym_env \(or env_id, the same\)"),
        (ID, {"env_id": ID}, r"give gym_env \(or env_id, the same\)"),
        (3, {}, r"a registered id, an EnvSpec or a gymnasium\.Env, got int"),
        (
            Counting(),
            {"gravity": 1.0, "render_mode": ""},
            "gravity, render_mode can be given only with an id",
        ),
        (Counting(), {"render_mode": "rgb_array"}, "render_mode can be given only with an id"),
        (wrappers.TimeLimit(wrappers.Autoreset(Counting()), 5), {}, "Autoreset"),
        (gymnasium.make_vec(ID, num_envs=1), {}, "got a gymnasium.vector.VectorEnv; make_vector_env"),
        ("nowhere:CartPole-v1", {}, "'nowhere:CartPole-v1' names a module that is not installed"),
        (ID, {"frameskip": 0}, "frameskip is an integer >= 1, got 0"),
        (ID, {"frameskip": 1.5}, "frameskip is an integer >= 1, got 1.5"),
        (ID, {"wrappers": "TimeLimit"}, r"wrappers is a list, got 'TimeLimit'"),
    ],
)
def test_wrong_arguments(given, options, message):
    with pytest.raises(SpecError, match=message):
        OpenAIGymEnv(given, **options)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("TimeLimits", r"wrappers\[1\]: gymnasium.wrappers has no 'TimeLimits'. Did you mean 'TimeLimit'"),
        # Its argument is called like one of the environment.
        ({"type": "TimeLimit", "frameskip": 3}, r"wrappers\[1\].frameskip: TimeLimit has no such key"),
        (
            {"type": "FrameStackObservation", "stack_size": 10**9},
            r"wrappers\[1\].stack_size: expected at most 1,000 frames, given 1,000,000,000",
        ),
        ("TimeLimit", r"wrappers\[1\]: 'TimeLimit' cannot wrap .*max_episode_steps"),
        ("nowhere:Class", r"wrappers\[1\]: 'nowhere:Class' is neither a registered name nor importable"),
        (3, r"wrappers\[1\]: expected 'module:Class'"),
        ({"type": 3}, r"wrappers\[1\].type: expected the name of a wrapper, got 3"),
        (lambda env: 3, r"returns a int, expected a gymnasium.Env"),
        (wrappers.Autoreset, "Autoreset hides the final states of episodes; remove it"),
    ],
)
def test_wrong_wrappers(given, message):
    for place, make in (
        ("OpenAIGymEnv", OpenAIGymEnv),
        ("environment", lambda **options: make_environment({"type": "gym", **options})),
    ):
        with pytest.raises(SpecError, match=rf"^{place}\b.*({message})"):
            make(gym_env=ID, wrappers=["FlattenObservation", given])


@pytest.mark.parametrize(
    "gym_id",
    [
        "Acrobot-v1",
        "CartPole-v1",
        "CliffWalking-v1",
        "FrozenLake-v1",
        "MountainCar-v0",
        "MountainCarContinuous-v0",
        "Pendulum-v1",
    ],
)
@pytest.mark.parametrize("steps", [0, 7])
def test_inner_state_leads_back_to_the_same_trajectory(gym_id, steps):
    env, other = OpenAIGymEnv(gym_id, max_episode_steps=20), OpenAIGymEnv(gym_id, max_episode_steps=20)
    rng = np.random.default_rng(1)
    actions = [env.action_space.sample(rng=rng) for _ in range(60)]
    shown = env.reset(seed=2)
    for action in actions[:steps]:
        shown, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            shown = env.reset()
    taken = env.get_state()
    np.testing.assert_array_equal(other.set_state(taken), shown)

    def onwards(environment):
        for action in actions:
            outcome = environment.step(action)[:4]
            yield outcome
            if outcome[2] or outcome[3]:
                yield environment.reset()

    for got, expected in zip(onwards(other), onwards(env), strict=True):
        np.testing.assert_equal(got, expected)


def test_no_state_where_it_is_not_known_what_it_is_made_of():
    class Changed(type(gymnasium.make("CartPole-v1").unwrapped)):
        pass

    for env in (
        OpenAIGymEnv(Changed()),
        OpenAIGymEnv("CartPole-v1", wrappers=["RecordEpisodeStatistics"]),
        OpenAIGymEnv("CartPole-v1"),  # before the first reset
    ):
        assert env.get_state() is None
    env.reset()
    with pytest.raises(NotImplementedError, match="cannot restore its state"):
        OpenAIGymEnv(Changed()).set_state(env.get_state())


def test_render_modes():
    env = OpenAIGymEnv("FrozenLake-v1", render_mode="ansi")
    env.reset(seed=1)
    assert "SFFF" in env.render().replace("\x1b[41m", "").replace("\x1b[0m", "")


def test_step_without_reset_and_after_the_end():
    env = OpenAIGymEnv("CartPole-v1", max_episode_steps=1)
    with pytest.raises(
        EnvironmentFault, match=r"CartPole-v1: the episode is over or has not begun; call reset\(\)"
    ):
        env.step(0)
    env.reset()
    env.step(0)
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step(0)


@pytest.mark.parametrize("action", [2, np.array([0, 1])])
def test_wrong_action(action):
    env = OpenAIGymEnv("CartPole-v1")
    env.reset(seed=1)
    with pytest.raises(EnvironmentFault, match=r"CartPole-v1: .*action"):
        env.step(action)


def test_errors_of_the_environment_itself_pass_unchanged():
    class Broken(Echo):
        def step(self, action):
            raise ZeroDivisionError("inside")

    env = OpenAIGymEnv(Broken(gym_spaces.Discrete(2), gym_spaces.Discrete(2)))
    env.reset()
    with pytest.raises(ZeroDivisionError, match="inside"):
        env.step(0)


class OldReset(Echo):
    """Resets as the environments of gym before 0.26 do."""

    def __init__(self, observation_space=None):
        super().__init__(observation_space or gym_spaces.Box(0, 1, (2,)), gym_spaces.Discrete(2))

    def reset(self):
        return self._observe()


class OnlyObservation(OldReset):
    def reset(self, *, seed=None, options=None):
        return self._observe()


class FourValues(OldReset):
    reset = Echo.reset

    def step(self, action):
        return self._observe(), 0.0, False, {}


CHANGES = (
    r"gym before 0\.26.*reset\(\*, seed=None, options=None\) returns \(observation, info\); step returns"
)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OldReset, r"OldReset, step 0: expected reset\(\) to take seed and options, .*argument 'seed'"),
        (OnlyObservation, r"OnlyObservation, step 0: expected reset\(\) to return .*, given ndarray"),
    ],
)
def test_a_reset_of_the_old_gym_is_refused_when_the_environment_is_made(kind, said):
    for make in (
        kind,
        lambda: gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.TimeLimit(kind(), 5)),
    ):
        with pytest.raises(EnvironmentFault, match=f"{said}.*{CHANGES}"):
            OpenAIGymEnv(make())
        with pytest.raises(EnvironmentFault, match=f"{said}.*{CHANGES}"):
            make_vector_env(make, 2)


@pytest.mark.parametrize(
    ("space", "given"),
    [
        (gym_spaces.Discrete(2), "int64"),
        (gym_spaces.Box(0, 1, (3,)), "ndarray"),
        (gym_spaces.Tuple([gym_spaces.Discrete(2)] * 2), r"\(int64, int64\)"),
    ],
)
def test_observations_are_not_taken_for_a_pair(space, given):
    with pytest.raises(EnvironmentFault, match=rf"expected reset\(\) to return .*, given {given}"):
        OpenAIGymEnv(OnlyObservation(space))


def test_a_reset_without_options_is_refused_where_a_wrapper_gives_them():
    class WithoutOptions(OldReset):
        def reset(self, seed=None):
            return self._observe(), {}

    env = OpenAIGymEnv(WithoutOptions())
    assert env.reset(seed=1).shape == (2,)
    env = OpenAIGymEnv(gymnasium.wrappers.TimeLimit(WithoutOptions(), 5))
    with pytest.raises(
        EnvironmentFault, match=r"expected reset\(\) to take seed and options.*argument 'options'"
    ):
        env.reset(seed=1)


@pytest.mark.parametrize("options", [{}, {"frameskip": 2}, {"max_episode_steps": 5}])
def test_four_values_of_a_step_are_refused_in_the_first_step(options):
    said = r"expected step\(\) to return five values, .* given four"
    env = OpenAIGymEnv(FourValues(), **options)
    env.reset()
    with pytest.raises(EnvironmentFault, match=f"^FourValues: {said}.*{CHANGES}"):
        env.step(0)
    env = make_vector_env({"type": "openai", "gym_env": FourValues(), **options}, 1)
    env.reset()
    with pytest.raises(EnvironmentFault, match=f"^FourValues, environment 0, step 1: .*{said}.*{CHANGES}"):
        env.step(np.zeros(1, np.int64))


def test_errors_of_an_environment_itself_are_not_taken_for_the_old_gym():
    """It unpacks and calls things of its own, with the same messages."""

    class Simulator:
        def reset(self):
            pass

    class Unpacks(Counting):
        def step(self, action):
            _a, _b, _c, _d, _e = np.zeros(4)

    class Resets(Counting):
        def reset(self, *, seed=None, options=None):
            Simulator().reset(seed=seed)

    env = OpenAIGymEnv(Unpacks())
    env.reset()
    with pytest.raises(ValueError, match=r"^not enough values to unpack \(expected 5, got 4\)$"):
        env.step(0)
    with pytest.raises(TypeError, match=r"reset\(\) got an unexpected keyword argument 'seed'$"):
        OpenAIGymEnv(Resets()).reset()


def test_an_info_that_is_no_dict_has_no_advice_on_the_old_gym():
    class WithoutInfo(Counting):
        def reset(self, *, seed=None, options=None):
            return np.float32(0), None

    with pytest.raises(EnvironmentFault, match=r"info a dict, given \(float32, NoneType\)\.$"):
        OpenAIGymEnv(WithoutInfo())


def test_a_missing_dependency_is_not_an_unknown_id(monkeypatch):
    missing = raising(gymnasium.error.DependencyNotInstalled("install more"))
    entry = gymnasium.envs.registration.EnvSpec("NeedsMore-v0", entry_point=missing)
    monkeypatch.setitem(gymnasium.registry, "NeedsMore-v0", entry)
    with pytest.raises(SpecError, match="NeedsMore-v0 cannot be made: install more"):
        OpenAIGymEnv("NeedsMore-v0")


def test_render():
    env = OpenAIGymEnv(Echo(gym_spaces.Discrete(2), gym_spaces.Discrete(2)))
    with pytest.raises(NotImplementedError):
        env.render()


def test_an_environment_stepper_says_how_to_name_one():
    """Ids of Gymnasium are no registered names; agents take both, components only these."""
    message = "no registered environment 'CartPole-v1'. .*{'type': 'gym', 'gym_env': 'CartPole-v1'}"
    with pytest.raises(SpecError, match=message):
        EnvironmentStepper("CartPole-v1", QPolicy([{"type": "dense", "units": 2}], IntBox(2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gravity": 3}, r"^OpenAIGymEnv.gravity: CartPole-v1 takes no such argument\.$"),
        ({"monitor": "folder"}, r"^OpenAIGymEnv.monitor: .*learn\(folder=FOLDER\).*evaluate\(video=FOLDER\)"),
        ({"monitor_safe": True}, r"^OpenAIGymEnv.monitor_safe: .*learn\(folder=FOLDER\)"),
        ({"monitor_video": 10}, r"^OpenAIGymEnv.monitor_video: .*evaluate\(video=FOLDER\)"),
    ],
)
def test_an_option_that_the_environment_does_not_take(options, message):
    with pytest.raises(SpecError, match=message):
        OpenAIGymEnv("CartPole-v1", **options)


@pytest.mark.parametrize(
    ("given", "game"),
    [
        ("Breakout-v0", "Breakout"),
        ("PongNoFrameskip-v4", "Pong"),
        ("MsPacman-ramDeterministic-v0", "MsPacman"),
    ],
)
def test_an_id_of_atari_before_ale(given, game, monkeypatch):
    for name in filter(atari_id, list(gymnasium.registry)):  # ale_py registers them, if it was imported
        monkeypatch.delitem(gymnasium.registry, name)
    with pytest.raises(
        SpecError, match=f"no environment '{given}' is registered .*It is 'ALE/{game}-v5' now"
    ):
        OpenAIGymEnv(given)
