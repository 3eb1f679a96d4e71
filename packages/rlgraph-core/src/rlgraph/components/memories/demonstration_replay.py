"""Prioritized replay that keeps demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.memories.prioritized_replay import PrioritizedReplay
from rlgraph.core import InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import BoolBox, IntBox, Space, SpaceError

#: The field of a record that says whether it is a demonstration.
FIELD = "demonstrations"


class DemonstrationReplay(PrioritizedReplay):
    """A prioritized memory in which demonstrations are never overwritten (Hester et al., 2018).

    https://arxiv.org/abs/1704.03732, section 4. Records have a field ``demonstrations``, bool ``[B]``. Those of which
    it is true stay; the others share the remaining capacity, where new ones replace the oldest. What is added to the
    errors of demonstrations sets how often they are drawn.

    Args:
        capacity: number of records kept, demonstrations included.
        alpha, beta, max_weight_of: see `PrioritizedReplay`; an `alpha` of 0 draws uniformly.
        epsilon: added to the errors of records that are no demonstrations.
        demonstration_epsilon: added to the errors of demonstrations.

    Raises:
        SpecError: as `PrioritizedReplay`; or a `frame_stack` is given, whose ring of frames overwrites the oldest.
        SpaceError: as `PrioritizedReplay`, or records have no such field.
    """

    def __init__(
        self,
        capacity: int = 1000,
        alpha: float = 0.4,
        beta: ScheduleSpec = 0.6,
        epsilon: float = 1e-3,
        demonstration_epsilon: float = 1.0,
        max_weight_of: str = "batch",
        scope: str = "memory",
        **kwargs: Any,
    ):
        self.demonstration_epsilon = check_number(
            demonstration_epsilon, f"{scope}.demonstration_epsilon", least=0
        )
        if kwargs.get("frame_stack") is not None:
            raise SpecError(
                "expected none, since the oldest frames are overwritten, and demonstrations stay; given "
                f"{kwargs['frame_stack']!r}: leave it out, and records keep whole stacks",
                path=f"{scope}.frame_stack",
            )
        super().__init__(capacity, alpha, beta, epsilon, max_weight_of, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        records = input_spaces["records"]
        flags = records.get(FIELD)
        if not isinstance(flags, BoolBox) or flags.shape or records.has_time_rank:
            raise SpaceError(
                f"{self.scope_path}: records/{FIELD}: expected one flag per record, BoolBox(), given {flags!r}"
            )

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        #: Number of demonstrations, [1]; they are the first records.
        self.kept = self.get_variable("kept", IntBox(shape=(1,)), host=True)

    def check_stored(self, stored: Callable[[str], np.ndarray]) -> None:
        super().check_stored(stored)
        self.check_range("kept", stored("kept"), 0, stored("cursor")[1] + 1)

    @rlgraph_api
    def get_number_of_demonstrations(self) -> Any:
        """The number of demonstrations held, []."""
        return self._number()

    @graph_fn(host=True, spaces=IntBox(), shares=())
    def _number(self) -> np.ndarray:
        return np.array(self.kept[0])  # type: ignore[index]

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        flags, fields = np.asarray(records[FIELD]), self.fields_of(records)
        if flags.any():
            self._keep([values[flags] for values in fields])
        if not flags.all():
            self._replace_oldest([values[~flags] for values in fields])

    def _keep(self, fields: Sequence[np.ndarray]) -> None:
        """Put demonstrations after those that are there; other records in these places are lost.

        Raises:
            InputError: there are not as many places.
        """
        kept, cursor = int(self.kept[0]), self.cursor  # type: ignore[index]
        end = kept + len(fields[0])
        if end > self.capacity:
            raise InputError(
                f"{self.scope_path}: expected at most {self.capacity} demonstrations, the capacity, given {end}"
            )
        self._put(np.arange(kept, end), fields)
        self.kept[0] = end  # type: ignore[index]
        cursor[:] = np.maximum(cursor, end)  # type: ignore[index, call-overload]

    def _replace_oldest(self, fields: Sequence[np.ndarray]) -> None:
        """Put other records into the ring after the demonstrations.

        Raises:
            InputError: demonstrations are everywhere.
        """
        kept, (next_, size) = int(self.kept[0]), self.cursor.tolist()  # type: ignore[index, attr-defined]
        room, count = self.capacity - kept, len(fields[0])
        if not room:
            raise InputError(
                f"{self.scope_path}: expected a capacity above {kept}, the number of demonstrations, which are never "
                "overwritten: no other record has room"
            )
        places = (next_ - kept + np.arange(count)) % room + kept
        self._put(places[-room:], [values[-room:] for values in fields])
        self.cursor[:] = kept + (next_ - kept + count) % room, min(size + count, self.capacity)  # type: ignore[index]

    def _put(self, places: np.ndarray, fields: Sequence[np.ndarray]) -> None:
        rows: Any = self.rows
        for column, values in zip(rows.values(), fields, strict=True):
            column[places] = values
        self.set_priorities(places, np.full(len(places), self.largest[0]))  # type: ignore[index]

    def epsilon_of(self, indices: np.ndarray) -> Any:
        is_demonstration = np.asarray(indices) < self.kept[0]  # type: ignore[index]
        return np.where(is_demonstration, self.demonstration_epsilon, self.epsilon)
