"""Fragments: T consecutive steps of N environments, collected beside an actor and sent to a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.experience.frames import frames_to_stacks, stacks_to_frames
from rlgraph.experience.messages import checked_array, pack_message, unpack_message
from rlgraph.experience.nested_arrays import length, map_arrays
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import BoolBox, Dict, FloatBox, Space


@dataclass(frozen=True)
class Origin:
    """Where a fragment comes from.

    Attributes:
        actor: number of the actor.
        incarnation: how often it was started again.
        number: number of its fragment, from 0, in this incarnation.
    """

    actor: int = 0
    incarnation: int = 0
    number: int = 0


@dataclass
class Fragment:
    """T steps of N slots, in time-major order.

    A state is kept once: it follows one step and precedes the next. Only where an episode ended is the state that was
    reached kept beside the first one of the next episode.

    Attributes:
        origin: where it comes from.
        version: version of the weights that acted.
        states: ``[T + 1, N, ...]``: those acted on, and those that the last step led to.
        reached: ``[E, ...]``: the states that were reached at the E ends, in the order of ``np.nonzero(ends)``.
        actions, rewards, terminals, truncations, begins, valid: ``[T, N, ...]``, as in a step.
        internal_states: ``[1, N, ...]``, before the first step, ``[T, N, ...]``, before every step, or before steps at
            another interval; None: there are none.
        remembered: ``[T, N, ...]`` by name; None: nothing.
    """

    origin: Origin
    version: int
    states: Any
    reached: Any
    actions: Any
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    begins: np.ndarray
    valid: np.ndarray
    internal_states: Any = None
    remembered: Any = None

    @property
    def length(self) -> int:
        """T."""
        return len(self.rewards)

    @property
    def slots(self) -> int:
        """N."""
        return int(self.rewards.shape[1])

    @property
    def ends(self) -> np.ndarray:
        """Where an episode ended after the step, ``[T, N]``."""
        ends: np.ndarray = self.terminals | self.truncations
        return ends

    def next_states(self) -> Any:
        """The states that each step led to, before any reset, ``[T, N, ...]``."""
        ended = np.nonzero(self.ends)

        def expanded(states: np.ndarray, reached: np.ndarray) -> np.ndarray:
            next_states = states[1:].copy()
            next_states[ended] = reached
            return next_states

        return map_arrays(expanded, self.states, self.reached)

    def steps(self) -> list[VectorStep]:
        """The steps one by one, with internal states if every step has them."""
        next_states, internal_states = self.next_states(), self.internal_states
        if internal_states is not None and length(internal_states) < self.length:
            internal_states = None
        return [
            VectorStep(
                map_arrays(lambda x, t=t: x[t], self.states),
                map_arrays(lambda x, t=t: x[t], self.actions),
                self.rewards[t],
                self.terminals[t],
                self.truncations[t],
                map_arrays(lambda x, t=t: x[t], next_states),
                self.begins[t],
                None if self.valid[t].all() else self.valid[t],
                map_arrays(lambda x, t=t: x[t], internal_states),
                None if self.remembered is None else map_arrays(lambda x, t=t: x[t], self.remembered),
            )
            for t in range(self.length)
        ]


class FragmentBuffer:
    """Collects steps until they are a fragment of `length` steps.

    Args:
        length: T.
        internal_state_interval: steps between two internal states that are kept; None: only those before the first.
    """

    def __init__(self, length: int, internal_state_interval: int | None = None):
        self.length, self._interval = length, internal_state_interval or length
        #: Steps collected so far.
        self.filled = 0
        self._fields: dict[str, Any] | None = None
        #: (t, slot) of an end -> the state that was reached there.
        self._reached: dict[tuple[int, int], Any] = {}

    @property
    def is_full(self) -> bool:
        return self.filled == self.length

    def add(self, step: VectorStep) -> None:
        """Take in a step of as many slots as those before.

        Raises:
            InputError: another number of slots, or the buffer is full.
        """
        number = len(step.rewards)
        if self._fields is None or self._fields["rewards"].shape[1] != number:
            self._allocate(step, number)
        assert self._fields is not None
        t, fields = self.filled, self._fields
        if t == self.length:
            raise InputError(
                f"the fragment has its {self.length} steps: take it before the next step is added"
            )
        if t % self._interval == 0:
            _set_row(fields["internal_states"], t // self._interval, step.internal_states)
        _set_row(fields["states"], t, step.states)
        _set_row(fields["actions"], t, step.actions)
        _set_row(fields["remembered"], t, step.remembered)
        fields["rewards"][t] = step.rewards
        fields["begins"][t] = step.begins
        if step.valid is not None:  # else it is True already
            fields["valid"][t] = step.valid
        _set_row(fields["states"], t + 1, step.next_states)  # for a cut; else the next step writes it again
        ends = step.terminals | step.truncations
        if np.count_nonzero(ends):  # else the flags are False already
            fields["terminals"][t], fields["truncations"][t] = step.terminals, step.truncations
            for slot in np.flatnonzero(ends).tolist():
                self._reached[t, slot] = map_arrays(
                    lambda rows, slot=slot: rows[slot].copy(), step.next_states
                )
        self.filled += 1

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """The episodes of `slots` (None: all) were cut after their last step.

        An episode whose last step is in a former fragment was bootstrapped there.
        """
        if self.filled == 0 or self._fields is None:
            return
        t, fields = self.filled - 1, self._fields
        for slot in range(fields["rewards"].shape[1]) if slots is None else slots:
            if fields["valid"][t, slot] and (t, slot) not in self._reached:
                fields["truncations"][t, slot] = True
                self._reached[t, slot] = map_arrays(
                    lambda rows, slot=slot: rows[t + 1, slot].copy(), fields["states"]
                )

    def take(self, origin: Origin | None = None, version: int = 0) -> Fragment:
        """The fragment. The buffer is empty afterwards.

        Raises:
            InputError: steps are missing.
        """
        if not self.is_full or self._fields is None:
            raise InputError(f"the fragment has {self.filled} of its {self.length} steps")
        fields, self._fields = self._fields, None
        ended = [self._reached[place] for place in sorted(self._reached)]
        reached = map_arrays(lambda held: held[:0, 0], fields["states"])
        if ended:
            reached = map_arrays(lambda *rows: np.stack(rows), *ended)
        self.filled, self._reached = 0, {}
        return Fragment(
            origin or Origin(),
            version,
            reached=reached,
            **fields,
        )

    def drop(self) -> None:
        """Forget what was collected."""
        self.filled, self._reached, self._fields = 0, {}, None

    def get_state(self) -> dict[str, Any] | None:
        """Copies of what was collected, None if nothing was; see `set_state`."""
        if not self.filled or self._fields is None:
            return None
        places = sorted(self._reached)
        ended = [self._reached[place] for place in places]
        return {
            "filled": self.filled,
            "fields": map_arrays(np.copy, {k: v for k, v in self._fields.items() if v is not None}),
            "places": np.array(places, np.int64).reshape(-1, 2),
            "reached": map_arrays(lambda *rows: np.stack(rows), *ended) if ended else None,
        }

    def set_state(self, state: dict[str, Any] | None) -> None:
        """Continue from what `get_state` gave; what was collected for another length is lost."""
        self.drop()
        if state is None or len(state["fields"]["rewards"]) != self.length:
            return
        self.filled = int(state["filled"])
        self._fields = {"remembered": None, "internal_states": None, **map_arrays(np.copy, state["fields"])}
        self._fields["valid"][self.filled :] = True  # False in what earlier versions gave
        self._reached = {
            (t, slot): map_arrays(lambda rows, i=i: rows[i].copy(), state["reached"])
            for i, (t, slot) in enumerate(state["places"].tolist())
        }

    def _allocate(self, step: VectorStep, number: int) -> None:
        """Room for steps like this one; what was collected of another number of slots is lost."""
        self.drop()

        def room(extra: int) -> Any:
            return lambda rows: np.zeros((self.length + extra, *np.shape(rows)), np.asarray(rows).dtype)

        flags = {
            name: np.zeros((self.length, number), bool) for name in ("terminals", "truncations", "begins")
        }
        kept = len(range(0, self.length, self._interval))
        self._fields = {
            "states": map_arrays(room(1), step.states),
            "actions": map_arrays(room(0), step.actions),
            "rewards": room(0)(step.rewards),
            "remembered": map_arrays(room(0), step.remembered),
            "internal_states": map_arrays(room(kept - self.length), step.internal_states),
            "valid": np.ones((self.length, number), bool),
            **flags,
        }


def _set_row(held: Any, t: int, given: Any) -> None:
    """Write the rows of step `t`; None has none."""
    if type(held) is np.ndarray:  # the usual case first: this is called in every step
        held[t] = given
    elif held is not None:
        map_arrays(lambda array, rows: array.__setitem__(t, rows), held, given)


class FragmentFormat:
    """How fragments of one kind become bytes, and what they are checked against when they arrive.

    Args:
        states, actions: Spaces of one state and one action.
        internal_states, remembered: Dict Spaces of one row; None: there are none.
        frames: path of a part of the states -> how many entries of its last axis are one frame: a state there is a
            stack of frames, and continues the one before it.
        dtype: of rewards.
        internal_state_interval: see `FragmentBuffer`.
    """

    def __init__(
        self,
        states: Space,
        actions: Space,
        internal_states: Space | None = None,
        remembered: Space | None = None,
        frames: dict[str, int] | None = None,
        dtype: str = "float32",
        internal_state_interval: int | None = None,
    ):
        self.frames, self._dtype, self._interval = frames or {}, dtype, internal_state_interval
        fields: dict[str, Space] = {
            "states": states,
            "reached": states,
            "actions": actions,
            "rewards": FloatBox(),
            "terminals": BoolBox(),
            "truncations": BoolBox(),
            "begins": BoolBox(),
            "valid": BoolBox(),
        }
        for name, space in (("internal_states", internal_states), ("remembered", remembered)):
            if space is not None:
                fields[name] = space.without_ranks()
        self.space = Dict(fields)
        self._leaves = self.space.flatten()

    def to_bytes(self, fragment: Fragment) -> bytes:
        """The fragment as a message; frames of stacked states are sent once."""
        given = {name: getattr(fragment, name) for name in self.space}
        arrays = dict(self.space.flatten_sample(given))
        for path, width in self.frames.items():
            states, reached = _path("states", path), _path("reached", path)
            arrays |= stacks_to_frames(states, reached, arrays, width, np.nonzero(fragment.ends))
        header = {
            "origin": [fragment.origin.actor, fragment.origin.incarnation, fragment.origin.number],
            "version": fragment.version,
            "shape": [fragment.length, fragment.slots],
        }
        return pack_message(header, arrays)

    def num_bytes(self, steps: int, slots: int) -> int:
        """The size of a message of `steps` steps in `slots` slots, without its header and reached states."""
        size = 0
        for path, box in self._leaves.items():
            name, _, part = path.partition("/")
            rows = {"reached": 0, "states": steps + 1, "internal_states": 1}.get(name, steps)
            stacked = box.shape[-1] / self.frames[part] if name == "states" and part in self.frames else 1
            size += int(rows * slots * box.flat_dim * box.numpy_dtype.itemsize / stacked)
        return size

    def from_bytes(self, message: bytes | memoryview) -> Fragment:
        """The fragment of a message.

        Raises:
            InputError: the message is not a fragment of this kind; names the field.
        """
        header, arrays = unpack_message(message)
        try:
            steps, number = map(int, header["shape"])
            origin, version = Origin(*map(int, header["origin"])), int(header["version"])
            if steps < 1 or number < 1:
                raise ValueError(f"shape {steps} x {number}")
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"expected the header of a fragment, given {header!r} ({error})") from None
        ended = self._ends(arrays, (steps, number))
        for path, width in self.frames.items():
            states, reached = _path("states", path), _path("reached", path)
            box = self._leaves[states]
            arrays |= frames_to_stacks(states, reached, arrays, width, (steps, number), box.shape, ended)
        flat = {}
        for path, box in self._leaves.items():
            name = path.partition("/")[0]
            leading = {
                "states": (steps + 1, number),
                "reached": (len(ended[0]),),
                "internal_states": (len(range(0, steps, self._interval or steps)), number),
            }.get(name, (steps, number))
            flat[path] = checked_array("fragment", arrays, path, (*leading, *box.shape), box)
        return Fragment(origin, version, **self.space.unflatten_sample(flat))

    def _ends(self, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> Any:
        ends = [
            checked_array("fragment", arrays, name, shape, BoolBox()) for name in ("terminals", "truncations")
        ]
        return np.nonzero(ends[0] | ends[1])


def _path(name: str, path: str) -> str:
    return f"{name}/{path}" if path else name
