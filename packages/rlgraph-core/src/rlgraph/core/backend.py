"""The backend contract: a backend stores variables and turns segments of plans into programs.

A third party implements `Backend` and `Storage`, describes them with a `BackendDescriptor` and registers the descriptor
under the entry-point group ``rlgraph.backends``, as the shipped backends do.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from rlgraph.core.errors import CapabilityError, PluginError, SpecError
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.extensions import Extensions
from rlgraph.core.graph.emission import Linker, Tape, Transform
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.variables import Block, Layout, Variable
from rlgraph.core.ops.contract import CONTRACT_VERSION
from rlgraph.core.registry import canonical, registry
from rlgraph.core.storage import Storage


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

    def receive(self, plan: Plan) -> Callable[[np.ndarray], Any] | None:
        """What makes the backend's own tensor of an array, for tensors that only segments use (`Plan.kept`).

        Segments then take and give such tensors. None: those of this plan take and give arrays only.
        """
        return None

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


#: Names of devices, which people give as a backend.
_DEVICE = re.compile(r"(cpu|cuda|gpu|mps|rocm|tpu|xpu)(:\d+)?", re.IGNORECASE)


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
            if canonical(name) in map(canonical, getattr(descriptor, "aliases", ())):
                return _checked(descriptor, other)
        if _DEVICE.fullmatch(name):
            raise SpecError(
                f"unknown backend {name!r}, which is a device: give it as execution_spec.device (on the command line: "
                f"--set execution_spec.device={name}), and a backend. Known: {', '.join(known.names())}",
                path="backend",
            )
    return _checked(known.load(name, where="backend"), name)


def _checked(descriptor: Any, name: str) -> BackendDescriptor:
    if not isinstance(descriptor, BackendDescriptor):
        plugin = registry("rlgraph.backends").plugin(name)
        raise PluginError(
            f"backend {name!r} of {plugin.origin}, {plugin.target}: expected a BackendDescriptor, given {descriptor!r}"
        )
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
    except AttributeError as error:
        raise PluginError(f"backend {descriptor.name!r} cannot be loaded from {place}: {error}") from error


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
