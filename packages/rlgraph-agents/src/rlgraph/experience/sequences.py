"""Replay of sequences, for recurrent networks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components import ReplayedSequences, SequenceReplay
from rlgraph.core import InputError, PerformanceWarning, SpecError
from rlgraph.experience.experience import Experience
from rlgraph.experience.nested_arrays import map_arrays
from rlgraph.experience.replay import Replay
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import BoolBox, BoxSpace, Dict, FloatBox, IntBox, Space

#: Episodes after which a sequence length that none of them reaches is reported.
WATCHED_EPISODES = 100


class Sequences(Replay):
    """A memory of sequences; an update turns those it draws into items (`ReplayedSequences`).

    Args:
        memory: the memory.
        discount, n_step, update_spec: see `Replay`.
    """

    memory: SequenceReplay
    internal_state_interval = 1

    def __init__(self, memory: SequenceReplay, **options: Any):
        super().__init__(memory_spec=memory, **options)
        if self.n_step > memory.learned_steps:
            raise SpecError(
                f"expected at most the steps that a sequence is learned from, {memory.learned_steps}, given "
                f"{self.n_step}",
                path="n_step",
            )
        self.inserts_steps, self.batch_options = False, ()
        self.room = memory.capacity * memory.learned_steps
        self.sequences = ReplayedSequences(memory.burn_in, self.n_step, self.discount, memory.eta)
        #: The parts of the internal states of an actor that records keep.
        self._parts: tuple[str, ...] = ()

    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        assert beginnings is not None
        self._parts = tuple(beginnings)
        steps, length = self.memory.learned_steps, self.memory.sequence_length
        records = Dict(
            {
                "states": _in_time(states, length + 1),
                "begins": _in_time(BoolBox(), length),
                "actions": _in_time(actions, steps),
                "rewards": _in_time(FloatBox(), steps),
                "terminals": _in_time(BoolBox(), steps),
                "weights": _in_time(FloatBox(), steps),
                "beginnings": beginnings.without_ranks(),
            },
            add_batch_rank=True,
        )
        return {
            "records": records,
            "num_records": IntBox(1, None),
            "importance_weights": FloatBox(add_batch_rank=True),
        }

    def room_for(self, lengths: Iterable[int]) -> int:
        learned, period = self.memory.learned_steps, self.memory.sequence_length - self.memory.overlap
        # After the first sequence of an episode each has `period` steps more; padding needs room, too.
        further = (max(-((learned - steps) // period), 0) for steps in lengths)
        return learned * sum(1 + number for number in further)

    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> SequenceWriter:
        assert insert is not None
        return SequenceWriter(self.memory, self._parts, insert, dtype)

    def records_of_batch(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any, dtype: str
    ) -> dict[str, Any]:
        """Batches of users have no sequences with internal states."""
        raise InputError(
            f"{method}: expected no batch: recurrent networks learn from sequences, of steps that observe() was told of"
        )


def suited_experience(experience: Experience, is_recurrent: bool) -> Experience:
    """What an algorithm learns from; a replay whose memory keeps sequences becomes a `Sequences`.

    Args:
        experience: as its options made it.
        is_recurrent: whether the algorithm has recurrent networks.

    Raises:
        SpecError: see `Experience.suited_to`.
    """
    suited = experience.suited_to(is_recurrent)
    if not isinstance(suited, Replay) or not isinstance(suited.memory, SequenceReplay):
        return suited
    return Sequences(
        suited.memory, discount=suited.discount, n_step=suited.n_step, update_spec=suited.updates
    )


def _in_time(space: Space, steps: int) -> Space:
    """The Space of this number of elements."""

    def stacked(_: str, box: Any) -> BoxSpace:
        shape = (steps, *box.shape)
        if isinstance(box, BoolBox):
            return BoolBox(shape=shape)
        low, high = (
            None if bound is None else np.broadcast_to(bound, shape) for bound in (box.low, box.high)
        )
        same: BoxSpace = type(box)(low, high, shape=shape, dtype=box.dtype)
        return same

    return space.map(stacked)


class SequenceWriter:
    """Turns the steps of one actor into sequences and inserts them.

    Each slot has its last steps in a ring. A sequence is complete when it has the steps to learn from, or when its
    episode ends; then padding of weight 0 follows.

    Args:
        memory: gives the lengths.
        parts: of the internal states, those to keep.
        insert: takes ``records``, a dict of fields ``[B, ...]``.
        dtype: of rewards and weights.
    """

    def __init__(self, memory: SequenceReplay, parts: Sequence[str], insert: Callable[..., Any], dtype: str):
        self._insert, self._parts, self._dtype = insert, parts, dtype
        self._length, self._burn_in = memory.sequence_length, memory.burn_in
        self._learned, self._period = memory.learned_steps, memory.sequence_length - memory.overlap
        #: By slot: steps of its running episode, the first step that its next sequence learns from, and the steps that
        #: are in sequences already; [3, N].
        self._counts = np.zeros((3, 0), np.int64)
        #: The last steps of each slot by field, step t in row t modulo the length; [L, N, ...].
        self._rings: Any = None
        #: What the last step of each slot led to, [N, ...].
        self._reached: Any = None
        #: Episodes that are still looked at for whether any fills a sequence; 0: one did, or a warning was given.
        self._unfilled = WATCHED_EPISODES

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step of `slots`, one per row; None: of all in order.

        Raises:
            InputError: the step has no internal states.
        """
        if step.internal_states is None:
            raise InputError(
                "sequences: expected the internal states before each step, given none: a FragmentSampler collects them "
                "with internal_state_interval=1"
            )
        slots = np.arange(len(step.rewards)) if slots is None else slots
        if step.valid is not None:
            rows = np.flatnonzero(step.valid)
            step, slots = step.of_rows(rows), slots[rows]
        if not len(slots):
            return
        fields = {
            "states": step.states,
            "actions": step.actions,
            "rewards": step.rewards,
            "terminals": step.terminals,
            "internal_states": {part: step.internal_states[part] for part in self._parts},
        }
        if self._counts.shape[1] <= (last := int(slots.max())):
            self._make_room(fields, step.next_states, last + 1)
        at = self._counts[0, slots] % self._length, slots
        map_arrays(lambda ring, given: ring.__setitem__(at, given), self._rings, fields)
        map_arrays(lambda held, given: held.__setitem__(slots, given), self._reached, step.next_states)
        self._counts[0, slots] += 1
        steps, first, _ = self._counts[:, slots]
        if len(full := slots[steps - first == self._learned]):
            self._write(full)
            self._counts[1, full] += self._period
            self._unfilled = 0
        ends = step.terminals | step.truncations
        if np.count_nonzero(ends):
            self.cut(slots[ends])

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """The episodes of `slots` (None: all) ended after their last step."""
        ended = np.arange(self._counts.shape[1]) if slots is None else self._held(slots)
        ended = ended[self._counts[0, ended] > 0]
        steps, _, written = self._counts[:, ended]
        if len(left := ended[steps > written]):
            self._write(left)
        self._counts[:, ended] = 0
        if self._unfilled:
            self._watch(len(ended))

    def _watch(self, episodes: int) -> None:
        """Warn once if no episode is long enough for a whole sequence."""
        self._unfilled = max(self._unfilled - episodes, 0)
        if not self._unfilled:
            warnings.warn(
                f"memory_spec.sequence_length: none of the first {WATCHED_EPISODES} episodes had the {self._learned} "
                "steps to learn from of a sequence, so all sequences are padded: lower it to save memory and time",
                PerformanceWarning,
                stacklevel=2,
            )

    def drop(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """Forget the steps of `slots` (None: all) that wait."""
        self._counts[:, slice(None) if slots is None else self._held(slots)] = 0

    def get_state(self) -> Any:
        """Copies of what waits; see `set_state`."""
        held = {"counts": self._counts, "rings": self._rings, "reached": self._reached}
        return map_arrays(np.copy, held)

    def set_state(self, state: Mapping[str, Any] | None) -> None:
        """Continue from what `get_state` gave."""
        if state is None:
            self.drop()
            return
        self._counts, self._rings, self._reached = (
            map_arrays(np.copy, state.get(name)) for name in ("counts", "rings", "reached")
        )

    def _held(self, slots: Sequence[int] | np.ndarray) -> np.ndarray:
        """Those of `slots` that have had a step."""
        chosen = np.asarray(slots, np.int64)
        return chosen[chosen < self._counts.shape[1]]

    def _make_room(self, fields: Any, reached: Any, number: int) -> None:
        """Room for `number` slots; what waits stays."""
        old, rings, held = self._counts.shape[1], self._rings, self._reached

        def room(*leading: int) -> Callable[[np.ndarray], np.ndarray]:
            return lambda given: np.zeros((*leading, *np.shape(given)[1:]), np.asarray(given).dtype)

        self._counts = np.pad(self._counts, ((0, 0), (0, number - old)))
        self._rings = map_arrays(room(self._length, number), fields)
        self._reached = map_arrays(room(number), reached)
        if old:
            map_arrays(lambda new, kept: new.__setitem__((slice(None), slice(old)), kept), self._rings, rings)
            map_arrays(lambda new, kept: new.__setitem__(slice(old), kept), self._reached, held)

    def _write(self, slots: np.ndarray) -> None:
        """Insert the next sequence of each slot."""
        steps, first, _ = self._counts[:, slots]
        times = (first - self._burn_in)[:, None] + np.arange(self._length)
        real = (times >= 0) & (times < steps[:, None])
        places = times % self._length, slots[:, None]

        def sequences(ring: np.ndarray) -> np.ndarray:
            """``[L, N, ...] -> [M, L, ...]``, padding is 0."""
            found = ring[places]
            found[~real] = 0
            return found

        def with_reached(ring: np.ndarray, reached: np.ndarray) -> np.ndarray:
            """As `sequences`, with the state after the last step, ``[M, L + 1, ...]``."""
            found = sequences(ring)
            found = np.concatenate([found, np.zeros_like(found[:, :1])], axis=1)
            found[np.arange(len(slots)), steps - first + self._burn_in] = reached[slots]
            return found

        rings, learned = self._rings, slice(self._burn_in, None)
        begins = np.maximum(times[:, 0], 0) % self._length
        self._insert(
            {
                "states": map_arrays(with_reached, rings["states"], self._reached),
                "begins": times == 0,
                **{
                    name: map_arrays(lambda ring: sequences(ring)[:, learned], rings[name])
                    for name in ("actions", "rewards", "terminals")
                },
                "weights": real[:, learned].astype(self._dtype),
                "beginnings": map_arrays(lambda ring: ring[begins, slots], rings["internal_states"]),
            }
        )
        self._counts[2, slots] = steps
