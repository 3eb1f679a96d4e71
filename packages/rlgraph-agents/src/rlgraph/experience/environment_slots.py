"""The slots of the environments that users name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core import InputError

#: What one step of an unnamed environment belongs to.
DEFAULT_ENV_ID = "env_0"


class EnvironmentSlots:
    """Gives every environment that users name a slot, in the order in which they are first seen."""

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}
        #: How many of the first slots are those of ``env_0``, ``env_1`` ...
        self.in_order = 0

    @property
    def names(self) -> list[str]:
        """The environments, in the order of their slots."""
        return list(self._slots)

    def restore(self, names: Sequence[str]) -> None:
        """Have the environments of `names`."""
        self._slots, self.in_order = {name: slot for slot, name in enumerate(names)}, 0

    def of(self, env_id: Any, rows: int, single: bool = False) -> np.ndarray:
        """The slot of each of `rows` rows, as ``env_id`` of `Agent.observe` says.

        Raises:
            InputError: expected another number of environments.
        """
        if env_id is None and rows <= self.in_order:
            return np.arange(rows)
        if env_id is None:
            ids = [DEFAULT_ENV_ID] if single else ids_in_order(rows)
        elif is_list(env_id):
            ids = ids_of(env_id)
            if len(ids) != rows:
                raise InputError(
                    f"env_id: expected one environment for each of {rows} rows, given {len(ids)}"
                )
        else:
            ids = ids_of(env_id) * rows
        slots = np.array([self._slots.setdefault(name, len(self._slots)) for name in ids], np.int64)
        while self._slots.get(f"env_{self.in_order}") == self.in_order:
            self.in_order += 1
        return slots

    def known(self, env_id: Any) -> np.ndarray | None:
        """The slots of environments that were seen; None: of all."""
        if env_id is None:
            return None
        return np.array([self._slots[name] for name in ids_of(env_id) if name in self._slots], np.int64)


def is_list(env_id: Any) -> bool:
    """Whether it names environments one by one."""
    return isinstance(env_id, list | tuple | range | np.ndarray)


def ids_of(env_id: Any) -> list[str]:
    """The names of environments: ``3`` is another word for ``"env_3"``."""
    listed = env_id if is_list(env_id) else [env_id]
    return [f"env_{i}" if isinstance(i, int | np.integer) else str(i) for i in listed]


def ids_in_order(rows: int) -> list[str]:
    """The names of environments that nobody names."""
    return [f"env_{i}" for i in range(rows)]
