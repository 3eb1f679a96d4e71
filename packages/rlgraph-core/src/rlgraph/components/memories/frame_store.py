"""Stores stacks of frames with every frame only once.

A record points to the frames of its stacks. A new stack nearly always goes on from one that has just been stored: it is
the same (the next state of a record is the state of the following one), or has moved on by one frame. Which one that is
shows a comparison of contents, never an assumption about who inserts what: so it is right for any number of
environments in any order, at the borders of episodes, for n-step records, and for frames that stand still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

#: Places at which a stack is held against all others before any is compared as a whole.
PROBES = 64


class FrameStore:
    """The frames of a ring of records, and which of them make up each record's stacks.

    A frame may be overwritten when no record points to it: when the last one that does, by number, is gone. Where
    frames run out all the same, the oldest records have to go earlier than the ring would make them.

    Args:
        axis: along which axis of a stack frames are, 0 or -1.
        use_kernels: compare stacks of four frames of bytes with Numba where that is installed.
        arrays: what is kept, by the owner: a checkpoint of it is one of the store. Of ``k`` frames to a stack, ``F``
            fields, ``N`` frames in all:

            * ``frames [N, width, ...]``, the axis of frames first;
            * ``pointers [F, capacity, k]``;
            * ``users [N]``, the number of the last record that points there, and 1 (0: none yet);
            * ``free [N]``, of which the first ``state[1]`` are frames that nobody points to;
            * ``tails [M, ...]``, the last stacks that came, ``tail_pointers [M, k]``, and ``tail_users [M]``, as
              `users`;
            * ``state``: how many tails there have been, how many frames are free, and for each field how far back
              among the tails and how many frames ago the last stack was found.
    """

    def __init__(self, axis: int, arrays: Mapping[str, np.ndarray], use_kernels: bool = False):
        self.axis = axis
        self.frames, self.pointers, self.users = arrays["frames"], arrays["pointers"], arrays["users"]
        self.free, self.state = arrays["free"], arrays["state"]
        self.tails, self.tail_pointers = arrays["tails"], arrays["tail_pointers"]
        self.tail_users = arrays["tail_users"]
        _, self.capacity, self.size = self.pointers.shape
        self.width = self.frames.shape[1]
        self._raw = self.tails.reshape(len(self.tails), -1).view(np.uint8)
        # Single numbers are read and written several times faster through a memoryview.
        self._free, self._tail_users, self._state = self.free.data, self.tail_users.data, self.state.data
        self._users, self._all_pointers = self.users.data, self.pointers.reshape(-1).data
        self._all_tail_pointers = self.tail_pointers.reshape(-1).data
        axes = range(1, self.tails.ndim)
        #: Axes of stacks ``[n, ...]``, that of frames second.
        self._frames_first = (0, *axes) if axis == 0 else (0, axes[-1], *axes[:-1])
        self._prepare_comparison()
        # Four frames of bytes, a pixel of them a word.
        words = axis == -1 and (self.shift, self.size) == (1, 4)
        self._kernels = numba_kernels() if words and use_kernels else None

    def _prepare_comparison(self) -> None:
        """What `_moved_on` needs: of two stacks as bytes, the one after is the one before, moved by `shift`."""
        total = self._raw.shape[1]
        period = total if self.axis == 0 else self.size * self.width * self.frames.itemsize
        self.shift = period // self.size
        # Whether a byte differs, at the place of the stack before. Where that has its first frame means nothing.
        self._differs = np.zeros(total, bool)
        self._behind_first = self._differs[self.shift :]
        counts = np.ones((total // period, period), bool)
        counts[:, : self.shift] = False
        self._counts = counts.reshape(-1)
        # A pixel of all frames is often one machine word, of which the lowest bytes mean nothing.
        self._words = self._differs.view(f"<u{period}") if period in (2, 4, 8) else None
        self._most = 256**self.shift - 1 if period in (2, 4, 8) else 0
        places = np.flatnonzero(self._counts) if self.size > 1 else np.arange(total) + self.shift
        self._probes = places[np.linspace(0, len(places) - 1, PROBES).astype(int)] - self.shift

    # Reading.

    def read(self, indices: np.ndarray) -> Sequence[np.ndarray]:
        """The stacks at ``indices [n]``, one ``[n, ...]`` for each field; views of frames that lie together."""
        # One gather for all fields: what they share is in the processor's cache.
        found = self.frames.take(self.pointers.take(indices, axis=1).reshape(-1), axis=0)
        number, _, *rest = self.pointers.shape[0], None, *self.frames.shape[2:]
        stacks = found.reshape(number, len(indices), self.size * self.width, *rest)
        return stacks if self.axis == 0 else np.moveaxis(stacks, 2, -1)  # type: ignore[return-value]

    # Writing.

    def add_next(self, state: np.ndarray, next_state: np.ndarray, record: int, oldest: int) -> bool:
        """Take in one record as most are: its state is one that came before, its next state one frame ahead.

        Args:
            state, next_state: stacks ``[1, ...]``.
            record, oldest: numbers, as in `add`.

        Returns:
            Whether it is such a record, going on from where the last one did. If not, nothing has happened.
        """
        if self._kernels is not None:
            found: bool = self._kernels.add_next(
                self.tails,
                self.tail_pointers,
                self.tail_users,
                self.frames,
                self.free,
                self.pointers,
                self.users,
                self.state,
                state,
                next_state,
                record,
                oldest,
            )
            return found
        count, left, lag, moved, next_lag, next_moved = self._state.tolist()
        if moved or not next_moved or not left or not 0 < lag <= count or not 0 < next_lag <= count:
            return False
        tail, before = (count - lag) % len(self.tails), (count - next_lag) % len(self.tails)
        if self._tail_users[tail] <= oldest or self._tail_users[before] <= oldest:
            return False
        last, slot, user = count % len(self.tails), self._free[left - 1], record + 1
        if not self._store_next((tail, state), (before, next_state), last, slot):
            return False
        kept, following = self.tail_pointers[tail].tolist(), self.tail_pointers[before].tolist()
        following[:-1], following[-1] = following[1:], slot
        place = record % self.capacity * self.size
        self._point(self._all_pointers, place, kept, user)
        self._point(self._all_pointers, place + self.capacity * self.size, following, user)
        self._point(self._all_tail_pointers, last * self.size, following, user)
        self._tail_users[tail] = self._tail_users[last] = user
        self._state[0], self._state[1] = count + 1, left - 1
        return True

    def _store_next(
        self, same: tuple[int, np.ndarray], moved: tuple[int, np.ndarray], last: int, slot: int
    ) -> bool:
        """Whether one stack is a tail, and another one frame ahead of a tail.

        If so, that one becomes the last tail, and its new frame goes into a free slot.
        """
        (tail, state), (before, next_state) = same, moved
        if self._raw[tail].tobytes() != state.tobytes():
            return False
        raw = next_state.reshape(-1).view(np.uint8)
        if not self._moved_on(self._raw[before], raw):
            return False
        self.frames[slot] = next_state.transpose(self._frames_first)[0, -self.width :]
        self._raw[last] = raw
        return True

    def _point(self, pointers: memoryview, place: int, frames: list[int], user: int) -> None:
        """Let the pointers from `place` on be these frames, whose last user is this one."""
        users = self._users
        for frame in frames:
            pointers[place] = frame
            users[frame] = user
            place += 1

    def add(self, fields: Sequence[np.ndarray], number: int, oldest: int) -> int:
        """Take in the stacks ``[n, ...]`` of records.

        Args:
            fields: one array for each field.
            number: of the first of these records, counted from the first one that ever came.
            oldest: number of the oldest record that is to be there afterwards.

        Returns:
            Number of the oldest record that is there: a later one where there were too few frames.
        """
        self._count, self._left, *self._guesses = self.state.tolist()
        whole = [np.ascontiguousarray(stacks) for stacks in fields]
        frames = [stacks.transpose(self._frames_first) for stacks in whole]
        raw = [stacks.reshape(len(stacks), -1).view(np.uint8) for stacks in whole]
        for i in range(len(whole[0])):
            record = number + i
            place = record % self.capacity
            for field in range(len(whole)):
                pointers = self.pointers[field, place]
                oldest = self._put(field, raw[field][i], frames[field][i], pointers, record, oldest)
            self.users[self.pointers[:, place]] = record + 1
        self._state[0], self._state[1] = self._count, self._left
        return oldest

    def _put(
        self, field: int, raw: np.ndarray, frames: np.ndarray, pointers: np.ndarray, record: int, oldest: int
    ) -> int:
        """Make the `pointers` of a record to its ``frames [k * width, ...]``; the oldest record that is still there."""
        found = self._find(field, raw, oldest)
        if found is not None:
            tail, moved = found
            if not moved:
                pointers[:] = self.tail_pointers[tail]
                self._tail_users[tail] = record + 1
                return oldest
            pointers[:-1] = self.tail_pointers[tail, 1:]
            new = [self.size - 1]
        else:
            new = [0, *(j for j in range(1, self.size) if self._changes(frames, j))]
        if self._left < len(new):
            # What the record points to already must not go.
            self.users[self.pointers[:field, record % self.capacity]] = record + 1
            self.users[pointers[: new[0]]] = record + 1
            oldest = self._make_room(len(new), record, oldest)
        for j in range(new[0], self.size):
            if j in new:
                self._left -= 1
                slot = self._free[self._left]
                self.frames[slot] = frames[j * self.width : (j + 1) * self.width]
            pointers[j] = slot
        tail = self._count % len(self.tails)
        self._raw[tail], self.tail_pointers[tail], self._tail_users[tail] = raw, pointers, record + 1
        self._count += 1
        return oldest

    def _changes(self, frames: np.ndarray, j: int) -> bool:
        """Whether frame `j` differs from the one before: at the start of an episode it often does not."""
        one, other = (frames[i * self.width : (i + 1) * self.width] for i in (j - 1, j))
        return one.tobytes() != other.tobytes()

    def _make_room(self, wanted: int, record: int, oldest: int) -> int:
        """Find the frames that nobody points to; if they do not suffice, the oldest records go."""
        free = np.flatnonzero(self.users <= oldest)
        # More than are needed at the moment, since all frames have to be looked at.
        if len(free) < max(wanted, len(self.users) // 64):
            before = np.sort(self.users[self.users <= record])
            last = before[min(max(wanted, len(self.users) // 64), len(before)) - 1]
            oldest = max(oldest, int(last))
            free = np.flatnonzero(self.users <= oldest)
        self.free[: len(free)] = free
        self._left = len(free)
        return oldest

    # Where a stack goes on from.

    def _find(self, field: int, raw: np.ndarray, oldest: int) -> tuple[int, int] | None:
        """A tail and by how many frames (0 or 1) `raw` is ahead of it; None if there is none."""
        lag, moved = self._guesses[2 * field], self._guesses[2 * field + 1]
        if self._fits(lag, moved, raw, oldest):
            return (self._count - lag) % len(self.tails), moved
        # Everything that looks alike at a few places, the newest first.
        for moved in (0, 1) if self.size > 1 else (0,):
            alike = (self._raw[:, self._probes + moved * self.shift] == raw[self._probes]).all(axis=1)
            lags = (self._count - np.flatnonzero(alike) - 1) % len(self.tails) + 1
            for lag in sorted(lags.tolist()):
                if self._fits(lag, moved, raw, oldest):
                    # A state is a next state that came before; it moves on from one where n-step records begin.
                    if not moved or field == len(self.pointers) - 1:
                        self._state[2 + 2 * field], self._state[3 + 2 * field] = lag, moved
                        self._guesses[2 * field], self._guesses[2 * field + 1] = lag, moved
                    return (self._count - lag) % len(self.tails), moved
        return None

    def _fits(self, lag: int, moved: int, raw: np.ndarray, oldest: int) -> bool:
        """Whether `raw` is the tail that came as the `lag`-th last one, moved by so many frames."""
        if not 0 < lag <= self._count:
            return False
        tail = (self._count - lag) % len(self.tails)
        # Frames that nobody points to any more may be overwritten.
        if self._tail_users[tail] <= oldest:
            return False
        before = self._raw[tail]
        return self._moved_on(before, raw) if moved else before.tobytes() == raw.tobytes()

    def _moved_on(self, before: np.ndarray, raw: np.ndarray) -> bool:
        if self.axis == 0:
            return before[self.shift :].tobytes() == raw[: -self.shift].tobytes()
        np.not_equal(before[self.shift :], raw[: -self.shift], self._behind_first)
        if self._words is not None:
            return bool(np.maximum.reduce(self._words) <= self._most)
        np.bitwise_and(self._differs, self._counts, self._differs)
        return not self._differs.any()


@cache
def numba_kernels() -> Any:
    """The functions compiled by Numba; None where that is not installed."""
    try:
        from rlgraph.components.memories import frame_kernels
    except ImportError:
        return None
    return frame_kernels
