"""The backend contract: a backend stores variables and turns segments of plans into programs.

A third party implements `Backend` and `Storage`, describes them with a `BackendDescriptor` and registers the descriptor
under the entry-point group ``rlgraph.backends``, as the shipped backends do.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

import numpy as np

from rlgraph.core.errors import BuildError, CapabilityError, PluginError, SpecError
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.extensions import Extensions
from rlgraph.core.graph.emission import Linker, Tape, Transform
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.variables import Block, Layout, Variable, zeros
from rlgraph.core.ops.contract import CONTRACT_VERSION
from rlgraph.core.random_streams import RandomStreams, stream_seed
from rlgraph.core.registry import canonical, registry


@dataclass(frozen=True)
class BackendDescriptor:
    """What is known of a backend before its framework is imported.

    Attributes:
        name: its name.
        framework: the distribution of the framework it needs; empty for none.
        factory: ``module:callable`` that makes the `Backend` from an execution spec.
        contract_version: the version of the contract it was written for.
        capabilities: what it offers, e.g. ``gradients``.
        aliases: further names users may write.
        executor: ``module:class`` of its graph executor, if it has one of its own.
    """

    name: str
    framework: str
    factory: str
    contract_version: str
    capabilities: frozenset[str]
    aliases: tuple[str, ...] = ()
    executor: str = "rlgraph.core.executor:GraphExecutor"


class Storage(ABC):
    """The values of all variables of one built root on one backend.

    Tensor variables live in flat groups as `layout` says; host variables and host random streams are kept here.

    Args:
        layout: where tensor variables live.
        variables: all variables by scoped name.
        seed: root seed.
    """

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        self.layout = layout
        self.variables = variables
        self.seed = seed
        self.host: dict[str, np.ndarray] = {}
        self.streams = RandomStreams(seed)
        self._versions = count(1)
        #: Changes whenever tensor variables were written; borrowed copies compare it.
        self.version = 0

    def initialize(self) -> None:
        """Give every variable its starting value, drawn from a stream of its own."""
        for name, group in self.layout.groups.items():
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
        rng = np.random.default_rng(stream_seed(self.seed, variable.name))
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

    @abstractmethod
    def write_group(self, name: str, values: np.ndarray) -> None:
        """Replace the contents of a group's buffer."""

    def borrow_group(self, name: str) -> np.ndarray | None:
        """The group's own memory as a NumPy array; None if there is no such array."""
        return None

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
        self.version = next(self._versions)


class Backend(Extensions, ABC):
    """Stores variables and lowers segments; one instance per graph executor.

    Attributes:
        name: set by `create_backend` from the descriptor.
        capabilities: set by `create_backend` from the descriptor.
        execution: the execution spec it was made with. `threads` is for the framework: a backend sets the number of
            threads of its operations, refuses a number that it cannot have (`SpecError`), and leaves None alone.
        choices: what it decided by a rule or a measurement, by name: ``{"compile:update": "xla"}``. Choices that come
            with ``execution.choices`` are repeated.
        ops: the namespace that graph functions compute with: every operation of the contract
            (`rlgraph.core.ops.OPERATIONS`) on the framework's tensors, and ``shape(x)``.
        kernels: its native versions of graph functions, by the graph function's key.
    """

    name: str
    capabilities: frozenset[str]
    ops: Any
    kernels: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    #: What `linker` makes.
    linker_type: type[Linker] = Linker

    def __init__(self, execution: ExecutionSpec):
        self.execution = execution
        self.choices: dict[str, str] = dict(execution.choices)

    def linker(
        self,
        storage: Storage,
        handle: Callable[[Variable], Any],
        block: Callable[[Block], Any],
        gradients: Tape | Transform | None = None,
        **options: Any,
    ) -> Linker:
        """The linker of a segment of this backend.

        Args:
            storage: the variables; its streams are those that graph functions draw from.
            handle: gives what stands for a variable.
            block: gives what stands for a block of variables.
            gradients: how derivatives are taken.
            options: other attributes of `Linker`, in place of what the backend knows.
        """
        known = {"ops": self.ops, "kernels": self.kernels, "stream": storage.tensor_stream, **options}
        use_kernels = self.execution.use_kernels
        return self.linker_type(handle, block, gradients, backend=self.name, use_kernels=use_kernels, **known)

    def compiles(self, plan: Plan, segment: Segment) -> bool:
        """Whether to compile a segment: the user names its API method, or compiles whatever gains by it.

        A backend with a compiler asks this in `lower`, and may override it with what gains by compiling.
        """
        wanted = self.execution.compile
        return wanted if isinstance(wanted, bool) else plan.name in wanted

    @abstractmethod
    def create_storage(self, layout: Layout, variables: Mapping[str, Variable]) -> Storage:
        """An empty storage; the executor initializes it."""

    @abstractmethod
    def lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        """A function from the segment's inputs to its outputs, NumPy arrays on both sides.

        After a call the caller may write into the arrays that it passed in, and into those that it got: outputs can be
        written and share no memory with variables. A segment that only reads runs in several threads at a time.
        """

    def require(self, plan: Plan) -> None:
        """Check that the backend can run `plan`.

        Raises:
            CapabilityError: it lacks something.
        """
        if plan.needs_gradients and "gradients" not in self.capabilities:
            raise CapabilityError(
                f"API method {plan.name!r} needs gradients; the {self.name} backend is forward only. "
                "Build with a backend that has them, e.g. backend='torch', on the command line --backend torch "
                "(pip install rlgraph-torch)"
            )


def find_backend(name: str) -> BackendDescriptor:
    """The descriptor of a backend, by name or alias.

    Raises:
        SpecError: no such backend; names the nearest one or what to install.
        PluginError: it is broken or made for another contract version.
    """
    known = registry("rlgraph.backends")
    if name not in known:
        for other in known.names():
            try:
                descriptor = known.load(other)
            except PluginError:
                continue
            if canonical(name) in map(canonical, descriptor.aliases):
                return _checked(descriptor)
    return _checked(known.load(name, where="backend"))


def _checked(descriptor: BackendDescriptor) -> BackendDescriptor:
    if descriptor.contract_version != CONTRACT_VERSION:
        raise PluginError(
            f"backend {descriptor.name!r} implements version {descriptor.contract_version} of the backend contract, "
            f"this rlgraph-core has version {CONTRACT_VERSION}. Upgrade the package of the backend (pip install "
            f"--upgrade), or install an rlgraph-core that has version {descriptor.contract_version}"
        )
    return descriptor


def load_object(descriptor: BackendDescriptor, place: str) -> Any:
    """What ``module:name`` of a descriptor stands for.

    Raises:
        PluginError: its framework cannot be imported; says what to install.
    """
    module, _, attribute = place.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise PluginError(
            f"backend {descriptor.name!r} cannot be loaded: {error}. "
            f"pip install {descriptor.framework or descriptor.name}"
        ) from error


def create_backend(name: str, execution: ExecutionSpec) -> Backend:
    """A backend by name.

    Raises:
        PluginError: its framework cannot be imported; says what to install.
    """
    descriptor = find_backend(name)
    factory = load_object(descriptor, descriptor.factory)
    backend: Backend = factory(execution)
    backend.name = descriptor.name
    backend.capabilities = descriptor.capabilities
    return backend
