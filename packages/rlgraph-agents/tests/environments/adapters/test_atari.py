"""AtariEnv on the real games, against the console driven by hand."""

import numpy as np
import pytest

from rlgraph.core.errors import SpecError

ale_py = pytest.importorskip("ale_py", reason="Atari games need the extra 'atari'")

from rlgraph.environments import (  # noqa: E402
    AtariEnv,
    EnvironmentFault,
    OpenAIGymEnv,
    SequentialVectorEnv,
    make_environment,
)
from rlgraph.environments.adapters.area_resize import AreaResize  # noqa: E402
from rlgraph.environments.stepped_env import make_stepped  # noqa: E402

pytestmark = pytest.mark.slow

PLAIN = {"max_num_noops": 0, "fire_reset": False}


def random_actions(env, number, seed=0):
    return np.random.default_rng(seed).integers(env.action_space.num_categories, size=number).tolist()


def play(env, actions):
    """Everything an episode or several show."""
    shown = []
    for action in actions:
        state, *rest = env.step(action)
        shown.append((state.tobytes(), *rest))
        if rest[1] or rest[2]:
            shown.append(env.reset().tobytes())
    return shown


def area_mean(picture, size):
    """The mean of every area, pixel by pixel, in exact shares."""
    height, width = picture.shape

    def shares(pixels, smaller):
        scale = pixels / smaller
        return np.array(
            [
                [max(0.0, min((i + 1) * scale, j + 1) - max(i * scale, j)) / scale for j in range(pixels)]
                for i in range(smaller)
            ]
        )

    return shares(height, size[0]) @ picture @ shares(width, size[1]).T


@pytest.mark.parametrize("size", [(84, 84), (42, 42), (105, 80), (210, 160), (50, 33)])
def test_resizing_is_the_mean_of_areas(size):
    picture = np.random.default_rng(0).integers(0, 256, (210, 160), dtype=np.uint8)
    out = np.zeros((*size, 2), np.uint8)
    AreaResize((210, 160), size)(picture, out[..., 1])
    assert np.abs(out[..., 1] - area_mean(picture.astype(float), size)).max() <= 0.5 + 1e-4
    assert not out[..., 0].any()


def console(game="pong", seed=None):
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    if seed is not None:
        ale.setInt("random_seed", seed)
    ale.loadROM(ale_py.roms.get_rom_path(game))
    ale.reset_game()
    return ale


def test_pong_equals_the_console_driven_by_hand():
    env, ale = (
        AtariEnv("Pong", **PLAIN),
        console(),
    )  # without sticky actions the console's seed does not matter
    assert env.state_space.shape == (84, 84, 4) and env.state_space.dtype == "uint8"
    assert env.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    small = AreaResize((210, 160), (84, 84))
    codes = ale.getMinimalActionSet()

    def shrunk(picture):
        out = np.zeros((84, 84), np.uint8)
        small(picture, out)
        return out

    pictures = [shrunk(ale.getScreenGrayscale())] * 4
    np.testing.assert_array_equal(env.reset(seed=1), np.stack(pictures, -1))
    score = 0
    for action in random_actions(env, 250):
        points = [ale.act(codes[action]) for _ in range(2)]
        frames = []
        for _ in range(2):
            points.append(ale.act(codes[action]))
            frames.append(ale.getScreenGrayscale())
        pictures = [*pictures[1:], shrunk(np.maximum(*frames))]
        state, reward, terminated, truncated, info = env.step(action)
        np.testing.assert_array_equal(state, np.stack(pictures, -1))
        assert (reward, terminated, truncated) == (float(np.sign(sum(points))), False, False)
        assert info["lives"] == 0
        score += sum(points)
    assert score <= -3  # random play loses points: rewards have been compared


def test_states_returned_before_stay_as_they_are():
    env = AtariEnv("Pong")
    state = env.reset(seed=1)
    kept = state.copy()
    following = env.step(2)[0]
    np.testing.assert_array_equal(state, kept)
    np.testing.assert_array_equal(following[..., :3], state[..., 1:])


def test_a_whole_game_of_pong_tells_its_score():
    env = AtariEnv("Pong", clip_rewards=False)
    env.reset(seed=2)
    total, steps, outcome = 0.0, 0, (None, 0.0, False, False, {})
    while not outcome[2]:
        outcome = env.step(2 + steps // 10 % 2)
        total, steps = total + outcome[1], steps + 1
        assert outcome[4] == {"lives": 0, "episode_return": total, "episode_length": steps}
    assert outcome[3] is False
    assert -21 <= total <= -15
    with pytest.raises(EnvironmentFault, match="ALE/Pong: the episode is over"):
        env.step(0)


def test_a_lost_life_ends_an_episode_but_not_the_game():
    env, whole = AtariEnv("Breakout"), AtariEnv("Breakout", episodic_life=False)
    env.reset(seed=1)
    whole.reset(seed=1)
    ends = []
    for action in random_actions(env, 1500, seed=1):
        _, _, terminated, _, info = env.step(action)
        if terminated:
            ends.append(info)
            if info["episode_return"] is not None:
                break
            env.reset()
    assert [end["lives"] for end in ends] == [4, 3, 2, 1, 0]
    assert all(end["episode_return"] is None for end in ends[:-1])
    assert ends[-1]["episode_return"] >= 0 and ends[-1]["episode_length"] > 50
    terminated, steps = False, 0
    for action in random_actions(whole, 1500, seed=1):
        _, _, terminated, _, info = whole.step(action)
        steps += 1
        if terminated:
            break
    assert info["lives"] == 0 and info["episode_length"] == steps


@pytest.mark.parametrize("episodic_life", [False, True])
def test_a_limit_of_steps_ends_the_game(episodic_life):
    env = make_stepped({"type": "atari", "game": "Pong", "episodic_life": episodic_life}, 1, 60)
    first = env.reset(seed=1)
    for _ in range(2):
        score = 0.0
        for _ in range(60):
            state, reward, terminated, truncated, info = env.step(0)
            score += reward  # Pong has no points beyond one
        assert (terminated, truncated) == (False, True)
        assert info == {"lives": 0, "episode_return": score, "episode_length": 60}
        assert score < 0.0
        state = env.reset()
        # The scores on top of the screen are 0 again; the ball and paddles are at the same places.
        assert np.abs(state[:10].astype(int) - first[:10]).max() == 0


def test_points_beyond_one_are_clipped_and_counted():
    env, raw = AtariEnv("SpaceInvaders", **PLAIN), AtariEnv("SpaceInvaders", clip_rewards=False, **PLAIN)
    actions = random_actions(env, 120)
    rewards = []
    for each in (env, raw):
        each.reset(seed=1)
        rewards.append([each.step(action)[1] for action in actions])
    assert rewards[0] == np.sign(rewards[1]).tolist() and max(rewards[1]) >= 5.0


def test_fire_is_pressed_at_a_start():
    pressed, ale = AtariEnv("Breakout", max_num_noops=0), console("breakout")
    for _ in range(4):
        ale.act(ale_py.Action.FIRE)
    pressed.reset(seed=1)
    assert pressed._ale.getEpisodeFrameNumber() == ale.getEpisodeFrameNumber() == 4
    np.testing.assert_array_equal(pressed.render(), ale.getScreenRGB())


def test_a_game_begins_with_1_to_30_frames_without_action():
    env = AtariEnv("Pong", fire_reset=False, episodic_life=False)
    frames = []
    for seed in range(60):
        env.reset(seed=seed)
        frames.append(env._ale.getEpisodeFrameNumber())
    assert min(frames) >= 1 and max(frames) <= 30 and len(set(frames)) > 15


def test_sticky_actions_repeat_a_quarter_of_the_frames():
    env = AtariEnv("Pong", sticky_actions=0.25, frameskip=1, **PLAIN)
    env.reset(seed=1)
    others = 0
    for step in range(3000):
        env.step(step % 2)
        others += env._stuck != step % 2
    # q, the share of frames in which the other of two alternating actions is executed, is that of frames that stick
    # to one that was not the other itself: q = p (1 - q).
    assert abs(others / 3000 - 0.2) < 0.03


@pytest.mark.parametrize(("game", "sticky"), [("Pong", 0.0), ("Pong", 0.25), ("BeamRider", 0.0)])
def test_seeds(game, sticky):
    # Beam Rider remembers in the console's memory what was played before.
    env, other = AtariEnv(game, sticky_actions=sticky), AtariEnv(game, sticky_actions=sticky, seed=9)
    actions = random_actions(env, 60)
    traces = []
    for each, seed in ((env, 4), (other, 4), (env, 4), (env, 5)):
        first = each.reset(seed=seed).tobytes()
        traces.append([first, *play(each, actions)])
    assert traces[0] == traces[1] == traces[2] != traces[3]


@pytest.mark.parametrize("game", ["Pong", "Breakout"])
@pytest.mark.parametrize("sticky", [0.0, 0.25])
def test_inner_state_leads_back_to_the_same_trajectory(game, sticky):
    env, other = (AtariEnv(game, sticky_actions=sticky) for _ in range(2))
    env.reset(seed=3)
    play(env, random_actions(env, 150))
    taken, actions = env.get_state(), random_actions(env, 300, seed=1)
    expected = play(env, actions)
    assert other.set_state(taken).tobytes() == taken["pictures"].tobytes()
    assert play(other, actions) == expected
    env.set_state(taken)
    assert play(env, actions) == expected


def test_frames_of_a_game_are_limited():
    env = AtariEnv("Pong", max_episode_frames=103, **PLAIN)
    env.reset(seed=1)
    ends = [env.step(0)[2:] for _ in range(26)]
    assert ends[-2] == (False, False, {"lives": 0, "episode_return": 0.0, "episode_length": 25})
    assert ends[-1][:2] == (False, True) and ends[-1][2]["episode_length"] == 26
    assert env.reset().shape == (84, 84, 4)


def test_options_of_pictures_and_actions():
    env = AtariEnv(
        "Pong", screen_size=(60, 50), history=2, full_action_space=True, frameskip=1, mode=1, difficulty=2
    )
    assert env.state_space.shape == (60, 50, 2) and env.action_space.num_categories == 18
    assert env.reset(seed=1).shape == (60, 50, 2)
    before = env._ale.getEpisodeFrameNumber()
    env.step(17)
    assert env._ale.getEpisodeFrameNumber() == before + 1
    assert env.render().shape == (210, 160, 3)


@pytest.mark.parametrize(
    "spelled", ["pong", "Pong", "ALE/Pong-v5", "PongNoFrameskip-v4", "ale_py:ALE/Pong-v5"]
)
def test_spellings(spelled):
    assert AtariEnv(spelled).game == "pong"
    assert make_environment({"type": "atari", "game": spelled}).name == "ALE/Pong"


def test_games_of_two_words():
    assert AtariEnv("SpaceInvaders").game == AtariEnv("space_invaders").game == "space_invaders"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": "Ponk"}, "unknown game 'Ponk'. Did you mean 'pong'"),
        ({"game": "Combat"}, "the console plays no 'combat' for a single player"),
        ({"game": "Pong", "frameskip": 0}, "frameskip is an integer >= 1, got 0"),
        ({"game": "Pong", "history": 1.5}, "history is an integer >= 1, got 1.5"),
        ({"game": "Pong", "max_num_noops": -1}, "max_num_noops is an integer >= 0, got -1"),
        ({"game": "Pong", "sticky_actions": 2}, "sticky_actions is a probability, got 2"),
        ({"game": "Pong", "mode": 9}, r"pong has the modes \[0, 1\], got 9"),
        ({"game": "Pong", "difficulty": 9}, r"pong has the difficulties \[0, 1, 2, 3\], got 9"),
        (
            {"game": "Pong", "screen_size": 300},
            r"screen_size is one number or two, up to \(210, 160\), got 300",
        ),
        ({"game": "Pong", "max_episode_frames": 0}, "max_episode_frames is an integer >= 1 or None, got 0"),
        ({"game": "Pong", "render_mode": "ansi"}, "render_mode is 'rgb_array', 'human' or None, got 'ansi'"),
    ],
)
def test_wrong_configuration(arguments, message):
    with pytest.raises(SpecError, match=message):
        AtariEnv(**arguments)


@pytest.mark.parametrize("action", [6, -1, 1.5, "up", None])
def test_wrong_action(action):
    env = AtariEnv("Pong")
    env.reset(seed=1)
    with pytest.raises(
        EnvironmentFault, match=r"ALE/Pong: an action is one of 0 \(NOOP\), .*5 \(LEFTFIRE\); got"
    ):
        env.step(action)


def test_several_at_once():
    vector = SequentialVectorEnv([lambda: AtariEnv("Pong")] * 2)
    assert vector.reset(seed=1).shape == (2, 84, 84, 4)
    states, *_ = vector.step(np.array([2, 3]))
    assert states.dtype == np.uint8 and (states[0] != states[1]).any()


def test_gymnasium_s_own_pong_and_its_frameskip():
    env = OpenAIGymEnv("ALE/Pong-v5", frameskip=2)
    assert env.state_space.shape == (210, 160, 3) and env.frameskip == 1
    env.reset(seed=1)
    before = env.gym_env.unwrapped.ale.getEpisodeFrameNumber()
    env.step(0)
    assert env.gym_env.unwrapped.ale.getEpisodeFrameNumber() == before + 2
