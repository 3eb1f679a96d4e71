"""The latest records, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.memories.argument_checks import check_count, number_of
from rlgraph.components.memories.memory import Memory, record_space
from rlgraph.core import RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Space

#: Fields of a record that mark the end of an episode, if present: by termination or truncation.
ENDS = ("terminals", "truncations")


def _episodes_space(memory: RingBuffer, num_episodes: Any) -> Space:
    check_count(num_episodes, "num_episodes")
    return memory.record_space


class RingBuffer(Memory):
    """A ring of the steps of one stream that returns the latest records or whole episodes in order.

    An episode ends where one of the fields `ENDS` is true. Episodes whose beginning was overwritten do not count.

    Args:
        capacity: number of records kept.

    Raises:
        SpecError: capacity below 1.
        SpaceError: the records are not a `Dict` of numbers with batch rank.
    """

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        #: Whether the oldest record begins an episode; [1].
        self.begins = self.get_variable("begins", BoolBox(shape=(1,)), initializer=True, host=True)
        self.ends = [name for name in ENDS if self._is_flag(self.record_space.get(name))]

    @rlgraph_api
    def get_records(self, num_records: Any) -> Any:
        """The latest ``num_records`` [] records, the oldest of them first: a dict of fields [N, ...].

        Raises:
            RLGraphError: it holds fewer records.
            InputError: a number below 0.
        """
        return self._latest(num_records)

    @rlgraph_api
    def get_episodes(self, num_episodes: Any) -> Any:
        """The records of the latest ``num_episodes`` [] whole episodes, the oldest first: a dict of fields [N, ...].

        Raises:
            RLGraphError: it holds fewer episodes, or the records have no field that marks the end of an episode.
            InputError: a number below 0.
        """
        return self._episodes(num_episodes)

    @rlgraph_api
    def clear(self) -> Any:
        """Remove all records; the next one begins an episode."""
        return self._clear()

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        self._note_what_is_overwritten(records)
        self.write(records)

    @graph_fn(host=True, spaces=record_space, shares=())
    def _latest(self, num_records: np.ndarray) -> Any:
        number, held = number_of(num_records, self.scope_path), self.in_order()
        if number > len(held):
            raise RLGraphError(f"{self.scope_path}: expected {number} records, it holds {len(held)}")
        return self.read(held[len(held) - number :])

    @graph_fn(host=True, spaces=_episodes_space, shares=())
    def _episodes(self, num_episodes: np.ndarray) -> Any:
        number, held = number_of(num_episodes, self.scope_path, "num_episodes"), self.in_order()
        if not self.ends:
            raise RLGraphError(
                f"{self.scope_path}: cannot find the ends of episodes: expected a bool field, one per step, "
                f"named {' or '.join(ENDS)}, given {', '.join(self.rows)}"
            )
        rows: Any = self.rows
        ended = np.logical_or.reduce([rows[name][held] for name in self.ends])
        # Each whole episode lies between two of these.
        borders = np.flatnonzero(ended) + 1
        if self.begins[0]:  # type: ignore[index]
            borders = np.concatenate([[0], borders])
        whole = max(len(borders) - 1, 0)
        if number > whole:
            raise RLGraphError(
                f"{self.scope_path}: expected {number} whole episodes, it holds {whole} in {len(held)} of "
                f"{self.capacity} records"
            )
        return self.read(held[borders[whole - number] : borders[-1]] if number else held[:0])

    @graph_fn(returns=0, host=True, spaces=())
    def _clear(self) -> None:
        self.cursor[:], self.begins[0] = 0, True  # type: ignore[index]

    @staticmethod
    def _is_flag(space: Any) -> bool:
        return isinstance(space, BoolBox) and space.shape == () and not space.has_time_rank

    def in_order(self) -> np.ndarray:
        """Where the records are, the oldest first; for host functions only."""
        index, size = self.cursor.tolist()  # type: ignore[attr-defined]
        return np.arange(index - size, index) % self.capacity

    def _note_what_is_overwritten(self, records: Any) -> None:
        """Record that the oldest remaining record begins an episode if the removed one before it ended one."""
        if not self.ends:
            return
        index, size = self.cursor.tolist()  # type: ignore[attr-defined]
        count = len(records[self.ends[0]])
        if (gone := size + count - self.capacity) <= 0:
            return
        # The last record that goes is a held one or, where more come than there is room for, a new one.
        where: Any = self.rows if gone <= size else records
        last = (index - size + gone - 1) % self.capacity if gone <= size else gone - size - 1
        self.begins[0] = any(where[name][last] for name in self.ends)  # type: ignore[index]
