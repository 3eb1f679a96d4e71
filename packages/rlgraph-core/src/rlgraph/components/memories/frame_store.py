"""Stores stacks of frames with every frame only once.

A record points to the frames of its stacks. A new stack nearly always continues one that was just stored: it is equal
(the next state of a record is the state of the following one), or one frame ahead. The store finds it by comparing
contents, without assumptions about the order of inserts. So it is correct for any number of environments in any order,
at the borders of episodes, for n-step records, and for repeated frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

#: Positions compared with all other stacks before a full comparison.
PROBES = 64


class FrameStore:
    """The frames of a ring of records, and the pointers of each record to its frames.

    A frame may be overwritten when no record points to it, that is, when the last record that does is gone. If free
    frames still run out, the oldest records are removed early.

    Args:
        axis: the axis of frames in a stack, 0 or -1.
        use_kernels: compare stacks of four frames of bytes with Numba if it is installed.
        arrays: the state, held by the owner, so that its checkpoint includes the store. For ``k`` frames per stack,
            ``F`` fields and ``N`` frames in total:

            * ``frames [N, width, ...]``, the axis of frames first;
            * ``pointers [F, capacity, k]``;
            * ``users [N]``, the number of the last record that points there, and 1 (0: none yet);
            * ``free [N]``, of which the first ``state[1]`` are unused frames;
            * ``tails [M, ...]``, the latest stacks, ``tail_pointers [M, k]``, and ``tail_users [M]``, as
              `users`;
            * ``state``: the number of tails so far, the number of free frames, and for each field how far back
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
        """Compare two stacks as bytes for `_moved_on`: whether the later one is the earlier one, moved by `shift`."""
        total = self._raw.shape[1]
        period = total if self.axis == 0 else self.size * self.width * self.frames.itemsize
        self.shift = period // self.size
        # Whether a byte differs, by position in the earlier stack. Its first frame is ignored.
        self._differs = np.zeros(total, bool)
        self._behind_first = self._differs[self.shift :]
        counts = np.ones((total // period, period), bool)
        counts[:, : self.shift] = False
        self._counts = counts.reshape(-1)
        # A pixel of all frames is often one machine word, whose lowest bytes are ignored.
        self._words = self._differs.view(f"<u{period}") if period in (2, 4, 8) else None
        self._most = 256**self.shift - 1 if period in (2, 4, 8) else 0
        places = np.flatnonzero(self._counts) if self.size > 1 else np.arange(total) + self.shift
        self._probes = places[np.linspace(0, len(places) - 1, PROBES).astype(int)] - self.shift

    # Reading.

    def read(self, indices: np.ndarray) -> Sequence[np.ndarray]:
        """The stacks at ``indices [n]``, one ``[n, ...]`` for each field; views where frames are contiguous."""
        # One gather for all fields, so that shared frames are in the processor's cache.
        found = self.frames.take(self.pointers.take(indices, axis=1).reshape(-1), axis=0)
        number, _, *rest = self.pointers.shape[0], None, *self.frames.shape[2:]
        stacks = found.reshape(number, len(indices), self.size * self.width, *rest)
        return stacks if self.axis == 0 else np.moveaxis(stacks, 2, -1)  # type: ignore[return-value]

    # Writing.

    def add_next(self, state: np.ndarray, next_state: np.ndarray, record: int, oldest: int) -> bool:
        """Add one record of the common kind: its state is known, and its next state is one frame ahead.

        Args:
            state, next_state: stacks ``[1, ...]``.
            record, oldest: numbers, as in `add`.

        Returns:
            Whether the record is of this kind and continues the last one. If not, nothing changes.
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

        If so, it becomes the last tail, and its new frame goes into a free slot.
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
        """Set the pointers from `place` on to these frames, whose last user is this record."""
        users = self._users
        for frame in frames:
            pointers[place] = frame
            users[frame] = user
            place += 1

    def add(self, fields: Sequence[np.ndarray], number: int, oldest: int) -> int:
        """Add the stacks ``[n, ...]`` of records.

        Args:
            fields: one array for each field.
            number: number of the first of these records, counted from the first record ever.
            oldest: number of the oldest record to keep.

        Returns:
            Number of the oldest record kept: a later one if frames ran out.
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
        """Set the `pointers` of a record to its ``frames [k * width, ...]``; return the oldest record kept."""
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
            # Frames to which the record already points must stay.
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
        """Whether frame `j` differs from the one before; at the start of an episode it often does not."""
        one, other = (frames[i * self.width : (i + 1) * self.width] for i in (j - 1, j))
        return one.tobytes() != other.tobytes()

    def _make_room(self, wanted: int, record: int, oldest: int) -> int:
        """Free the unused frames; if they do not suffice, remove the oldest records."""
        free = np.flatnonzero(self.users <= oldest)
        # More than needed now, since the scan covers all frames anyway.
        if len(free) < max(wanted, len(self.users) // 64):
            before = np.sort(self.users[self.users <= record])
            last = before[min(max(wanted, len(self.users) // 64), len(before)) - 1]
            oldest = max(oldest, int(last))
            free = np.flatnonzero(self.users <= oldest)
        self.free[: len(free)] = free
        self._left = len(free)
        return oldest

    # Matching of stacks with tails.

    def _find(self, field: int, raw: np.ndarray, oldest: int) -> tuple[int, int] | None:
        """A tail and the number of frames (0 or 1) by which `raw` is ahead of it; None without a match."""
        lag, moved = self._guesses[2 * field], self._guesses[2 * field + 1]
        if self._fits(lag, moved, raw, oldest):
            return (self._count - lag) % len(self.tails), moved
        # All candidates that agree at a few positions, the newest first.
        for moved in (0, 1) if self.size > 1 else (0,):
            alike = (self._raw[:, self._probes + moved * self.shift] == raw[self._probes]).all(axis=1)
            lags = (self._count - np.flatnonzero(alike) - 1) % len(self.tails) + 1
            for lag in sorted(lags.tolist()):
                if self._fits(lag, moved, raw, oldest):
                    # A state is an earlier next state; with n-step records it may be one frame ahead.
                    if not moved or field == len(self.pointers) - 1:
                        self._state[2 + 2 * field], self._state[3 + 2 * field] = lag, moved
                        self._guesses[2 * field], self._guesses[2 * field + 1] = lag, moved
                    return (self._count - lag) % len(self.tails), moved
        return None

    def _fits(self, lag: int, moved: int, raw: np.ndarray, oldest: int) -> bool:
        """Whether `raw` is the `lag`-th last tail, moved by this number of frames."""
        if not 0 < lag <= self._count:
            return False
        tail = (self._count - lag) % len(self.tails)
        # Unused frames may be overwritten.
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
    """The functions compiled by Numba; None if it is not installed."""
    try:
        from rlgraph.components.memories import frame_kernels
    except ImportError:
        return None
    return frame_kernels
