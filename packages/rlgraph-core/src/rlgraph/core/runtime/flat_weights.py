"""Weights as flat arrays: for actors that read them many times, in other processes too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

import numpy as np

from rlgraph.core.errors import InputError
from rlgraph.core.graph.variables import Block
from rlgraph.core.runtime.guarded_storage import GuardedStorage


class FlatWeights:
    """Variables of an executor as one array per dtype, in the order of their sorted names.

    Args:
        guarded: the variables.
        names: those that are read and written.

    Attributes:
        names: the variables, sorted.
        digest: of names, shapes and dtypes; executors whose digests are equal have the same layout.
        sizes: dtype -> number of elements.
    """

    def __init__(self, guarded: GuardedStorage, names: Iterable[str]):
        self._guarded, built = guarded, guarded.built
        self.names = sorted(names)
        variables = [built.variables[name] for name in self.names]
        layout = json.dumps([[v.name, str(v.spec.dtype), list(v.shape)] for v in variables])
        self.digest = hashlib.sha256(layout.encode()).hexdigest()[:16]
        self.sizes: dict[str, int] = {}
        self._runs: dict[str, list[tuple[Block, int]]] = {}
        for dtype in sorted({str(v.spec.dtype) for v in variables}):
            start, runs = 0, []
            for block in built.layout.blocks([v for v in variables if str(v.spec.dtype) == dtype], set()):
                runs.append((block, start))
                start += block.stop - block.start
            self.sizes[dtype], self._runs[dtype] = start, runs
        self._groups = {block.group for runs in self._runs.values() for block, _ in runs}

    def get(self, out: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Copies of the values, by dtype. Programs that write them wait only until the copies are begun.

        Args:
            out: arrays of an earlier call to write into, since new ones of millions of numbers take as long as the
                copies.
        """
        storage = self._guarded.storage
        found = dict(out or {dtype: np.empty(size, dtype) for dtype, size in self.sizes.items()})
        with self._guarded.locks.holding(self._groups):
            memory = {name: storage.borrow_group(name) for name in self._groups}
            self._gather(found, {name: whole for name, whole in memory.items() if whole is not None})
            copied = [name for name, whole in memory.items() if whole is None]
            fetched = storage.fetch_groups(copied) if copied else dict
        self._gather(found, fetched())
        return found

    def _gather(self, found: Mapping[str, np.ndarray], groups: Mapping[str, np.ndarray]) -> None:
        """Copy the values of `groups` to where they are in the flat arrays."""
        for dtype, runs in self._runs.items():
            for block, start in runs:
                if block.group in groups:
                    values = groups[block.group][block.start : block.stop]
                    found[dtype][start : start + values.size] = values

    def set(self, values: Mapping[str, np.ndarray]) -> None:
        """Write values as `get` gave them, of this executor or another one with the same digest.

        Raises:
            InputError: there are other dtypes or sizes; nothing is written.
        """
        given = {dtype: array.size for dtype, array in values.items() if array.dtype == dtype}
        if given != self.sizes:
            raise InputError(f"weights: expected {self.sizes} elements, given {given}")
        storage = self._guarded.storage
        with self._guarded.writing(self._groups):
            for name in self._groups:
                memory = storage.borrow_group(name)
                target = storage.read_group(name) if memory is None else memory
                for dtype, runs in self._runs.items():
                    for block, start in runs:
                        if block.group == name:
                            source = values[dtype][start : start + block.stop - block.start]
                            target[block.start : block.stop] = source
                if memory is None:
                    storage.write_group(name, target)
