"""Atari games of the Arcade Learning Environment, with the usual preprocessing in one class.

Without Gymnasium and its wrappers the last two screens of a step are read as grey pictures into fixed buffers, and a
state is written once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.adapters.area_resize import AreaResize, Array
from rlgraph.environments.adapters.atari_games import ale_state, console_with, game_of, packed_state
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault, not_running
from rlgraph.spaces import IntBox


class AtariEnv(Environment):
    """An Atari 2600 game with the preprocessing of the DQN papers: states `[84, 84, 4]` uint8, newest picture last.

    The defaults are those of Mnih et al. (2015), https://doi.org/10.1038/nature14236, as implemented by most
    libraries ("AtariWrapper" of Stable-Baselines3). The protocol of Machado et al. (2018), https://arxiv.org/abs/1709.06009,
    is `sticky_actions=0.25, max_num_noops=0, episodic_life=False, fire_reset=False, full_action_space=True`.

    **Statistics of the game.** Rewards may be clipped and a lost life may end an episode, so `info` reports the game:
    `lives`, and what it has reached so far, `episode_return` (the unclipped score) and `episode_length` (steps);
    `episode_return: None` in a step that ends an episode while the game continues.

    Args:
        game: a name in any spelling ("Pong", "space_invaders"), or an id of Gymnasium ("ALE/Pong-v5"), of which
            only the game is used.
        frameskip: frames for which an action is held; the state shows the brighter pixels of the last two.
        max_num_noops: a game begins with a random number of frames without action, from 1 to this; 0: none.
        episodic_life: a lost life ends the episode for learning (`terminated`); the next `reset` continues the game.
        fire_reset: `reset` presses FIRE once if the game has that button.
        clip_rewards: rewards become -1, 0 or 1, their sign.
        screen_size: height and width of a state; one number for both.
        history: number of pictures in a state; after a reset all are the first one.
        sticky_actions: the probability that the console repeats its last action in a frame.
        full_action_space: all 18 actions instead of the game's own.
        mode, difficulty: switches of the game; None: its defaults.
        max_episode_frames: frames after which a game is truncated (108,000 are half an hour); None: no limit.
        render_mode: "human" opens a window; otherwise `render` returns the screen in colours.
        seed: the seed of the first reset, unless `reset` is given one.

    Raises:
        SpecError: unknown game, mode or difficulty, a number out of range, or ale-py is missing.
    """

    def __init__(
        self,
        game: str,
        frameskip: int = 4,
        max_num_noops: int = 30,
        episodic_life: bool = True,
        fire_reset: bool = True,
        clip_rewards: bool = True,
        screen_size: int | tuple[int, int] = 84,
        history: int = 4,
        sticky_actions: float = 0.0,
        full_action_space: bool = False,
        mode: int | None = None,
        difficulty: int | None = None,
        max_episode_frames: int | None = 108_000,
        render_mode: str | None = None,
        seed: int | None = None,
    ) -> None:
        _at_least(1, frameskip=frameskip, history=history)
        _at_least(0, max_num_noops=max_num_noops)
        self.game = game_of(game)
        if not 0.0 <= sticky_actions <= 1.0:
            raise SpecError(f"sticky_actions is a probability, got {sticky_actions!r}.", path="AtariEnv")
        self._ale = console_with(self.game, mode, difficulty, max_episode_frames, render_mode)
        self._switched_on = self._ale.cloneState(include_rng=True)  # some games remember those played before
        self._rng = np.random.default_rng(seed)
        actions = self._ale.getLegalActionSet() if full_action_space else self._ale.getMinimalActionSet()
        self.actions = tuple(action.name for action in actions)
        self._codes = [int(action.value) for action in actions]
        self._fire = (
            self._codes[self.actions.index("FIRE")] if fire_reset and "FIRE" in self.actions else None
        )
        self.frameskip, self.max_num_noops = frameskip, max_num_noops
        self.sticky_actions = sticky_actions
        self.episodic_life, self.clip_rewards = episodic_life, clip_rewards
        shape = self._ale.getScreenDims()
        size = _size(screen_size, shape)
        super().__init__(IntBox(256, shape=(*size, history), dtype="uint8"), IntBox(len(self._codes)))
        self._resize = AreaResize(shape, size)
        self._screen, self._before = (np.zeros(shape, np.uint8) for _ in range(2))
        self._state = np.zeros((*size, history), np.uint8)
        self._lives = self._length = 0
        self._score = 0.0
        self._stuck = 0  # the action the console executed last
        self._in_game = self._running = False

    @property
    def name(self) -> str:
        """The game's id in Gymnasium's spelling."""
        return "ALE/" + "".join(word.capitalize() for word in self.game.split("_"))

    def reset(self, seed: int | None = None) -> Array:
        """Begins a game; after a lost life with `episodic_life` continues the running one.

        A seed, and a reset before the end of an episode, begin a new game.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
            self._ale.restoreState(self._switched_on)
        if seed is not None or self._running or not self._in_game:
            self._begin()
        else:
            self._hold(0)  # one step without action, as after a start
            if self._ale.game_over():
                self._begin()
        if self._fire is not None:
            self._hold(self._fire)
            if self._ale.game_over():
                self._begin()
        self._lives = self._ale.lives()
        self._running = True
        self._state = np.empty_like(self._state)
        self._resize(self._screen, self._state[..., -1])
        self._state[...] = self._state[..., -1:].copy()
        return self._state

    def step(self, action: Any) -> StepResult:
        """Holds an action for `frameskip` frames.

        Raises:
            EnvironmentFault: no reset before; an unknown action.
        """
        if not self._running:
            raise not_running(self.name)
        try:
            if action < 0:
                raise IndexError
            code = self._codes[action]
        except (TypeError, ValueError, IndexError):
            known = ", ".join(f"{index} ({name})" for index, name in enumerate(self.actions))
            raise EnvironmentFault(f"{self.name}: an action is one of {known}; got {action!r}.") from None
        score = self._hold(code)
        self._length += 1
        ale, lives = self._ale, self._ale.lives()
        over, truncated = ale.game_over(with_truncation=False), ale.game_truncated()
        info = {"lives": lives, "episode_return": self._score, "episode_length": self._length}
        terminated = over or (self.episodic_life and lives < self._lives)
        self._lives = lives
        if terminated or truncated:
            self._running, self._in_game = False, not (over or truncated)
            if self._in_game:
                info["episode_return"] = None
        reward = float((score > 0) - (score < 0)) if self.clip_rewards else score
        return self._shown(), reward, terminated, truncated, info

    def render(self) -> Array:
        """The screen in colour, `[210, 160, 3]` uint8."""
        screen: Array = self._ale.getScreenRGB()
        return screen

    def get_state(self) -> dict[str, Any]:
        """The console's memory, the random numbers, the pictures, and the counters."""
        return {
            "console": packed_state(self._ale),
            "pictures": self._state.copy(),
            "random": self._rng.bit_generator.state,
            "stuck": self._stuck,
            "score": self._score,
            "length": self._length,
            "lives": self._lives,
            "in_game": self._in_game,
            "running": self._running,
        }

    def set_state(self, state: Any) -> Array:
        """Restores a state from `get_state`; returns the state to act on."""
        self._ale.restoreState(ale_state(state["console"]))
        self._state = np.array(state["pictures"], np.uint8)
        self._rng.bit_generator.state = state["random"]
        self._stuck, self._lives = state["stuck"], state["lives"]
        self._score, self._length = state["score"], state["length"]
        self._in_game, self._running = state["in_game"], state["running"]
        return self._state

    def _begin(self) -> None:
        """Begins a game, with its frames without action."""
        ale = self._ale
        ale.reset_game()
        self._score, self._length, self._stuck, self._in_game = 0.0, 0, 0, True
        for _ in range(int(self._rng.integers(1, self.max_num_noops + 1)) if self.max_num_noops else 0):
            ale.act(0)
            if ale.game_over():
                ale.reset_game()
        ale.getScreenGrayscale(self._screen)

    def _hold(self, code: int) -> float:
        """The score of `frameskip` frames; writes the brighter pixels of the last two to `_screen`."""
        ale, score = self._ale, 0
        sticky = self._rng.random(self.frameskip) < self.sticky_actions if self.sticky_actions else None
        for left in range(self.frameskip - 1, -1, -1):
            if sticky is None or not sticky[left]:
                self._stuck = code
            score += ale.act(self._stuck)
            if ale.game_over():
                ale.getScreenGrayscale(self._screen)
                break
            if left == 1:
                ale.getScreenGrayscale(self._before)
            elif left == 0:
                ale.getScreenGrayscale(self._screen)
                if self.frameskip > 1:
                    np.maximum(self._screen, self._before, out=self._screen)
        self._score += score
        return float(score)

    def _shown(self) -> Array:
        """The state with the new picture: a new array, with the bytes of the old one moved by one."""
        state = np.empty_like(self._state)
        state.reshape(-1)[:-1] = self._state.reshape(-1)[1:]
        self._resize(self._screen, state[..., -1])
        self._state = state
        return state


def _at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if not isinstance(number, int) or number < least:
            raise SpecError(f"{name} is an integer >= {least}, got {number!r}.", path="AtariEnv")


def _size(given: int | tuple[int, int], shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width of a state."""
    size = (given, given) if isinstance(given, int) else tuple(given)
    if len(size) != 2 or not all(0 < part <= whole for part, whole in zip(size, shape, strict=True)):
        raise SpecError(f"screen_size is one number or two, up to {shape}, got {given!r}.", path="AtariEnv")
    return size[0], size[1]
