"""Frames under stress: few of them, small rings, stacks that come back after any time."""

import numpy as np
import pytest

from rlgraph.components.memories.frame_store import FrameStore, numba_kernels

WIDTH = 2


def make_store(rng, axis, size, use_kernels):
    """A store of one or two fields for few records, and often too few frames for them."""
    capacity, fields = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    frames = int(np.ceil(rng.choice([1.0, 1.25, 2.0]) * capacity)) + fields * size
    tails = min(capacity, int(rng.choice([2, 3, 256])))
    shape = (size, WIDTH) if axis == 0 else (WIDTH, size)
    arrays = {
        "frames": np.zeros((frames, 1, WIDTH), np.uint8),
        "pointers": np.zeros((fields, capacity, size), np.int32),
        "users": np.zeros(frames, np.int64),
        "free": np.zeros(frames, np.int32),
        "tails": np.zeros((tails, *shape), np.uint8),
        "tail_pointers": np.zeros((tails, size), np.int32),
        "tail_users": np.zeros(tails, np.int64),
        "state": np.zeros(2 + 2 * fields, np.int64),
    }
    return FrameStore(axis, arrays, use_kernels)


class Stacks:
    """Stacks of few different frames: new ones, earlier ones, and earlier ones that have moved on.

    In half of the runs the earlier ones are mostly those of environments in turn, as the store expects them.
    """

    def __init__(self, rng, axis, size, recent):
        self.rng, self.axis, self.size, self.recent = rng, axis, size, recent
        self.past, self.kinds = [], int(rng.choice([2, 4, 12, 200]))
        # The next state of a record of two stacks, so many records ago.
        self.lag = 2 * int(rng.integers(1, recent // 2)) - 1 if rng.random() < 0.6 else None

    def record(self, fields):
        """The stacks of one record; they move on from one to the next more often than not."""
        if self.lag is None or self.rng.random() < 0.05 or len(self.past) < self.lag:
            return [self._draw(self.rng.random()) for _ in range(fields)]
        state = self.past[-self.lag]
        return [self._made(state), *(self._made(self._moved(state)) for _ in range(fields - 1))]

    def _draw(self, chance):
        if not self.past or chance > 0.8:
            return self._made(list(self.rng.integers(self.kinds, size=self.size)))
        frames = self.past[-int(self.rng.integers(1, min(len(self.past), self.recent) + 1))]
        return self._made(self._moved(frames) if chance > 0.35 else frames)

    def _moved(self, frames):
        return [*frames[1:], self.rng.integers(self.kinds)]

    def _made(self, frames):
        self.past.append(frames)
        frames_last = np.repeat(np.array([frames], np.uint8), WIDTH, axis=0)
        return frames_last.T.copy() if self.axis == 0 else frames_last


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "use_kernels"), [(0, False), (-1, False), (-1, True)])
def test_every_record_that_is_there_has_its_stacks(axis, use_kernels):
    if use_kernels and numba_kernels() is None:
        pytest.skip("Numba is not installed")
    for seed in range(120):
        rng = np.random.default_rng(seed)
        size = 4 if use_kernels else int(rng.integers(1, 5))
        store = make_store(rng, axis, size, use_kernels)
        fields, capacity = store.pointers.shape[:2]
        stacks = Stacks(rng, axis, size, recent=2 * capacity + 2)
        records, oldest = [], 0
        for _ in range(40):
            block = 1 if rng.random() < 0.9 else int(rng.integers(1, capacity + 1))
            new = [stacks.record(fields) for _ in range(block)]
            number = len(records)
            records += new
            columns = [np.stack(column) for column in zip(*new, strict=True)]
            wanted = max(oldest, len(records) - capacity)
            if block == 1 and fields == 2 and store.add_next(*columns, number, wanted):
                oldest = wanted
            else:
                oldest = store.add(columns, number, wanted)
            assert wanted <= oldest < len(records), seed  # a record may cost older ones
            there = np.arange(oldest, len(records))
            for field, found in enumerate(store.read(there % capacity)):
                expected = np.stack([records[i][field] for i in there])
                np.testing.assert_array_equal(found, expected, f"seed {seed}, record {number}")
