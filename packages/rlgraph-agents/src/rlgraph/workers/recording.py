"""Records episodes as a GIF (Pillow) or MP4 (imageio with its own ffmpeg, the extra ``video``)."""

from __future__ import annotations

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from rlgraph.core import InputError, RLGraphError, SpecError
from rlgraph.core.errors import text_of
from rlgraph.environments import Environment, make_environment
from rlgraph.environments.closing import release
from rlgraph.environments.environment import StepResult
from rlgraph.environments.extras import import_extra
from rlgraph.environments.factory import environment_settings, is_instance, is_vector, is_vector_instance

#: Frames per second if the environment has no ``metadata["render_fps"]``.
FRAMES_PER_SECOND = 30
#: The limit of frames of a film: an untrained policy may never end an episode, and Pillow keeps all frames.
MOST_FRAMES = 10_000
#: Viewers play frames shorter than 20 ms slowly.
GIF_FRAMES_PER_SECOND = 50


class Film(ABC):
    """A file of frames ``[height, width, 3]``, uint8; it replaces an older file only when it is finished."""

    def __init__(self, file: Path, frames_per_second: float):
        self.file, self.frames_per_second = file, frames_per_second
        self.aside = file.with_name(f".{file.stem}.part{file.suffix}")
        self.frames = 0

    @property
    def is_full(self) -> bool:
        """Whether it takes no more frames."""
        return self.frames >= MOST_FRAMES

    def add(self, frame: np.ndarray) -> None:
        """Append a frame."""
        self.frames += 1
        self._add(frame)

    @abstractmethod
    def _add(self, frame: np.ndarray) -> None: ...

    def close(self) -> None:
        """Finish the file, if there are frames."""
        if not self.frames:
            return
        try:
            self._finish()
            self.aside.replace(self.file)
        finally:
            self.aside.unlink(missing_ok=True)

    @abstractmethod
    def _finish(self) -> None:
        """Complete the temporary file."""


class GifFilm(Film):
    """An animated GIF of 256 colours per frame; skips frames above 50 per second."""

    def __init__(self, file: Path, frames_per_second: float):
        super().__init__(file, frames_per_second)
        self._every = int(-(-frames_per_second // GIF_FRAMES_PER_SECOND))
        self._pictures: list[Any] = []

    def _add(self, frame: np.ndarray) -> None:
        from PIL import Image

        if (self.frames - 1) % self._every == 0:
            self._pictures.append(Image.fromarray(frame).quantize(256))

    def _finish(self) -> None:
        first, *others = self._pictures
        milliseconds = round(1000 * self._every / self.frames_per_second)
        first.save(self.aside, save_all=True, append_images=others, duration=milliseconds, loop=0)


class Mp4Film(Film):
    """H.264, which every browser plays; frames are streamed to ffmpeg."""

    def __init__(self, file: Path, frames_per_second: float):
        super().__init__(file, frames_per_second)
        module = import_extra("imageio_ffmpeg", "MP4", str(file), "; a .gif needs nothing")
        self._command = module.get_ffmpeg_exe()
        self._process: subprocess.Popen[bytes] | None = None

    def _add(self, frame: np.ndarray) -> None:
        # The codec requires even sides.
        frame = np.pad(frame, [*((0, side % 2) for side in frame.shape[:2]), (0, 0)], mode="edge")
        if self._process is None:
            self._process = self._start(*frame.shape[:2])
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame.tobytes())
        except BrokenPipeError:
            self.close()  # raises with the reason

    def _start(self, height: int, width: int) -> subprocess.Popen[bytes]:
        given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-i", "-"]
        wanted = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", str(self.aside)]
        rate = ["-r", f"{self.frames_per_second:g}"]
        arguments = [self._command, "-y", "-loglevel", "error", *rate, *given, *wanted]
        return subprocess.Popen(arguments, stdin=subprocess.PIPE)

    def _finish(self) -> None:
        assert self._process is not None
        self._process.communicate()
        if self._process.returncode:
            raise RLGraphError(
                f"{self.file} could not be written: ffmpeg ended with {self._process.returncode}"
            )


FILMS: Mapping[str, type[Film]] = {".gif": GifFilm, ".mp4": Mp4Film}


class Recorder:
    """Records the first environment that an evaluation makes.

    ```python
    with Recorder("CartPole-v1", "cartpole.gif", episodes=1) as recorder:
        result = evaluate(agent, recorder.make_environment, 10, seed=0)
    ```

    Args:
        spec: environment spec, as `make_environment` takes it; an environment is left open.
        file: a ``.gif`` or ``.mp4``; its folder is created if missing.
        episodes: number of episodes to record.

    Raises:
        SpecError: no file, another suffix, an environment without pictures, or the extra for MP4 is not installed.
    """

    def __init__(self, spec: Any, file: str | Path, episodes: int = 1):
        if not isinstance(file, str | Path):
            raise SpecError(f"expected the name of a .gif or .mp4 file, given {file!r}", path="video")
        self.file = Path(file)
        if self.file.suffix.lower() not in FILMS:
            raise SpecError(f"a film is a .gif or an .mp4, given {self.file.suffix!r}", path=str(self.file))
        if episodes < 1:
            raise SpecError(f"expected an integer >= 1, given {episodes!r}", path="episodes")
        if is_vector(spec):
            given = type(spec).__name__ if is_vector_instance(spec) else repr(spec)
            raise SpecError(
                f"expected a single environment or its spec, given the vector environment {given}",
                path="video",
            )
        self.spec, self.episodes = spec, episodes
        self._filmed = make_environment(with_pictures(spec))
        self._taken = False
        self.film = FILMS[self.file.suffix.lower()](self.file, frames_per_second(self._filmed))
        try:
            self._filmed.reset(seed=0)
            picture_of(self._filmed)
        except BaseException:
            self._release()
            raise
        self.file.parent.mkdir(parents=True, exist_ok=True)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return self.film.frames

    @property
    def is_full(self) -> bool:
        """Whether the film reached `MOST_FRAMES` before its episodes ended."""
        return self.film.is_full

    def make_environment(self) -> Environment:
        """The recorded environment, the first time; then plain ones."""
        if self._taken:
            return make_environment(self.spec)
        self._taken = True
        return FilmedEnvironment(self._filmed, self.film, self.episodes)

    def close(self) -> None:
        """Finish the file."""
        self.film.close()
        if not self._taken:
            self._release()

    def _release(self) -> None:
        if not is_instance(self.spec):
            release(self._filmed.terminate, self._filmed.name)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class FilmedEnvironment(Environment):
    """Records the first episodes of an environment, including their last states, until the film is full.

    Args:
        environment: the environment.
        film: receives the frames.
        episodes: number of episodes to record.
    """

    def __init__(self, environment: Environment, film: Film, episodes: int):
        super().__init__(environment.state_space, environment.action_space)
        self.environment, self.film, self._left = environment, film, episodes
        self._running = False

    @property
    def name(self) -> str:
        return self.environment.name

    def reset(self, seed: int | None = None) -> Any:
        self._left -= self._running  # the episode was cut
        self._running = True
        state = self.environment.reset(seed=seed)
        self._take()
        return state

    def step(self, action: Any) -> StepResult:
        result = self.environment.step(action)
        self._take()
        if result[2] or result[3]:
            self._left -= 1
            self._running = False
        return result

    def render(self) -> Any:
        return self.environment.render()

    def terminate(self) -> None:
        self.environment.terminate()

    def _take(self) -> None:
        if self._left > 0 and not self.film.is_full:
            self.film.add(picture_of(self.environment))


def with_pictures(spec: Any) -> Any:
    """The spec with ``render_mode="rgb_array"``, if its environment takes one."""
    from inspect import signature

    from rlgraph.core import registry

    known, settings = registry("rlgraph.environments"), environment_settings(spec)
    if settings is None or str(settings.get("type")) not in known:
        return spec  # an environment, one of an adapter, or a mistake that make_environment reports
    takes_one = "render_mode" in signature(known.load(settings["type"])).parameters
    return {**settings, "render_mode": "rgb_array"} if takes_one else spec


def frames_per_second(environment: Any) -> float:
    """Frames per second of the environment, else 30."""
    metadata = getattr(getattr(environment, "gym_env", environment), "metadata", None) or {}
    return float(metadata.get("render_fps") or FRAMES_PER_SECOND)


def picture_of(environment: Environment) -> np.ndarray:
    """Renders the environment as a frame ``[height, width, 3]``.

    Raises:
        SpecError: it renders no picture, or needs a package that is not installed.
    """
    try:
        frame = environment.render()
    except DependencyNotInstalled as error:
        raise SpecError(f"{environment.name} cannot be filmed: {text_of(error)}") from error
    if not (isinstance(frame, np.ndarray) and frame.ndim == 3 and frame.shape[2] == 3):
        nothing = 'nothing; Gymnasium environments need render_mode="rgb_array"'
        given = nothing if frame is None else f"{type(frame).__name__} of shape {np.shape(frame)}"
        raise SpecError(
            f"{environment.name} cannot be filmed: expected a picture [height, width, 3] of render(), given {given}"
        )
    if frame.dtype != np.uint8:
        raise InputError(f"{environment.name}: a picture has dtype uint8, given {frame.dtype}")
    return frame
