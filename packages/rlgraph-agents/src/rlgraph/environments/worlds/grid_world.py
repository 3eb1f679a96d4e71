"""Small deterministic grid worlds, whose optimal values can be computed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault, not_running
from rlgraph.environments.worlds.grid_world_maps import FIRE, FREE, GOAL, HOLE, START, WALL, read_map
from rlgraph.environments.worlds.grid_world_moves import (
    ENDS,
    LEFT,
    STEPS,
    Place,
    places,
    turn_walk_jump,
    walk,
)
from rlgraph.environments.worlds.grid_world_pictures import as_camera, as_picture, as_text
from rlgraph.spaces import BoolBox, Dict, IntBox, Space

REWARDS: dict[str, dict[str, float]] = {
    "sparse": {FREE: -0.1, START: -0.1, FIRE: -3.0, HOLE: -5.0, GOAL: 1.0},
    "rich": {FREE: -0.1, START: -0.1, FIRE: -10.0, HOLE: -100.0, GOAL: 50.0},
}
ACTION_TYPES = ("udlr", "ftj", "ftjb")
REPRESENTATIONS = ("discrete", "xy", "xy+orientation", "camera")


class _Node(NamedTuple):
    """A place of the actor: its state, and for each action `(next node, reward, terminated)`."""

    state: np.ndarray[Any, Any]
    moves: tuple[tuple[int, float, bool], ...]


class GridWorld(Environment):
    """An actor walks from the start to a goal.

    The field that the actor stands on after the action determines the reward:

    | field | | sparse | rich | ends the episode |
    | --- | --- | --- | --- | --- |
    | blank, `S` | free | -0.1 | -0.1 | no |
    | `F` | fire | -3 | -10 | no |
    | `H` | hole | -5 | -100 | yes |
    | `G` | goal | 1 | 50 | yes |
    | `W` | wall | | | cannot be entered |

    An actor that walks against a wall or the rim stays, and is rewarded for the field it stands on. Without discount
    the optimal "sparse" values of "2x2" are Q(start) = (0.8, -5, 0.9, 0.8) and Q(below the start) = (0.8, 1, 0.9,
    0.9). RLgraph 0.5 gave -10 for a hole under "rich", its documents say -100.

    Actions of "ftj" happen in the order turn, step, jump. A jump lands two fields ahead, over any field. If the actor
    cannot land there (a wall, the rim), it lands one field ahead, else it stays. A step into a hole or a goal ends the
    episode; the actor cannot jump out of it. Episodes begin looking up.

    Args:
        world: the name of a built-in map (`rlgraph.environments.worlds.grid_world_maps.MAPS`) or the rows of your own.
        save_mode: holes become walls, so that every episode ends in a goal. (RLgraph 0.5 documented walls, but
            replaced holes by fire.)
        action_type: "udlr": 0 up, 1 right, 2 down, 3 left. "ftj": a Dict of `forward` (0 backward, 1 stay, 2
            forward), `turn` (0 left, 1 not, 2 right) and `jump` (0 or 1). "ftjb": the same with `jump` a bool.
        reward_function: "sparse" or "rich", see the table.
        state_representation: "discrete" (in RLgraph 0.5 "discr", which is taken): the number of the field, `[]` int
            in [0, rows * columns), in column order: 0 is the upper left field, 1 the one below it. "xy": column
            and row, `[2]` int. "xy+orientation": these and the step ahead in column and row, `[4]` int; up is (0, -1).
            "camera": `[rows, columns, 3]` uint8, channel 0 walls (127) and goals (255), channel 1 fires (127) and holes
            (255), channel 2 the actor (255). Only "xy+orientation" shows where the actor looks.
        random_start: an episode begins on a random free field, start or fire, instead of the start.
        render_mode: what `render` returns: "text", or "rgb_array", `[rows * 32, columns * 32, 3]` uint8.
        seed: the seed of the first reset, unless `reset` is given one.

    Episodes have no limit of steps.
    """

    def __init__(
        self,
        world: str | Sequence[str] = "4x4",
        save_mode: bool = False,
        action_type: str = "udlr",
        reward_function: str = "sparse",
        state_representation: str = "discrete",
        random_start: bool = False,
        render_mode: str = "text",
        seed: int | None = None,
    ) -> None:
        state_representation = "discrete" if state_representation == "discr" else state_representation
        _one_of("action_type", action_type, ACTION_TYPES)
        _one_of("reward_function", reward_function, tuple(REWARDS))
        _one_of("state_representation", state_representation, REPRESENTATIONS)
        _one_of("render_mode", render_mode, ("text", "rgb_array"))
        self._title = f"GridWorld({world!r})" if isinstance(world, str) else "GridWorld(custom map)"
        rows = read_map(world)
        self.world = tuple(row.replace(HOLE, WALL) for row in rows) if save_mode else rows
        self.n_row, self.n_col = len(rows), len(rows[0])
        self.action_type, self.render_mode = action_type, render_mode
        self._turns = action_type != "udlr"
        self._places = tuple(places(self.world, 4 if self._turns else 1))
        super().__init__(self._state_space(state_representation), _action_space(action_type))
        self._nodes = self._table(REWARDS[reward_function], state_representation)
        start = (START, FREE, FIRE) if random_start else (START,)
        self._starts = [
            number
            for number, (x, y, direction) in enumerate(self._places)
            if self.world[y][x] in start and direction == 0
        ]
        self._rng = np.random.default_rng(seed)
        self._at = self._starts[0]
        self._running = False

    @property
    def name(self) -> str:
        return self._title

    def reset(self, seed: int | None = None) -> Any:
        """Puts the actor on the start; `seed` has an effect only with `random_start`."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        several = len(self._starts) > 1
        self._at = self._starts[int(self._rng.integers(len(self._starts)))] if several else self._starts[0]
        self._running = True
        return self._nodes[self._at].state

    def step(self, action: Any, set_discrete_pos: int | None = None) -> StepResult:
        """Acts once. The state is a read-only array.

        Args:
            action: an action of `action_space`.
            set_discrete_pos: the number of the field to act from, ``x * n_row + y``; None: the actor's.

        Raises:
            EnvironmentFault: there is no such action, no such field, or no episode has begun.
        """
        if not self._running:
            raise not_running(self.name)
        number = _parts_number(action) if self._turns else _move_number(action)
        if number is None:
            raise EnvironmentFault(f"{self.name}: {_EXPECTED[self.action_type]}, got {action!r}.")
        if set_discrete_pos is not None:
            self._at = self._place_on(set_discrete_pos)
        self._at, reward, terminated = self._nodes[self._at].moves[number]
        self._running = not terminated
        return self._nodes[self._at].state, reward, terminated, False, {}

    def _place_on(self, field: int) -> int:
        """The place on a field, in the direction of the actor."""
        place = self._places[self._at]._replace(x=field // self.n_row, y=field % self.n_row)
        if place not in self._places:
            raise EnvironmentFault(f"{self.name}: set_discrete_pos: there is no place on field {field!r}.")
        return self._places.index(place)

    def render(self) -> str | np.ndarray[Any, Any]:
        """The map in the form of `render_mode`, with the actor during an episode."""
        place = self._places[self._at] if self._running else None
        draw = as_text if self.render_mode == "text" else as_picture
        return draw(self.world, place, self._turns)

    def get_state(self) -> dict[str, Any]:
        """The place, and the random numbers of starts."""
        return {"at": self._at, "running": self._running, "random": self._rng.bit_generator.state}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._at, self._running = state["at"], state["running"]
        self._rng.bit_generator.state = state["random"]
        return self._nodes[self._at].state

    def _state_space(self, representation: str) -> Space:
        if representation == "discrete":
            return IntBox(self.n_row * self.n_col)
        if representation == "xy":
            return IntBox(low=(0, 0), high=(self.n_col, self.n_row), shape=(2,))
        if representation == "xy+orientation":
            return IntBox(low=(0, 0, -1, -1), high=(self.n_col, self.n_row, 2, 2), shape=(4,))
        return IntBox(256, shape=(self.n_row, self.n_col, 3), dtype="uint8")

    def _state(self, place: Place, representation: str) -> np.ndarray[Any, Any]:
        if representation == "camera":
            state = as_camera(self.world, place)
        elif representation == "discrete":
            state = np.array(place.x * self.n_row + place.y)
        else:
            ahead = STEPS[place.direction] if representation == "xy+orientation" else ()
            state = np.array((place.x, place.y, *ahead))
        state.setflags(write=False)
        return state

    def _table(self, rewards: dict[str, float], representation: str) -> tuple[_Node, ...]:
        """One `_Node` per place; all moves are computed here, none in `step`."""
        numbers = {place: number for number, place in enumerate(self._places)}

        def outcome(place: Place) -> tuple[int, float, bool]:
            field = self.world[place.y][place.x]
            return numbers[place], rewards.get(field, 0.0), field in ENDS

        outcomes = {place: outcome(place) for place in self._places}
        return tuple(
            _Node(
                self._state(place, representation),
                tuple(outcomes[reached] for reached in self._reached(place)),
            )
            for place in self._places
        )

    def _reached(self, place: Place) -> list[Place]:
        """The next place for every action, in the order of their numbers."""
        if not self._turns:
            return [walk(self.world, place, direction) for direction in range(4)]
        return [
            turn_walk_jump(self.world, place, turn, forward, jumps)
            for forward in range(3)
            for turn in range(3)
            for jumps in range(2)
        ]


_EXPECTED = {
    "udlr": "an action is 0 (up), 1 (right), 2 (down) or 3 (left)",
    "ftj": "an action is a dict of forward (0 backward, 1 stay, 2 forward), turn (0 left, 1 not, 2 right) and "
    "jump (0 or 1)",
    "ftjb": "an action is a dict of forward (0 backward, 1 stay, 2 forward), turn (0 left, 1 not, 2 right) and "
    "jump (a bool)",
}


def _move_number(action: Any) -> int | None:
    """The number of an action of "udlr"; None if it is invalid."""
    try:
        number = index(action)
    except TypeError:
        return None
    return number if 0 <= number <= LEFT else None


def _parts_number(action: Any) -> int | None:
    """The number of an action of "ftj" among all 18; None if it is invalid."""
    if not isinstance(action, Mapping) or action.keys() != {"forward", "turn", "jump"}:
        return None
    try:
        jumps = index(action["jump"])
    except TypeError:  # NumPy's bools are no indices
        jumps = int(action["jump"]) if np.asarray(action["jump"]).dtype == np.bool_ else -1
    forward, turn = _move_number(action["forward"]), _move_number(action["turn"])
    if forward is None or turn is None or forward > 2 or turn > 2 or not 0 <= jumps <= 1:
        return None
    return forward * 6 + turn * 2 + jumps


def _action_space(action_type: str) -> Space:
    if action_type == "udlr":
        return IntBox(4)
    return Dict(forward=IntBox(3), turn=IntBox(3), jump=IntBox(2) if action_type == "ftj" else BoolBox())


def _one_of(argument: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SpecError(
            f"{argument} is one of {', '.join(map(repr, choices))}, got {value!r}.", path="GridWorld"
        )
