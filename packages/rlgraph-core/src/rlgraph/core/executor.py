"""The graph executor: builds a root component on a backend and runs its API methods."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core.backend import Backend, ExecutionSpec, Storage, create_backend
from rlgraph.core.checkpoint import read_checkpoint, write_checkpoint
from rlgraph.core.component import BoundApiMethod, Component
from rlgraph.core.config import default_backend
from rlgraph.core.errors import CheckpointError, InputError, RLGraphError, nearest
from rlgraph.core.graph import BuiltGraph, Plan, Segment, assemble, build, make_plan, require_kernels
from rlgraph.core.graph.binding import bind
from rlgraph.core.graph.emission import emit_driver
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.variables import Variable
from rlgraph.core.numpy.backend import BorrowedStorage, NumpyBackend
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.spaces import Space, from_spec


class GraphExecutor:
    """Builds a root component once and executes its API methods; NumPy in, NumPy out.

    Args:
        root: an unbuilt component.
        input_spaces: argument name -> Space of the root's API methods (see `rlgraph.core.graph.build`).
        action_space: handed to the components' build hooks.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: `ExecutionSpec` or a mapping of its fields.

    Raises:
        AssemblyError, BuildError: the component cannot be assembled or built.
        SpecError, PluginError: the backend or the execution spec is wrong.
    """

    def __init__(
        self,
        root: Component,
        input_spaces: Mapping[str, Any],
        *,
        action_space: Space | None = None,
        backend: str | None = None,
        execution_spec: ExecutionSpec | Mapping[str, Any] | None = None,
    ):
        self.execution = ExecutionSpec.from_spec(execution_spec)
        self.backend: Backend = create_backend(backend or default_backend(), self.execution)
        started = time.perf_counter()
        graph = assemble(root, input_spaces)
        assembled = time.perf_counter()
        self.root = root
        self.built: BuiltGraph = build(
            graph,
            input_spaces,
            action_space=None if action_space is None else from_spec(action_space),
            float_dtype=self.execution.dtype,
        )
        require_kernels(self.built, self.backend.name)
        self.storage: Storage = self.backend.create_storage(self.built.layout, self.built.variables)
        self.storage.initialize()
        self._plans: dict[str, Plan] = {}
        self._programs: dict[str, Callable[..., Any]] = {}
        self._lock = threading.RLock()
        self.statistics: dict[str, float | int] = {
            "assembly_seconds": assembled - started,
            **self.built.statistics,
            "total_seconds": time.perf_counter() - started,
        }

    # Running.

    def execute(self, method: str | BoundApiMethod, *args: Any, **kwargs: Any) -> Any:
        """Run an API method.

        Args:
            method: its name, or ``root.method``.
            args, kwargs: its arguments; arrays, numbers, or containers of them, as their Spaces say.

        Raises:
            InputError: an argument does not fit its Space.
            CapabilityError: the backend cannot run this method.
        """
        name = method if isinstance(method, str) else method.name
        return self.program(name)(*args, **kwargs)

    def program(self, method: str) -> Callable[..., Any]:
        """The function that runs an API method; for callers that cannot spare the look-up in `execute`."""
        program = self._programs.get(method)
        if program is None:
            with self._lock:
                plan = self.plan(method)
                self.backend.require(plan)
                program = self._programs[method] = self._link(plan, self.backend, self.storage)
        return program

    def numpy_program(self, method: str) -> Callable[..., Any]:
        """An API method on the NumPy backend over this executor's variables: the fast actor for small networks.

        The variables are the backend's own memory where it can be borrowed, else copies that are refreshed after
        every write.

        Raises:
            CapabilityError: the method needs gradients.
        """
        plan = self.plan(method)
        numpy_backend = NumpyBackend(self.execution)
        numpy_backend.require(plan)
        if plan.writes:
            raise RLGraphError(f"{method!r} writes variables: only read-only methods run on borrowed memory")
        read = frozenset[str]().union(*(self.built.effects[node.id].reads for node in plan.nodes))
        storage = BorrowedStorage(self.storage, {self.built.layout.group_of[name] for name in read})
        program = self._link(plan, numpy_backend, storage)
        if not storage.copied:
            return program

        def refreshed(*args: Any, **kwargs: Any) -> Any:
            storage.refresh()
            return program(*args, **kwargs)

        return refreshed

    def _link(self, plan: Plan, backend: Backend, storage: Storage) -> Callable[..., Any]:
        lowered = {
            step.name: backend.lower(plan, step, storage) for step in plan.steps if isinstance(step, Segment)
        }
        program = emit_driver(plan, lowered, self._host_view, converter).compile()
        if not plan.writes and not plan.host_components:
            return program
        lock, writes = self._lock, bool(plan.writes)

        def locked(*args: Any, **kwargs: Any) -> Any:
            with lock:
                try:
                    return program(*args, **kwargs)
                finally:
                    # Also after an error: it may have come behind the first write.
                    storage.version += writes

        locked.__source__ = program.__source__  # type: ignore[attr-defined]
        return locked

    def _host_view(self, scope: str) -> Any:
        component = self.built.graph.components[scope]
        return bind(
            component,
            lambda variable: self.storage.host[variable.name] if variable.host else variable,
            lambda slots: slots,
            rng=self.storage.stream(scope),
        )

    # Looking.

    @property
    def methods(self) -> list[str]:
        """Names of the API methods."""
        return sorted(self.built.graph.methods)

    def plan(self, method: str) -> Plan:
        """The plan of an API method.

        Raises:
            RLGraphError: there is no such method; names the nearest.
        """
        if method not in self.built.graph.methods:
            raise RLGraphError(
                f"{self.built.graph.root} has no API method {method!r}. {nearest(method, self.built.graph.methods)}"
            )
        if method not in self._plans:
            self._plans[method] = make_plan(self.built, method)
        return self._plans[method]

    # Variables.

    def get_weights(self, *, trainable_only: bool = False) -> dict[str, np.ndarray]:
        """Copies of the tensor variables by scoped name."""
        values = self.storage.read_all()
        if trainable_only:
            return {name: value for name, value in values.items() if self.built.variables[name].trainable}
        return values

    def set_weights(self, values: Mapping[str, Any]) -> None:
        """Write the named variables; others keep their values. Nothing is written if anything does not fit.

        Raises:
            InputError: an unknown name, a wrong shape, or values of another kind.
        """
        arrays = {}
        for name, value in values.items():
            variable = self.built.variables.get(name)
            if variable is None or variable.host:
                raise InputError(
                    f"there is no variable {name!r}. {nearest(name, self.built.layout.group_of)}"
                )
            array = np.asarray(value)
            if array.shape != variable.shape:
                raise InputError(f"variable {name!r}: expected shape {variable.shape}, given {array.shape}")
            if not np.can_cast(array.dtype, variable.spec.dtype, "same_kind"):
                raise InputError(f"variable {name!r}: expected {variable.spec.dtype}, given {array.dtype}")
            arrays[name] = array
        with self._lock:
            self.storage.write_all(arrays)

    # Checkpoints.

    def save(
        self, directory: str | Path, *, facts: Mapping[str, Any] | None = None, host: bool = True
    ) -> Path:
        """Write a checkpoint: variables, host random streams and `facts`.

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            facts: JSON-able things to keep beside them.
            host: host variables (memories) as well; they can be large.

        Raises:
            CheckpointError: it cannot be written.
        """
        with self._lock:
            arrays = {"variables": self.storage.read_all()}
            if host:
                arrays["host"] = dict(self.storage.host)
            streams = {scope: rng.bit_generator.state for scope, rng in self.storage.streams.items()}
            content = {"dtype": self.execution.dtype, "streams": streams, "facts": dict(facts or {})}
            return write_checkpoint(directory, arrays, content)

    def load(self, directory: str | Path, *, required_facts: Iterable[str] = ()) -> dict[str, Any]:
        """Restore a checkpoint and return its facts. Nothing changes if anything does not fit.

        Random streams and host variables are restored where the checkpoint has them.

        Args:
            directory: the checkpoint.
            required_facts: names that must be among its facts.

        Raises:
            CheckpointError: it is missing, damaged, of another component graph, or lacks a fact.
        """
        arrays, manifest = read_checkpoint(directory)
        lacking = sorted(set(required_facts) - set(manifest["facts"]))
        if lacking:
            raise CheckpointError(f"checkpoint {directory} lacks the facts {', '.join(lacking)}")
        wanted = {name: v for name, v in self.built.variables.items() if not v.host}
        _compare(directory, wanted, arrays.get("variables", {}))
        if "host" in arrays:
            _compare(directory, {n: v for n, v in self.built.variables.items() if v.host}, arrays["host"])
        with self._lock:
            self.storage.write_all(arrays["variables"])
            for name, value in arrays.get("host", {}).items():
                self.storage.host[name][...] = value
            for scope, state in manifest["streams"].items():
                self.storage.stream(scope).bit_generator.state = state
        return dict(manifest["facts"])


def _compare(
    directory: str | Path, variables: Mapping[str, Variable], arrays: Mapping[str, np.ndarray]
) -> None:
    """Check that `arrays` are the values of exactly these variables."""
    missing, extra = sorted(set(variables) - set(arrays)), sorted(set(arrays) - set(variables))
    if missing or extra:
        raise CheckpointError(
            f"checkpoint {directory} belongs to another component graph: "
            f"missing {missing or 'nothing'}, not expected {extra or 'nothing'}"
        )
    for name, variable in variables.items():
        if arrays[name].shape != variable.shape:
            raise CheckpointError(
                f"checkpoint {directory}: variable {name!r} has shape {arrays[name].shape}, expected {variable.shape}"
            )


def converter(method: str, leaf: Leaf, spec: TensorSpec) -> Callable[[Any], np.ndarray]:
    """The careful conversion of one input, run only when it is not an array of the right dtype and shape already."""
    name = ".".join([getattr(leaf.source, "name", "input"), *map(str, leaf.path)])
    dtype = np.dtype(spec.dtype)

    def convert(value: Any) -> np.ndarray:
        try:
            array = np.asarray(value)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{method}: argument {name}: expected {spec}, given {value!r}: {error}"
            ) from None
        given = f"{array.dtype}{list(array.shape)}"
        fits = len(array.shape) == len(spec.shape) and all(
            isinstance(want, SymbolicDim) or want == have
            for want, have in zip(spec.shape, array.shape, strict=True)
        )
        if not fits:
            hint = (
                " (one batch rank more than given: pass value[None])"
                if array.ndim == len(spec.shape) - 1
                else ""
            )
            raise InputError(f"{method}: argument {name}: expected {spec}, given {given}{hint}")
        if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
            raise InputError(f"{method}: argument {name}: expected {spec}, given {given}; convert it first")
        return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)

    return convert
