"""Where the values of all variables of one built root live; a backend has a storage of its own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from rlgraph.core.errors import BuildError, CapabilityError, SpecError
from rlgraph.core.graph.variables import Layout, Variable, zeros
from rlgraph.core.random_streams import RandomStreams, stream_seed


class Storage(ABC):
    """The values of all variables of one built root on one backend.

    Tensor variables live in flat groups as `layout` says; host variables and host random streams are kept here. The
    constructor of a subclass takes the same arguments.

    Args:
        layout: where tensor variables live.
        variables: all variables by scoped name.
        seed: root seed.
    """

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        self.layout = layout
        self.variables = variables
        self.seed = seed
        #: Of all draws but the starting values.
        self.draw_seed: int | Sequence[int] = seed
        self.host: dict[str, np.ndarray] = {}
        self.streams = RandomStreams(seed)
        self._versions, self._version = count(1), [0]
        self._shared: Storage | None = None

    @property
    def version(self) -> int:
        """Changes whenever tensor variables were written, by whichever storage has them; borrowed copies compare it."""
        return self._version[0]

    def share(self, other: Storage) -> None:
        """Have all groups in common with another storage of the backend; before `initialize`."""
        self._shared, self._versions, self._version = other, other._versions, other._version
        for name in other.layout.groups:
            self.share_group(name, other)

    def draw_as(self, rank: int) -> None:
        """Draw other numbers than the other learners of a group, which has the same starting values; before any draw.

        The first one draws as a learner alone.
        """
        if rank:
            self.draw_seed = [self.seed, rank]
            self.streams = RandomStreams(self.draw_seed)

    def restart_streams(self, seed: int) -> None:
        """Begin all random streams anew, as those of a storage with another seed."""
        fresh = type(self)(self.layout, self.variables, seed)
        for name in self.read_tensor_streams():
            fresh.tensor_stream(name)
        self.write_tensor_streams(fresh.read_tensor_streams())
        self.draw_seed = seed
        self.streams.restart(seed)

    def initialize(self) -> None:
        """Give every variable its starting value, drawn from a stream of its own; shared ones keep theirs."""
        shared = () if self._shared is None else self._shared.layout.groups
        for name, group in self.layout.groups.items():
            if name in shared:
                continue
            flat = np.empty(group.size, group.dtype)
            for variable in group.variables:
                start = group.offsets[variable.name]
                flat[start : start + variable.size] = self._initial(variable).reshape(-1)
            self.create_group(name, flat)
        for variable in self.variables.values():
            if variable.host:
                self.host[variable.name] = self._initial(variable)

    def _initial(self, variable: Variable) -> np.ndarray:
        if variable.initializer is zeros:  # no copy: memories may be large, and stay empty for long
            try:
                return np.zeros(variable.shape, variable.spec.dtype)
            except (MemoryError, ValueError) as error:
                size = math.prod(map(int, variable.shape)) * np.dtype(variable.spec.dtype).itemsize
                raise BuildError(
                    f"variable {variable.name}: the system does not give {size / 1e9:,.0f} GB for {variable.spec.dtype}"
                    f"{list(variable.shape)}. Make it smaller, by the capacity of a memory or the dtype of its fields"
                ) from error
        rng = np.random.default_rng(stream_seed(self.seed, variable.starts_like or variable.name))
        try:
            value = variable.initializer(variable.shape, variable.spec.dtype, rng)
        except SpecError as error:
            raise SpecError(str(error), path=f"initializer of {variable.name}") from error
        if np.shape(value) != variable.shape:
            raise SpecError(
                f"expected values of shape {variable.shape}, given {np.shape(value)}",
                path=f"initializer of {variable.name}",
            )
        return np.array(value, variable.spec.dtype, order="C")

    def stream(self, scope: str) -> np.random.Generator:
        """The host random stream of the component at `scope`."""
        return self.streams[scope]

    # The streams of graph functions. A backend with its own random numbers overrides all three methods.

    def tensor_stream(self, name: str) -> Any:
        """The stream `name` from which graph functions draw (see `rlgraph.core.ops.stream_name`).

        Unless the backend has its own, it is a NumPy generator, kept with the host streams.
        """
        return self.stream(name)

    def read_tensor_streams(self) -> dict[str, np.ndarray]:
        """Copies of the states of the backend's own streams by name."""
        return {}

    def write_tensor_streams(self, states: Mapping[str, np.ndarray]) -> None:
        """Set the states of the backend's own streams, as `read_tensor_streams` gave them."""
        assert not states

    @abstractmethod
    def create_group(self, name: str, values: np.ndarray) -> None:
        """Make the buffer of a group, holding `values` [size]."""

    @abstractmethod
    def read_group(self, name: str) -> np.ndarray:
        """A copy of a group's buffer [size]."""

    def fetch_groups(self, names: Sequence[str]) -> Callable[[], dict[str, np.ndarray]]:
        """Begin to copy groups; the function that it returns waits for the copies, by name.

        They hold the values of now, whatever is written before that function is called. A backend on devices overrides
        this: between both calls, its programs may go on.
        """
        copies = {name: self.read_group(name) for name in names}
        return lambda: copies

    @abstractmethod
    def write_group(self, name: str, values: np.ndarray) -> None:
        """Replace the contents of a group's buffer."""

    def borrow_group(self, name: str) -> np.ndarray | None:
        """The group's own memory as a NumPy array; None if there is no such array."""
        return None

    def share_group(self, name: str, other: Any) -> None:
        """Use the buffer of a group of another storage of this class: what one writes, the other reads.

        Raises:
            CapabilityError: the backend cannot.
        """
        raise CapabilityError(
            f"{type(self).__name__} has no variables in common with other executors: share_group"
        )

    def follow_group(self, name: str) -> None:  # noqa: B027 - most have nothing to prepare
        """Told once before the group is read after every write; a backend may prepare for that."""

    def read(self, name: str) -> np.ndarray:
        """A copy of one variable's value."""
        variable = self.variables[name]
        if variable.host:
            return self.host[name].copy()
        group, start, stop = self.layout.place(variable)
        return self.read_group(group)[start:stop].reshape(variable.shape)

    def read_all(self) -> dict[str, np.ndarray]:
        """Copies of all tensor variables by scoped name."""
        values = {}
        for name, group in self.layout.groups.items():
            flat = self.read_group(name)
            for variable in group.variables:
                start = group.offsets[variable.name]
                values[variable.name] = flat[start : start + variable.size].reshape(variable.shape).copy()
        return dict(sorted(values.items()))

    def write_all(self, values: Mapping[str, np.ndarray]) -> None:
        """Write the named tensor variables; all others keep their values."""
        for name, group in self.layout.groups.items():
            named = [variable for variable in group.variables if variable.name in values]
            if not named:
                continue
            flat = self.read_group(name)
            for variable in named:
                start = group.offsets[variable.name]
                flat[start : start + variable.size] = np.asarray(values[variable.name]).reshape(-1)
            self.write_group(name, flat)
        self.mark_written()

    def mark_written(self) -> None:
        """Give `version` a new number. Threads may do so at the same time: no number comes twice."""
        self._version[0] = next(self._versions)
