"""Finding and loading the games of ale-py."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError, nearest
from rlgraph.environments.extras import import_extra


def game_of(name: str) -> str:
    """ale-py's name of a game: "space_invaders" for "SpaceInvaders", "ALE/SpaceInvaders-v5" and the like.

    Raises:
        SpecError: the game is unknown; names the nearest.
    """
    stem = name.removeprefix("ale_py:").removeprefix("ALE/")
    stem = re.sub(r"((NoFrameskip|Deterministic)?-v\d+)$", "", stem)
    games = _games()
    spelled = stem.lower().replace("_", "").replace("-", "").replace(" ", "")
    if spelled not in games:
        raise SpecError(f"unknown game {name!r}. {nearest(stem.lower(), games.values())}", path="AtariEnv")
    return games[spelled]


@functools.cache
def _games() -> dict[str, str]:
    roms = _ale_py().roms
    return {name.replace("_", ""): name for name in roms.get_all_rom_ids()}


def console_with(
    game: str, mode: int | None, difficulty: int | None, max_frames: int | None, render_mode: str | None
) -> Any:
    """An `ALEInterface` with a game loaded.

    Sticky actions are off, since a saved state of the console contains neither their random numbers nor the last
    action; `AtariEnv` draws them. Without them a game is deterministic.

    Raises:
        SpecError: unknown mode or difficulty, or a number out of range.
    """
    if max_frames is not None and max_frames < 1:
        raise SpecError(
            f"max_episode_frames is an integer >= 1 or None, got {max_frames!r}.", path="AtariEnv"
        )
    if render_mode not in (None, "rgb_array", "human"):
        raise SpecError(f"render_mode is 'rgb_array', 'human' or None, got {render_mode!r}.", path="AtariEnv")
    ale_py = _ale_py()
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", 0)
    ale.setInt("max_num_frames_per_episode", max_frames or 0)
    ale.setBool("display_screen", render_mode == "human")
    rom = ale_py.roms.get_rom_path(game)
    if ale.isSupportedROM(rom) is None:  # loading it would end the process
        raise SpecError(f"the console plays no {game!r} for a single player.", path="AtariEnv")
    ale.loadROM(rom)
    if mode is not None:
        _known("modes", mode, ale.getAvailableModes(), game)
        ale.setMode(mode)
    if difficulty is not None:
        _known("difficulties", difficulty, ale.getAvailableDifficulties(), game)
        ale.setDifficulty(difficulty)
    return ale


def _known(name: str, given: int, values: list[int], game: str) -> None:
    if given not in values:
        raise SpecError(f"{game} has the {name} {sorted(values)}, got {given!r}.", path="AtariEnv")


def packed_state(ale: Any) -> np.ndarray[Any, Any]:
    """Everything inside the console, `[bytes]` uint8."""
    return np.frombuffer(ale.cloneState(include_rng=True).__getstate__(), np.uint8).copy()


def ale_state(packed: np.ndarray[Any, Any]) -> Any:
    """The argument of `restoreState`, from `packed_state`."""
    kind = _ale_py().ALEState
    state = kind.__new__(kind)
    state.__setstate__(np.asarray(packed, np.uint8).tobytes())
    return state


def _ale_py() -> Any:
    import_extra("ale_py.roms", "an Atari game", "AtariEnv")
    return import_extra("ale_py", "an Atari game", "AtariEnv")
