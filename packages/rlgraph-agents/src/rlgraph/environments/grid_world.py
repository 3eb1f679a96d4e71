"""Small deterministic worlds of fields, for tests whose optimal values can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.grid_world_maps import FIRE, FREE, GOAL, HOLE, START, WALL, read_map
from rlgraph.spaces import IntBox

REWARDS: dict[str, dict[str, float]] = {
    "sparse": {FREE: -0.1, START: -0.1, FIRE: -3.0, HOLE: -5.0, GOAL: 1.0},
    "rich": {FREE: -0.1, START: -0.1, FIRE: -10.0, HOLE: -100.0, GOAL: 50.0},
}
UP, RIGHT, DOWN, LEFT = range(4)
_MOVES = {UP: (0, -1), RIGHT: (1, 0), DOWN: (0, 1), LEFT: (-1, 0)}


class _Field(NamedTuple):
    """A field the actor can stand on: its state, and per action `(next position, reward, terminated)`."""

    state: np.ndarray[Any, Any]
    moves: tuple[tuple[int, float, bool], ...]


class GridWorld(Environment):
    """An actor walks from the start to a goal. Actions: 0 up, 1 right, 2 down, 3 left.

    The reward belongs to the field on which the actor stands after the action:

    | field | | sparse | rich | ends the episode |
    | --- | --- | --- | --- | --- |
    | blank, `S` | free | -0.1 | -0.1 | no |
    | `F` | fire | -3 | -10 | no |
    | `H` | hole | -5 | -100 | yes |
    | `G` | goal | 1 | 50 | yes |
    | `W` | wall | | | cannot be entered |

    Walking against a wall or the rim leaves the actor where it is and counts as a step onto that field. Under
    these rewards the optimal values of "2x2" without discount are Q(start) = (0.8, -5, 0.9, 0.8) and Q(below
    the start) = (0.8, 1, 0.9, 0.9). RLgraph 0.5 gave -10 for a hole under "rich" where its documents say
    -100.

    Args:
        world: the name of a built-in map (`rlgraph.environments.grid_world_maps.MAPS`) or the rows of your
            own.
        save_mode: holes become walls, so that every episode ends in a goal. (RLgraph 0.5 documented walls and
            made them fire.)
        action_type: "udlr", the only one so far.
        reward_function: "sparse" or "rich", see the table.
        state_representation: "discrete": the number of the field, `[]` int in [0, rows * columns), counted
            down the columns: 0 is the upper left field, 1 the one below it. "xy": column and row, `[2]` int.

    Episodes have no limit of steps.
    """

    def __init__(
        self,
        world: str | Sequence[str] = "4x4",
        save_mode: bool = False,
        action_type: str = "udlr",
        reward_function: str = "sparse",
        state_representation: str = "discrete",
    ) -> None:
        _one_of("action_type", action_type, ("udlr",))
        _one_of("reward_function", reward_function, tuple(REWARDS))
        _one_of("state_representation", state_representation, ("discrete", "xy"))
        self._title = f"GridWorld({world!r})" if isinstance(world, str) else "GridWorld(custom map)"
        rows = read_map(world)
        self.world = tuple(row.replace(HOLE, WALL) for row in rows) if save_mode else rows
        self.n_row, self.n_col = len(rows), len(rows[0])
        if state_representation == "discrete":
            state_space = IntBox(self.n_row * self.n_col)
        else:
            state_space = IntBox(low=(0, 0), high=(self.n_col, self.n_row), shape=(2,))
        super().__init__(state_space, IntBox(len(_MOVES)))
        self._fields = self._table(REWARDS[reward_function], state_representation)
        self._start = "".join("".join(column) for column in zip(*self.world, strict=True)).index(START)
        self._position: int | None = None

    @property
    def name(self) -> str:
        return self._title

    def reset(self, seed: int | None = None) -> Any:
        """Puts the actor on the start. Nothing here is random: `seed` has no effect."""
        self._position = self._start
        return self._fields[self._start].state

    def step(self, action: Any) -> StepResult:
        """Walks to the next field. The state is a read-only array."""
        position = self._position
        if position is None:
            raise EnvironmentFault(
                f"{self.name}: the episode is over or has not begun; call reset() before step()."
            )
        try:
            if not 0 <= action <= LEFT:
                raise IndexError
            position, reward, terminated = self._fields[position].moves[action]
        except (TypeError, ValueError, IndexError):
            raise EnvironmentFault(
                f"{self.name}: an action is 0 (up), 1 (right), 2 (down) or 3 (left), got {action!r}."
            ) from None
        self._position = None if terminated else position
        return self._fields[position].state, reward, terminated, False, {}

    def render(self) -> str:
        """The map as lines of text with the actor as `X`; after the end of an episode without it."""
        lines = [list(row) for row in self.world]
        if self._position is not None:
            lines[self._position % self.n_row][self._position // self.n_row] = "X"
        return "\n".join("".join(line) for line in lines)

    def _table(self, rewards: dict[str, float], representation: str) -> tuple[_Field, ...]:
        """One `_Field` per position, column by column; every move is worked out here, none in `step`."""
        fields: list[_Field] = []
        for x in range(self.n_col):
            for y in range(self.n_row):
                state = np.array(len(fields) if representation == "discrete" else (x, y), np.int64)
                state.setflags(write=False)
                fields.append(_Field(state, tuple(self._outcome(x, y, move, rewards) for move in _MOVES)))
        return tuple(fields)

    def _outcome(self, x: int, y: int, move: int, rewards: dict[str, float]) -> tuple[int, float, bool]:
        """`(next position, reward, terminated)` of one move from column `x`, row `y`."""
        dx, dy = _MOVES[move]
        if 0 <= x + dx < self.n_col and 0 <= y + dy < self.n_row and self.world[y + dy][x + dx] != WALL:
            x, y = x + dx, y + dy
        field = self.world[y][x]
        return x * self.n_row + y, rewards.get(field, 0.0), field in (HOLE, GOAL)


def _one_of(argument: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SpecError(f"GridWorld: {argument} is one of {', '.join(map(repr, choices))}, got {value!r}.")
