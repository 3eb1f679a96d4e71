"""The NumPy backend, which runs the emitted source unchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from rlgraph.core.backend import Backend
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.graph.emission import Dialect, emit_segment
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.variables import Block, Layout, Variable
from rlgraph.core.numpy.kernels import ACTING
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.storage import Storage

DIALECT = Dialect(
    receive="{}".format,
    give="asarray({})".format,
    copy="array({})".format,
    index="array({})".format,
    namespace={"asarray": np.asarray, "array": np.array},
)


class NumpyStorage(Storage):
    """Every group is one array; variables are views of it."""

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        super().__init__(layout, variables, seed)
        self.groups: dict[str, np.ndarray] = {}

    def create_group(self, name: str, values: np.ndarray) -> None:
        self.groups[name] = values

    def share_group(self, name: str, other: NumpyStorage) -> None:
        self.groups[name] = other.groups[name]

    def read_group(self, name: str) -> np.ndarray:
        return self.groups[name].copy()

    def write_group(self, name: str, values: np.ndarray) -> None:
        self.groups[name][...] = values

    def borrow_group(self, name: str) -> np.ndarray:
        return self.groups[name]

    def handle(self, variable: Variable) -> np.ndarray:
        """The view that is `variable`."""
        group, start, stop = self.layout.place(variable)
        return self.groups[group][start:stop].reshape(variable.shape)

    def block(self, block: Block) -> np.ndarray:
        """The flat view that is `block`."""
        return self.groups[block.group][block.start : block.stop]


class BorrowedStorage(NumpyStorage):
    """Another backend's variables, for acting plans on NumPy: its memory if it is accessible, else fresh copies.

    Args:
        owner: the storage that owns the variables.
    """

    def __init__(self, owner: Storage):
        super().__init__(owner.layout, owner.variables, owner.seed)
        self.owner = owner
        self.host, self.streams = owner.host, owner.streams
        #: The groups that are copied and read; only they are updated.
        self.copied: set[str] = set()
        self._copied_version = owner.version
        self._refreshing = threading.Lock()
        memory = {name: owner.borrow_group(name) for name in owner.layout.groups}
        self._own = owner.fetch_groups([name for name, array in memory.items() if array is None])()
        self.groups = {name: self._own[name] if array is None else array for name, array in memory.items()}

    def read_from(self, names: Iterable[str]) -> bool:
        """Be told which groups a program reads; whether any of them is a copy, to `refresh` before every call."""
        copied = self._own.keys() & set(names)
        with self._refreshing:
            for name in sorted(copied - self.copied):
                self.owner.follow_group(name)
                self._copied_version = -1  # nobody has updated it so far
            self.copied |= copied
        return bool(copied)

    def refresh(self) -> None:
        """Update the copies if the owner was written since."""
        if self._copied_version != self.owner.version:
            with self._refreshing:
                # If the owner is written while copying, the version is outdated and the next call copies again.
                version = self.owner.version
                for name, values in self.owner.fetch_groups(sorted(self.copied))().items():
                    self.groups[name][...] = values
                self._copied_version = version


class NumpyBackend(Backend):
    """Runs plans unchanged."""

    name = "numpy"
    capabilities = frozenset[str]()

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        self.ops = NumpyOps(execution.dtype)

    def create_storage(self, layout: Layout, variables: Mapping[str, Variable]) -> NumpyStorage:
        return NumpyStorage(layout, variables, self.execution.seed)

    def lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, NumpyStorage)
        linker = self.linker(storage, storage.handle, storage.block)
        return emit_segment(plan, segment, DIALECT, linker).compile()


class ActingBackend(NumpyBackend):
    """NumPy as the acting backend of another backend, with kernels since it runs at every step."""

    kernels = ACTING
