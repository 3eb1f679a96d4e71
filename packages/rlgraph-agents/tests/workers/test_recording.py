"""Films of evaluations: the frames that were rendered, last states included, in files that others can read."""

import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest
from doubles import Episodes, kept, raising
from gymnasium.error import DependencyNotInstalled
from PIL import Image

from rlgraph.core import RLGraphError, SpecError
from rlgraph.environments import DeterministicEnv, SequentialVectorEnv
from rlgraph.environments.stepped_env import stepped
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import evaluate, recording
from rlgraph.workers.recording import Recorder


class Counting(Episodes):
    """Episodes of three steps; the picture's red is the number of the step times 50."""

    metadata: ClassVar = {"render_fps": 10}

    def render(self):
        frame = np.zeros((31, 45, 3), np.uint8)
        frame[..., 0] = 50 * self.steps
        return frame


class NeedsPygame(Counting):
    render = raising(DependencyNotInstalled("pygame is not installed: pip install pygame"))


class Always:
    """Does action 0."""

    internal_states, masked, remembered, preprocesses = None, None, None, False

    def resize(self, slots):
        pass

    def reset(self, slots=None):
        pass

    def preprocess(self, states, slots=None):
        return states

    def act(self, states, use_exploration=True):
        return np.zeros(len(states), np.int64)


class Actor:
    state_space, action_space = FloatBox(shape=(1,)), IntBox(2)
    timesteps, training_env = 0, None

    def new_actor(self, seed=None):
        return Always()


def gif_reds(file):
    with Image.open(file) as image:
        reds = []
        for frame in range(image.n_frames):
            image.seek(frame)
            reds.append(image.convert("RGB").getpixel((5, 5))[0])
        return reds, image.info["duration"]


def test_a_gif_of_an_evaluation(tmp_path):
    made, factory = kept(Counting)
    with Recorder(factory, tmp_path / "deep" / "film.gif") as recorder:
        result = evaluate(Actor(), recorder.make_environment, 4, seed=0)
    assert result.returns == (3.0,) * 4
    assert recorder.frames == 4
    # The state after the reset, and those after each of the three steps: the last one is not that of a new episode.
    assert gif_reds(tmp_path / "deep" / "film.gif") == ([0, 50, 100, 150], 100)
    assert len(made) == 4 and all(environment.closed for environment in made)


def test_several_episodes(tmp_path):
    with Recorder(Counting, tmp_path / "film.gif", episodes=2) as recorder:
        evaluate(Actor(), recorder.make_environment, 30, seed=0)  # three in each of ten environments
    assert gif_reds(tmp_path / "film.gif")[0] == [0, 50, 100, 150] * 2


def test_episodes_that_are_cut_outside(tmp_path):
    with Recorder(Counting, tmp_path / "film.gif", episodes=2) as recorder:
        result = evaluate(Actor(), stepped(recorder.make_environment, 1, 2), 30, seed=0)
    assert set(result.lengths) == {2}
    assert gif_reds(tmp_path / "film.gif")[0] == [0, 50, 100] * 2


def test_an_mp4_of_an_evaluation(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs the extra 'video'")
    with Recorder(Counting, tmp_path / "film.mp4", episodes=1) as recorder:
        evaluate(Actor(), recorder.make_environment, 1, seed=0)
    arguments = ["-i", str(tmp_path / "film.mp4"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    read = subprocess.run([ffmpeg.get_ffmpeg_exe(), *arguments], capture_output=True, check=True)
    assert all(fact in read.stderr.decode() for fact in ("Video: h264", "46x32", "10 fps"))
    reds = np.frombuffer(read.stdout, np.uint8).reshape(-1, 32, 46, 3)[:, 5, 5, 0].astype(int)
    np.testing.assert_allclose(reds, [0, 50, 100, 150], atol=6)


def test_mp4_without_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(SpecError, match=r'MP4 needs imageio_ffmpeg.*pip install "rlgraph-agents\[video\]"'):
        Recorder(Counting, tmp_path / "film.mp4")


def test_a_film_that_cannot_be_written(tmp_path, capfd):
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra 'video'")
    (tmp_path / "film.mp4").write_text("an older one")
    recorder = Recorder(Counting, tmp_path / "film.mp4")
    recorder.film.aside = tmp_path / "nowhere" / "film.mp4"
    with pytest.raises(RLGraphError, match="film.mp4 could not be written: ffmpeg ended with"), recorder:
        evaluate(Actor(), recorder.make_environment, 1, seed=0)
    assert "No such file" in capfd.readouterr().err
    assert [file.read_text() for file in tmp_path.iterdir()] == ["an older one"]


def test_a_gif_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "film.gif").write_text("an older one")
    recorder = Recorder(Counting, tmp_path / "film.gif")

    def fail(self, file, **_):
        file.write_text("half of it")
        raise OSError("no space left")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(OSError, match="no space left"), recorder:
        evaluate(Actor(), recorder.make_environment, 1, seed=0)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["an older one"]


def test_a_film_that_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "MOST_FRAMES", 2)
    with Recorder(Counting, tmp_path / "film.gif") as recorder:
        evaluate(Actor(), recorder.make_environment, 2, seed=0)
        assert recorder.is_full
    assert gif_reds(tmp_path / "film.gif") == ([0, 50], 100)


def test_frames_above_fifty_a_second_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setitem(Counting.metadata, "render_fps", 100)
    with Recorder(Counting, tmp_path / "film.gif") as recorder:
        evaluate(Actor(), recorder.make_environment, 1, seed=0)
    assert gif_reds(tmp_path / "film.gif") == ([0, 100], 20)


def test_a_video_of_an_evaluation(make_agent, tmp_path):
    agent = make_agent("numpy", env=Counting)
    assert agent.evaluate(12, video=tmp_path / "deep" / "film.gif").returns == (3.0,) * 12
    assert gif_reds(tmp_path / "deep" / "film.gif") == ([0, 50, 100, 150], 100)


def test_a_video_of_an_environment_that_exists(make_agent, tmp_path):
    environment = Counting()
    agent = make_agent("numpy", env=environment)
    assert agent.evaluate(3, video=str(tmp_path / "film.gif")).returns == (3.0,) * 3
    assert gif_reds(tmp_path / "film.gif")[0] == [0, 50, 100, 150]
    assert not environment.closed  # it belongs to the caller
    with pytest.raises(SpecError, match=r"a film is a \.gif or an \.mp4, given '\.avi'"):
        agent.evaluate(1, video=tmp_path / "film.avi")
    agent.training_env = environment
    with pytest.raises(
        SpecError, match="expected another environment than the one that the agent is training in"
    ):
        agent.evaluate(1, video=tmp_path / "film.gif")


def test_what_an_evaluation_cannot_film(make_agent, tmp_path):
    silent = DeterministicEnv(3)
    silent.terminate = lambda: pytest.fail("closed")
    agent = make_agent("numpy", env=silent)
    for env, message in (
        (None, r"given nothing; .*render_mode=\"rgb_array\""),
        (
            SequentialVectorEnv([lambda: DeterministicEnv(3)]),
            "video: expected a single .* vector environment SequentialVectorEnv",
        ),
        (
            {"type": "envpool", "task_id": "CartPole-v1"},
            "video: expected a single environment .* given the vector environment .*envpool",
        ),
    ):
        with pytest.raises(SpecError, match=message):
            agent.evaluate(1, env=env, video=tmp_path / "film.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("env", "name", "options", "message"),
    [
        (Counting, "film.avi", {}, r"film.avi: a film is a .gif or an .mp4, given '.avi'"),
        (Counting, "film.gif", {"episodes": 0}, "episodes: expected an integer >= 1, given 0"),
        ("deterministic", "film.gif", {}, "cannot be filmed: .* given nothing"),
        (NeedsPygame, "film.gif", {}, r"NeedsPygame cannot be filmed: .* pip install pygame"),
        ("CartPol-v1", "film.gif", {}, "no environment 'CartPol-v1' is registered"),
    ],
)
def test_what_cannot_be_filmed(tmp_path, env, name, options, message):
    with pytest.raises(SpecError, match=message):
        Recorder(env, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())
